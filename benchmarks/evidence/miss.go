package evidence

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Miss is a reference that a context did not hold, with what one needs to see why.
type Miss struct {
	Session string `json:"session"`
	File    string `json:"file,omitempty"`
	Policy  string `json:"policy"`
	Call    int    `json:"call"` // that takes it, counted from 0
	Reference
	Thought string `json:"thought,omitempty"` // before the call, its end
	Action  string `json:"action"`            // around the reference
	Newest  Holder `json:"newest_holder"`
	Holders int    `json:"holders"` // observations that have it
}

// Holder is an observation that a missing reference is in.
type Holder struct {
	Call   int         `json:"call"`
	Step   int         `json:"step"`  // its turn, counted from 0
	Line   int         `json:"line"`  // in the observation, from 1
	Lines  int         `json:"lines"` // that the observation has
	Age    int         `json:"age"`   // calls between it and the one that takes from it, that one included
	Action string      `json:"action"`
	Fate   engine.Fate `json:"fate,omitempty"` // "" where another program wrote the context
	Why    string      `json:"why,omitempty"`
	// In are the stretches of it that were paged in, and do not have the reference.
	In []engine.Part `json:"paged_in,omitempty"`
}

// quoted bounds a text in a Miss, in bytes.
const quoted = 400

// Misses explains what a request after WarmUp misses, for a context as it was woven; w is nil for that of another
// program.
func (j *Judge) Misses(r Request, w *engine.Window) []Miss {
	var out []Miss
	if r.Call < WarmUp {
		return nil
	}
	for _, ref := range r.Missing {
		i := slices.IndexFunc(j.demands[r.Call], func(d demand) bool { return d.Reference == ref })
		holders := j.demands[r.Call][i].holders
		taker := j.run[r.Call]
		m := Miss{Call: r.Call, Reference: ref, Action: around(unescape(taker.action), ref.Text), Holders: len(holders)}
		m.Thought = taker.thought[within(taker.thought, len(taker.thought)-quoted):]
		m.Newest = j.holder(holders[len(holders)-1], r.Call, ref.Text, w)
		out = append(out, m)
	}
	return out
}

func (j *Judge) holder(call, taker int, text string, w *engine.Window) Holder {
	d := j.run[call]
	before := d.observation[:max(0, strings.Index(d.observation, text))]
	h := Holder{Call: call, Step: d.place.step, Age: taker - call, Action: around(unescape(d.action), ""),
		Line: 1 + strings.Count(before, "\n"), Lines: 1 + strings.Count(strings.TrimSuffix(d.observation, "\n"), "\n")}
	if w == nil {
		return h
	}
	for _, item := range w.Items {
		if item.Seq == d.place.step && item.Call == d.place.call {
			h.Fate, h.Why, h.In = item.Fate, item.Reason, item.In
		}
	}
	return h
}

// around cuts a text to what is near the place where it has another.
func around(text, what string) string {
	at := max(0, strings.Index(text, what))
	return text[within(text, at-quoted/4):within(text, at+len(what)+quoted*3/4)]
}

// within moves an index to the beginning of a character of the text.
func within(text string, at int) int {
	at = min(max(0, at), len(text))
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// Miss keeps what a context missed.
func (r *Result) Miss(misses []Miss, s Session) {
	for _, m := range misses {
		m.Session, m.File, m.Policy = s.Name, s.File, r.Policy
		r.Misses = append(r.Misses, m)
	}
}

// WriteMisses writes what results missed, a line of JSON each, in their order. Options.Misses has Run keep them.
func WriteMisses(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, r := range results {
		for _, m := range r.Misses {
			if err := e.Encode(m); err != nil {
				return err
			}
		}
	}
	return nil
}
