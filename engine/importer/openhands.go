package importer

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// openHandsFormat is OpenHands' output.jsonl: a trajectory a line, its events in "history". The
// resolver's events have no ids; the oldest files have pairs of action and observation.
var openHandsFormat = format{
	name: "openhands-output",
	detect: func(_ string, head []byte) float64 {
		line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
		first := gjson.GetBytes(line, "history.0")
		if first.Get("action").Exists() || first.Get("observation").Exists() || first.Get("0.action").Exists() {
			return 0.95
		}
		return 0
	},
	parse: parseOpenHands,
}

func parseOpenHands(data []byte) ([]*Trajectory, error) {
	rows, broken, err := jsonRows(data)
	if err != nil {
		return nil, err
	}
	var out []*Trajectory
	for _, r := range rows {
		e := newEvents()
		e.t.Name = plain(r.Get("instance_id"))
		if issue := r.Get("issue"); e.t.Name == "" && issue.IsObject() {
			e.t.Name = fmt.Sprintf("%s/%s#%s", plain(issue.Get("owner")), plain(issue.Get("repo")), plain(issue.Get("number")))
			e.t.Title = plain(issue.Get("title"))
		}
		e.t.Model = plain(r.Get("metadata.llm_config.model"))
		history := r.Get("history").Array()
		if !saysTask(history) {
			e.message(graphstore.Message{Role: graphstore.User, Text: plain(r.Get("instruction"))})
		}
		for _, event := range history {
			for _, one := range pair(event) {
				e.add(one)
			}
		}
		out = append(out, e.done())
	}
	if len(out) > 0 {
		out[0].Notes.Broken = append(out[0].Notes.Broken, broken...)
	}
	return out, nil
}

// pair is the events of an element of a history, which is one event or a list of two.
func pair(event gjson.Result) []gjson.Result {
	if event.IsArray() {
		return event.Array()
	}
	return []gjson.Result{event}
}

// saysTask reports whether a message comes before the first action, so that the instruction need
// not be said again.
func saysTask(history []gjson.Result) bool {
	for _, h := range history {
		for _, e := range pair(h) {
			switch a := e.Get("action").Str; {
			case a == "message":
				return true
			case a != "system" && !skipped(a):
				return false
			}
		}
	}
	return false
}

// openHandsV0Format is the trajectory that OpenHands' interface saves: a list of events, or an object with
// one.
var openHandsV0Format = format{
	name: "openhands-v0-trajectory",
	detect: func(_ string, head []byte) float64 {
		for _, path := range []string{"0", "trajectory.0", "events.0", "history.0"} {
			e := gjson.GetBytes(head, path)
			if e.Get("source").Exists() && (e.Get("action").Exists() || e.Get("observation").Exists()) {
				return 0.94 // a line with a history is openhands-output
			}
		}
		return 0
	},
	parse: func(data []byte) ([]*Trajectory, error) {
		d, err := document(data)
		if err != nil {
			return nil, err
		}
		list := d
		for _, field := range []string{"trajectory", "history", "events"} {
			if d.Get(field).IsArray() {
				list = d.Get(field)
				break
			}
		}
		e := newEvents()
		for _, event := range list.Array() {
			e.add(event)
		}
		return []*Trajectory{e.done()}, nil
	},
}

// events reads OpenHands' events of version 0. Actions and observations find each other by the
// event ids; several actions of one answer of the model are one turn.
type events struct {
	*thread
	response string // id of the model's answer that the turn is, if known
	acted    bool
}

func newEvents() *events {
	b := newThread()
	b.t.Agent = "OpenHands"
	return &events{thread: b}
}

func (e *events) add(v gjson.Result) {
	switch {
	case v.Get("observation").Exists():
		e.observation(v)
	case v.Get("action").Exists():
		e.action(v)
	}
}

// skipped are the actions by which the harness talks to itself.
func skipped(action string) bool {
	switch action {
	case "", "null", "recall", "change_agent_state", "loop_recovery", "condensation_request", "pause", "resume":
		return true
	}
	return false
}

func (e *events) action(v gjson.Result) {
	args := v.Get("args")
	if !args.IsObject() { // the resolver's events are flat
		args = v
	}
	said := plain(args.Get("content"))
	switch a := v.Get("action").Str; {
	case skipped(a):
	case a == "system":
		e.message(graphstore.Message{Role: graphstore.System, Text: said})
	case a == "condensation":
		text := plain(args.Get("summary"))
		if text == "" { // forgotten without a summary
			text = plain(args)
		}
		e.message(graphstore.Message{Role: graphstore.System, Text: text, Compaction: true})
	case a == "message" && v.Get("source").Str != "agent" && (v.Get("source").Exists() || !e.acted):
		images := len(args.Get("image_urls").Array()) + len(args.Get("images_urls").Array())
		e.message(graphstore.Message{Role: graphstore.User, Text: said, Images: images})
	case a == "message":
		e.begin(v)
		s := e.step()
		s.Thought = joinText(s.Thought, said)
	case a == "finish":
		e.begin(v)
		s := e.step()
		s.Thought = joinText(s.Thought, plain(args.Get("thought")), plain(args.Get("final_thought")), plain(args.Get("outputs.content")))
	default:
		e.begin(v)
		s := e.step()
		thought := plain(args.Get("thought"))
		if thought == "" {
			thought = plain(v.Get("thought"))
		}
		if !strings.Contains(s.Thought, thought) {
			s.Thought = joinText(s.Thought, thought)
		}
		e.call(plain(v.Get("id")), a, openHandsArgs(args))
	}
}

// begin begins a turn unless the event is of the same answer as the one before it.
func (e *events) begin(v gjson.Result) {
	answer := v.Get("tool_call_metadata.model_response")
	id := plain(answer.Get("id"))
	if e.open && id != "" && id == e.response {
		return
	}
	s := e.turn()
	s.Time = stamp(v.Get("timestamp"))
	s.Model = plain(answer.Get("model"))
	s.Thinking = hidden(answer.Get("choices.0.message"))
	e.response, e.acted = id, true
}

// openHandsArgs are an action's arguments without what the step says elsewhere or the runtime
// added.
func openHandsArgs(args gjson.Result) string {
	var b bytes.Buffer
	args.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "thought", "kernel_init_code", "action":
			return true
		}
		b.WriteByte(',')
		b.WriteString(k.Raw + ":" + v.Raw)
		return true
	})
	if b.Len() == 0 {
		return "{}"
	}
	return compact("{" + b.String()[1:] + "}")
}

func (e *events) observation(v gjson.Result) {
	o := observed(v.Get("content"))
	if o.Images += len(v.Get("extras.image_urls").Array()); plain(v.Get("extras.screenshot")) != "" {
		o.Images++
	}
	kind := v.Get("observation").Str
	switch kind {
	case "recall", "agent_state_changed", "null", "condense", "":
		e.message(graphstore.Message{Role: graphstore.System, Text: o.Text, Images: o.Images})
		return
	}
	o.Failed = kind == "error" || v.Get("success").Type == gjson.False || v.Get("extras.success").Type == gjson.False
	for _, path := range []string{"extras.metadata.exit_code", "extras.exit_code", "exit_code"} {
		if code := exitCode(v.Get(path)); code != nil {
			if *code >= 0 { // -1: still running
				o.ExitCode = code
			}
			break
		}
	}
	id := plain(v.Get("cause"))
	if _, ok := e.byID[id]; !ok && id == "" {
		e.answerNext(o)
		return
	}
	e.result(id, o)
}
