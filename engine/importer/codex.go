package importer

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// codexFormat is a session of Codex, ~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl. In old files the
// items of the conversation are the lines; later ones wrap them as {type, payload}.
var codexFormat = format{
	name: "codex-rollout",
	detect: func(_ string, head []byte) float64 {
		score := 0.0
		for _, r := range records(head, 20) {
			switch kind := r.Get("type").Str; {
			case has(r, "payload") && (kind == "session_meta" || kind == "response_item" || kind == "turn_context" || kind == "event_msg" || kind == "compacted"):
				return 0.95
			case kind == "function_call" && has(r, "call_id", "arguments"), kind == "function_call_output" && has(r, "call_id"),
				kind == "message" && strings.HasSuffix(r.Get("content.0.type").Str, "put_text"), r.Get("record_type").Str == "state":
				score = 0.85
			}
		}
		return score
	},
	parse: parseCodex,
}

// codexSession is a rollout that is being read.
type codexSession struct {
	*thread
	exits  map[string]int // exit codes by call id, from the events
	events []gjson.Result // of the user interface, read only if there is nothing else
}

func parseCodex(data []byte) ([]*Trajectory, error) {
	s := codexSession{thread: newThread(), exits: map[string]int{}}
	s.t.Agent = "codex"
	for _, r := range lines(data, s.broken) {
		s.add(r)
	}
	if len(s.t.Steps) == 0 {
		for _, e := range s.events {
			s.event(e)
		}
	}
	t := s.done()
	for i := range t.Steps {
		for _, c := range t.Steps[i].Calls {
			if code, ok := s.exits[c.ID]; ok && c.Observation != nil && c.Observation.ExitCode == nil {
				c.Observation.ExitCode = &code
			}
		}
	}
	return []*Trajectory{t}, nil
}

func (s *codexSession) add(r gjson.Result) {
	if s.t.Start.IsZero() {
		s.t.Start = stamp(r.Get("timestamp"))
	}
	p := r.Get("payload")
	switch kind := r.Get("type").Str; {
	case kind == "session_meta":
		s.meta(p)
	case kind == "turn_context":
		s.t.Model = p.Get("model").Str
		s.t.Dir = cmp.Or(s.t.Dir, p.Get("cwd").Str)
	case kind == "compacted":
		s.compacted(p)
	case kind == "event_msg":
		s.events = append(s.events, p)
		if code := p.Get("exit_code"); code.Type == gjson.Number {
			s.exits[p.Get("call_id").Str] = int(code.Int())
		}
	case kind == "response_item" && p.IsObject():
		s.item(p, r)
	case p.Exists() || r.Get("record_type").Exists():
	case kind == "" && has(r, "id", "timestamp"): // the first line of an old file
		s.meta(r)
	default:
		s.item(r, r)
	}
}

// meta reads the head of a session. A fork repeats the heads of those it came from after its own.
func (s *codexSession) meta(p gjson.Result) {
	if s.t.Name != "" {
		return
	}
	s.t.Name = p.Get("id").Str
	s.t.Dir = p.Get("cwd").Str
	s.t.Parent = cmp.Or(p.Get("source.subagent.thread_spawn.parent_thread_id").Str, p.Get("forked_from_id").Str)
	if start := stamp(p.Get("timestamp")); !start.IsZero() {
		s.t.Start = start
	}
	s.message(said(graphstore.System, p.Get("base_instructions")))
	s.message(said(graphstore.System, p.Get("instructions")))
}

// compacted marks where the client replaced its history. What it put in its place repeats what was
// already read.
func (s *codexSession) compacted(p gjson.Result) {
	m := said(graphstore.User, p.Get("message"))
	if m.Text == "" {
		if list := p.Get("replacement_history").Array(); len(list) > 0 {
			m = said(graphstore.User, list[len(list)-1].Get("content"))
		}
	}
	m.Text = cmp.Or(m.Text, "(history compacted)")
	m.Compaction = true
	s.message(m)
}

// item adds a part of the conversation. Calls of one reply follow each other; their outputs end it.
func (s *codexSession) item(p, line gjson.Result) {
	switch kind := p.Get("type").Str; kind {
	case "message":
		s.said(p, line)
	case "reasoning":
		summary, content := readContent(p.Get("summary")), readContent(p.Get("content"))
		if summary.text+content.text != "" {
			step := s.say(line)
			step.Thinking = joinText(step.Thinking, summary.text, content.text)
		}
	case "web_search_call": // runs at the provider's; its results are in no file
		step := s.say(line)
		step.Thinking = joinText(step.Thinking, "web_search "+plain(p.Get("action")))
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		s.say(line)
		args := cmp.Or(plain(p.Get("arguments")), plain(p.Get("input")), plain(p.Get("action")))
		s.call(cmp.Or(p.Get("call_id").Str, p.Get("id").Str), cmp.Or(p.Get("name").Str, kind), args)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		o := codexOutput(p.Get("output"))
		if kind == "tool_search_output" {
			o.Text = cmp.Or(o.Text, plain(p.Get("tools")))
		}
		s.answer(p.Get("call_id").Str, o)
		s.open = false
	}
}

// say is the turn being built.
func (s *codexSession) say(line gjson.Result) *graphstore.Step {
	step := s.step()
	step.Model = s.t.Model
	if step.Time.IsZero() {
		step.Time = stamp(line.Get("timestamp"))
	}
	return step
}

func (s *codexSession) said(p, line gjson.Result) {
	switch p.Get("role").Str {
	case "assistant":
		c := readContent(p.Get("content"))
		step := s.say(line)
		step.Thought = joinText(step.Thought, c.text)
		s.t.Notes.Images += c.images
	case "developer", "system":
		s.message(said(graphstore.System, p.Get("content")))
	default:
		m := said(graphstore.User, p.Get("content"))
		m.Role = codexRole(m.Text)
		s.message(m)
	}
}

// codexRole tells what the person wrote from what the client wrote in their name.
func codexRole(text string) graphstore.Role {
	for _, head := range []string{"# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<skill>", "<subagent_notification>", "<user_shell_command>"} {
		if strings.HasPrefix(strings.TrimSpace(text), head) {
			return graphstore.System
		}
	}
	return graphstore.User
}

// codexOutput reads a result: text, JSON in a string or as an object with the text in it, or blocks.
func codexOutput(v gjson.Result) graphstore.Observation {
	var o graphstore.Observation
	if v.Type == gjson.String && strings.HasPrefix(v.Str, `{"output"`) && json.Valid([]byte(v.Str)) {
		inner := gjson.Parse(v.Str)
		o.Text = plain(inner.Get("output"))
		o.ExitCode = exitCode(inner.Get("metadata.exit_code"))
		return o
	}
	if v.IsObject() {
		o.Failed = v.Get("success").Type == gjson.False
		if has(v, "content_items") {
			v = v.Get("content_items")
		}
	}
	c := readContent(v)
	o.Text, o.Images = c.text, c.images
	o.ExitCode = exitCodeIn(o.Text, exitFirstLine, exitProcess)
	return o
}

// event adds what the user interface showed.
func (s *codexSession) event(p gjson.Result) {
	switch p.Get("type").Str {
	case "user_message":
		s.message(said(graphstore.User, p.Get("message")))
	case "agent_reasoning":
		step := s.step()
		step.Thinking = joinText(step.Thinking, p.Get("text").Str)
	case "agent_message":
		step := s.step()
		step.Thought = joinText(step.Thought, p.Get("message").Str)
	case "exec_command_begin":
		s.call(p.Get("call_id").Str, "exec_command", plain(p.Get("command")))
	case "exec_command_end":
		out := cmp.Or(p.Get("aggregated_output").Str, p.Get("formatted_output").Str, p.Get("stdout").Str+p.Get("stderr").Str)
		s.answer(p.Get("call_id").Str, graphstore.Observation{Text: out})
		s.open = false
	}
}
