package evidence

import (
	"slices"
	"strings"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Request is what one context was worth and what it cost.
type Request struct {
	Call     int `json:"call"`     // counted from 0
	Prompt   int `json:"prompt"`   // tokens
	Uncached int `json:"uncached"` // of those, outside the prefix in common with the request before
	// Of the call's references, how many there are and how many the context holds; Lines count those that
	// are whole lines. They are 0 during WarmUp.
	References int `json:"references"`
	Held       int `json:"held"`
	Lines      int `json:"lines"`
	LinesHeld  int `json:"lines_held"`
	// Rereads estimates how many old observations the agent would have had to get again.
	Rereads int `json:"rereads"`
	// Of the observations: how many are whole, how many were whole in the request before and no longer are, and
	// of how many something came back, in their place or at the tail, and from how many of those at the tail the call
	// takes something. They are 0 where another program wrote the context, as are Tokens.
	Shown    int `json:"shown"`
	PagedOut int `json:"paged_out"`
	PagedIn  int `json:"paged_in"`
	Used     int `json:"used,omitempty"`
	// Tokens are the prompt's by the engine's count, which a budget bounds. Over tells that they are more than the
	// budget, Unfit that what must stay alone is: the messages, thoughts and actions, the newest 3 observations, and a
	// mark for each other one.
	Tokens int  `json:"tokens,omitempty"`
	Over   bool `json:"over,omitempty"`
	Unfit  bool `json:"unfit,omitempty"`
	// Missing are the references that the context does not hold, also during WarmUp.
	Missing []Reference `json:"-"`
}

// Trial follows one policy through a run. Its requests are to be added in their order.
type Trial struct {
	judge    *Judge
	prompts  []engine.Prompt
	previous []*message
	again    map[int]bool // calls whose observations were got again, by estimate
	shown    map[engine.Handle]sight
}

// sight is how much of an observation a context has: all of it in its place, or parts, the newest of them behind a
// step.
type sight struct {
	whole  bool
	newest int
}

// Trial begins to judge a policy.
func (j *Judge) Trial() *Trial { return &Trial{judge: j, again: map[int]bool{}} }

// Add judges the context before a call.
func (t *Trial) Add(call int, context []engine.Prompt) Request {
	messages := make([]*message, len(context))
	for i, p := range context {
		if i < len(t.prompts) && p.Equal(t.prompts[i]) {
			messages[i] = t.previous[i]
		} else {
			messages[i] = t.judge.message(p)
		}
	}
	t.prompts = context
	return t.add(call, messages)
}

// AddWindow is Add, and counts what was paged out and in.
func (t *Trial) AddWindow(call int, w *engine.Window) Request {
	r := t.Add(call, w.Messages)
	r.Tokens = w.Tokens
	now := make(map[engine.Handle]sight, len(w.Items))
	for _, item := range w.Items {
		if item.Call < 0 || item.Fate == engine.Waiting {
			continue
		}
		s := sight{whole: item.Fate == engine.Whole}
		for _, p := range item.In {
			s.newest = max(s.newest, p.Seq)
		}
		before, old := t.shown[item.Handle]
		now[item.Handle] = s
		r.Shown += boolean(s.whole)
		r.PagedOut += boolean(old && before.whole && !s.whole)
		r.PagedIn += boolean(old && !before.whole && (s.whole || s.newest > before.newest))
		r.Used += boolean(!s.whole && t.judge.takes(call, item))
	}
	t.shown = now
	return r
}

// takes reports whether a counted call takes something from what is paged in of an observation.
func (j *Judge) takes(call int, item engine.Item) bool {
	from, ok := j.at[place{item.Seq, item.Call}]
	if !ok || call < WarmUp || call >= j.Calls() {
		return false
	}
	for _, p := range item.In {
		text := stretch(j.run[from].observation, p.FromLine, p.ToLine)
		for _, d := range j.demands[call] {
			if strings.Contains(text, d.Text) {
				return true
			}
		}
	}
	return false
}

// stretch is a text's lines from one to another, counted from 1.
func stretch(text string, from, to int) string {
	begin, end, line := len(text), len(text), 1
	for at := 0; at <= len(text); line++ {
		if line == from {
			begin = at
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		if at += next + 1; line == to {
			end = at
			break
		}
	}
	return text[min(begin, end):end]
}

func (t *Trial) add(call int, messages []*message) Request {
	r := Request{Call: call}
	r.Prompt, r.Uncached = t.cost(messages)
	t.previous = messages
	if call >= t.judge.Calls() {
		return r
	}
	for _, d := range t.judge.demands[call] {
		held := holds(messages, d)
		if !held {
			r.Missing = append(r.Missing, d.Reference)
		}
		if call < WarmUp {
			continue
		}
		r.References++
		r.Held += boolean(held)
		r.Lines += boolean(d.Line)
		r.LinesHeld += boolean(d.Line && held)
		if !held && t.rereads(d) {
			r.Rereads++
		}
	}
	return r
}

// cost counts a context's tokens and those outside the common prefix with the context before.
func (t *Trial) cost(messages []*message) (prompt, uncached int) {
	size, shared := 0, 0
	for _, m := range messages {
		size += m.size
	}
	for i := range min(len(messages), len(t.previous)) {
		a, b := t.previous[i], messages[i]
		if a != b {
			shared += common(a.text, b.text)
			break
		}
		shared += b.size
	}
	prompt = size / charsPerToken
	return prompt, prompt - min(prompt, shared/charsPerToken)
}

func holds(messages []*message, d demand) bool {
	for _, m := range slices.Backward(messages) { // what is newest is what is most often taken from
		if m.has(d) {
			return true
		}
	}
	return false
}

// rereads reports whether a missing reference sends the agent back to its newest holder. Once it went
// there, it has seen it. What JSON escapes differently in an action than in an observation is missing from
// every context, and sends it nowhere.
func (t *Trial) rereads(d demand) bool {
	newest := d.holders[len(d.holders)-1]
	for _, h := range d.holders {
		if t.again[h] {
			return false
		}
	}
	if !t.judge.answer(newest).has(d) {
		return false
	}
	t.again[newest] = true
	return true
}
