package importer

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// copilotFormat is a session of Copilot CLI: ~/.copilot/session-state/SESSION/events.jsonl.
var copilotFormat = format{
	name: "copilot-cli-events",
	detect: func(_ string, head []byte) float64 {
		for _, r := range records(head, 20) {
			if kind := r.Get("type").Str; r.Get("data").IsObject() && (kind == "session.start" || kind == "user.message" ||
				strings.HasPrefix(kind, "assistant.") || strings.HasPrefix(kind, "tool.execution_")) {
				return 0.95
			}
		}
		return 0
	},
	parse: parseCopilot,
}

// copilotSession is a session with its sub-agents, by the call that started each.
type copilotSession struct {
	main   *thread
	agents []*thread
	byCall map[string]*thread
	system string // the prompt said last; it is written again at each turn
}

func parseCopilot(data []byte) ([]*Trajectory, error) {
	s := copilotSession{main: newThread(), byCall: map[string]*thread{}}
	for _, r := range lines(data, s.main.broken) {
		s.add(r)
	}
	ts := []*Trajectory{s.main.done()}
	name := cmp.Or(s.main.t.Name, ":")
	s.main.t.Name = name
	for _, b := range s.agents {
		b.t.Name = strings.TrimSuffix(name, ":") + b.t.Name
		b.t.Parent = name
		b.t.Dir = s.main.t.Dir
		ts = append(ts, b.done())
	}
	for _, t := range ts {
		t.Agent = "copilot-cli"
	}
	return ts, nil
}

// thread is the one that an event is of.
func (s *copilotSession) thread(d gjson.Result) *thread {
	id := d.Get("parentToolCallId").Str
	if id == "" {
		return s.main
	}
	b := s.byCall[id]
	if b == nil {
		b = newThread()
		b.t.Name = ":agent-" + id
		s.byCall[id] = b
		s.agents = append(s.agents, b)
	}
	return b
}

func (s *copilotSession) add(r gjson.Result) {
	d, at := r.Get("data"), stamp(r.Get("timestamp"))
	b := s.thread(d)
	if b.t.Start.IsZero() {
		b.t.Start = at
	}
	switch r.Get("type").Str {
	case "session.start":
		b.t.Name = cmp.Or(b.t.Name, d.Get("sessionId").Str)
		b.t.Dir = cmp.Or(b.t.Dir, d.Get("context.cwd").Str)
		b.t.Model = cmp.Or(b.t.Model, d.Get("selectedModel").Str)
	case "session.model_change":
		b.t.Model = cmp.Or(b.t.Model, d.Get("newModel").Str)
	case "session.compaction_complete":
		if summary := d.Get("summaryContent"); summary.Exists() {
			m := said(graphstore.User, summary)
			m.Compaction = true
			b.message(m)
		}
	case "system.message":
		m := said(graphstore.System, d.Get("content"))
		if m.Text != s.system {
			s.system = m.Text
			b.message(m)
		}
	case "system.notification":
		b.message(said(graphstore.System, d.Get("content")))
	case "user.message":
		b.message(said(graphstore.User, d.Get("content")))
	case "assistant.message":
		t := b.turn()
		t.Thinking, t.Thought = d.Get("reasoningText").String(), plain(d.Get("content"))
		t.Model, t.Time = cmp.Or(d.Get("model").Str, b.t.Model), at
		b.t.Model = cmp.Or(b.t.Model, t.Model)
		for _, k := range d.Get("toolRequests").Array() {
			b.call(k.Get("toolCallId").Str, k.Get("name").Str, plain(k.Get("arguments")))
		}
	case "tool.execution_complete":
		b.answer(d.Get("toolCallId").Str, copilotResult(d))
	}
}

func copilotResult(d gjson.Result) graphstore.Observation {
	o := graphstore.Observation{Failed: d.Get("success").Type == gjson.False}
	if result := d.Get("result"); result.IsObject() {
		c := readContent(result.Get("content"))
		o.Text, o.Images = c.text, c.images
	} else {
		o.Text = plain(result)
	}
	if o.Text == "" && o.Failed {
		o.Text = cmp.Or(plain(d.Get("error.message")), plain(d.Get("error")))
	}
	o.ExitCode = exitCodeIn(o.Text, exitShell)
	return o
}
