package importer

import (
	"regexp"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// atifViewerFormat is ATIF as a viewer keeps it: all results of a turn are one observation. Its
// verifierLog is the grader's, which the agent never saw.
var atifViewerFormat = format{
	name: "atif-viewer",
	detect: func(_ string, head []byte) float64 {
		first := gjson.GetBytes(head, "steps.0")
		if first.Get("index").Exists() && first.Get("role").Exists() && first.Get("toolCalls").Exists() {
			return 0.95
		}
		return 0
	},
	parse: parseATIFViewer,
}

func parseATIFViewer(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	d.Get("steps").ForEach(func(_, s gjson.Result) bool {
		words := readContent(s.Get("text"))
		switch s.Get("role").Str {
		case "agent":
			viewerTurn(b, s, words.text)
		case "user":
			b.message(graphstore.Message{Role: graphstore.User, Text: words.text, Images: words.images})
		default:
			text := joinText(words.text, plain(s.Get("observation")))
			b.message(graphstore.Message{Role: graphstore.System, Text: text, Images: words.images})
		}
		return true
	})
	return []*Trajectory{b.done()}, nil
}

var (
	executed = regexp.MustCompile(`^Executed (\S+) (\S+)$`)
	cutShort = regexp.MustCompile(`…?\[truncated, \d+ more chars\]\s*$`)
)

// viewerTurn reads a step of the agent. Some writers give thought and calls a step each; "Executed
// name id" then stands for what the model said.
func viewerTurn(b *thread, s gjson.Result, text string) {
	calls, observation := s.Get("toolCalls").Array(), s.Get("observation")
	answered := observation.Exists() && observation.Type != gjson.Null
	thinking := plain(s.Get("reasoning"))
	if len(calls) == 0 && !answered && text == "" && thinking == "" {
		return
	}
	id := ""
	if m := executed.FindStringSubmatch(text); m != nil && len(calls) == 1 && m[1] == calls[0].Get("name").Str {
		text, id = "", m[2]
		b.gather()
	} else {
		b.turn()
	}
	step := b.step()
	step.Thinking, step.Thought = joinText(step.Thinking, thinking), joinText(step.Thought, text)
	if t := stamp(s.Get("timestamp")); !t.IsZero() {
		step.Time = t
	}
	for _, c := range calls {
		b.call(id, plain(c.Get("name")), plain(c.Get("args")))
	}
	if !answered {
		return
	}
	if len(calls) == 0 {
		b.call("", "", "")
	}
	step = b.step()
	for i := range len(step.Calls) - 1 {
		step.Calls[i].Joined = true
	}
	o := observed(observation)
	if !observation.IsArray() {
		o.Text = plain(observation)
	}
	if cutShort.MatchString(o.Text[max(0, len(o.Text)-200):]) {
		b.t.Notes.Truncated++
	}
	b.result("", o)
}

// gather makes one turn of the steps at the end that have only thoughts, and leaves it open for the
// calls that they led to.
func (b *thread) gather() {
	silent := func(s graphstore.Step) bool { return len(s.Calls) == 0 }
	n := len(b.t.Steps)
	if n == 0 || !silent(b.t.Steps[n-1]) || len(b.before) > 0 {
		b.turn()
		return
	}
	for ; n >= 2 && silent(b.t.Steps[n-2]) && len(b.t.Steps[n-1].Before) == 0; n-- {
		to, from := &b.t.Steps[n-2], b.t.Steps[n-1]
		to.Thinking, to.Thought = joinText(to.Thinking, from.Thinking), joinText(to.Thought, from.Thought)
		b.t.Steps = b.t.Steps[:n-1]
	}
	b.open = true
}
