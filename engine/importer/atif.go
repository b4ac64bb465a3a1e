package importer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// atifFormat is the Agent Trajectory Interchange Format, versions 1.0 to 1.8, with a reading for an
// early writer whose results came as steps of their own, before the calls.
var atifFormat = format{
	name: "atif",
	detect: func(_ string, head []byte) float64 {
		first := gjson.GetBytes(head, "steps.0")
		switch {
		case strings.HasPrefix(gjson.GetBytes(head, "schema_version").Str, "ATIF-v1"):
			return 1
		case first.Get("step_id").Exists() && first.Get("source").Exists():
			return 0.95
		}
		return 0
	},
	parse: parseATIF,
}

func parseATIF(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	return atifTrajectory(d, ""), nil
}

// atifTrajectory reads a trajectory and the sub-agents' that it embeds.
func atifTrajectory(d gjson.Result, parent string) []*Trajectory {
	a := &atif{thread: newThread(), early: map[string]graphstore.Observation{}}
	a.t.Parent = parent
	a.head(d)
	d.Get("steps").ForEach(func(_, s gjson.Result) bool {
		a.add(s)
		return true
	})
	for _, id := range a.order {
		if o, ok := a.early[id]; ok { // its call never came
			a.result(id, o)
		}
	}
	out := []*Trajectory{a.done()}
	for i, sub := range d.Get("subagent_trajectories").Array() {
		name := a.t.Name
		if name == "" {
			name = ":"
		}
		below := atifTrajectory(sub, name)
		if below[0].Name == "" {
			below[0].Name = fmt.Sprintf("%s:sub-%d", strings.TrimSuffix(name, ":"), i+1)
		}
		out = append(out, below...)
	}
	return out
}

type atif struct {
	*thread
	early map[string]graphstore.Observation // results that came before their calls
	order []string
}

func (a *atif) head(d gjson.Result) {
	a.t.Name = plain(d.Get("session_id"))
	if id := plain(d.Get("trajectory_id")); a.t.Name == "" || a.t.Parent == a.t.Name && id != "" {
		a.t.Name = id // sub-agents share their run's session
	}
	a.t.Agent = plain(d.Get("agent.name"))
	a.t.Model = joinText(plain(d.Get("agent.model_name")), plain(d.Get("agent.model")))
	own := d.Get("extra.ctxweaver")
	a.t.Title, a.t.Dir = plain(own.Get("title")), plain(own.Get("dir"))
	if a.t.Parent == "" {
		a.t.Parent = plain(own.Get("parent"))
	}
	if a.t.Agent == unknown && own.Exists() {
		a.t.Agent = ""
	}
}

func (a *atif) add(s gjson.Result) {
	if a.t.Start.IsZero() {
		a.t.Start = stamp(s.Get("timestamp"))
	}
	switch {
	case s.Get("source").Str == "agent":
		a.agent(s)
	case s.Get("source").Str == "user":
		a.heard(s, graphstore.User)
	case flatResult(s):
		a.flat(s)
	default:
		a.heard(s, graphstore.System)
	}
}

var compaction = regexp.MustCompile(`(?i)context (compaction|compression|condensation|summari[sz]ation)|(compact|condens|summari[sz])(ed|ing) (the )?(context|conversation|history)`)

// heard records a step of the user or the system. After the first turn, a step of the system that
// says so, or is marked, is a compaction.
func (a *atif) heard(s gjson.Result, role graphstore.Role) {
	c := readContent(s.Get("message"))
	m := graphstore.Message{Role: role, Text: c.text, Images: c.images}
	if own := s.Get("extra.ctxweaver"); own.Exists() {
		if r := plain(own.Get("role")); r != "" {
			m.Role = graphstore.Role(r)
		}
		m.Images += int(own.Get("images").Int())
		m.Compaction = own.Get("compaction").Bool()
		if m.Role == graphstore.Orphan {
			a.t.Notes.Orphans++
		}
		a.keep(m)
		return
	}
	m.Compaction = role == graphstore.System && len(a.t.Steps) > 0 && compaction.MatchString(m.Text)
	s.Get("observation.results").ForEach(func(_, r gjson.Result) bool {
		o := observed(r.Get("content"))
		m.Text, m.Images = joinText(m.Text, o.Text), m.Images+o.Images
		a.subagents(s, r)
		return true
	})
	a.message(m)
}

// keep is message, but keeps also what says nothing: our own exports are read back as they were.
func (b *thread) keep(m graphstore.Message) {
	b.message(m)
	if m.Text == "" && m.Images == 0 {
		b.before = append(b.before, m)
		b.open = false
	}
}

func (a *atif) agent(s gjson.Result) {
	step := a.turn()
	c := readContent(s.Get("message"))
	a.t.Notes.Images += c.images
	step.Thinking = joinText(plain(s.Get("reasoning_content")), c.thinking)
	step.Thought = c.text
	step.Model = plain(s.Get("model_name"))
	step.Time = stamp(s.Get("timestamp"))
	own := s.Get("extra.ctxweaver.calls").Array()
	for i, call := range s.Get("tool_calls").Array() {
		var mark gjson.Result
		if i < len(own) {
			mark = own[i]
		}
		a.toolCall(call, mark)
	}
	s.Get("observation.results").ForEach(func(_, r gjson.Result) bool {
		a.answer(s, r)
		return true
	})
	a.restore(own)
}

func (a *atif) toolCall(call, own gjson.Result) {
	id := first(call, "tool_call_id", "id")
	args := plain(call.Get("arguments"))
	if v := own.Get("args"); v.Exists() {
		args = plain(v)
	}
	a.call(id, first(call, "function_name", "name", "function.name"), args)
	if o, ok := a.early[id]; ok {
		a.result(id, o)
		delete(a.early, id)
	}
}

// first is the first of the fields that holds something.
func first(v gjson.Result, fields ...string) string {
	for _, f := range fields {
		if s := plain(v.Get(f)); s != "" {
			return s
		}
	}
	return ""
}

// answer records a result in an agent's step. Without a source it answers the whole step, and is
// kept with the last call.
func (a *atif) answer(s, r gjson.Result) {
	o := observed(r.Get("content"))
	a.subagents(s, r)
	id := plain(r.Get("source_call_id"))
	if id != "" {
		a.result(id, o)
		return
	}
	if len(a.step().Calls) == 0 {
		a.call("", "", "")
	}
	a.result("", o)
}

// restore gives the calls of a step back what ATIF has no fields for.
func (a *atif) restore(own []gjson.Result) {
	step := a.step()
	for i := range min(len(own), len(step.Calls)) {
		c, mark := &step.Calls[i], own[i]
		if id := mark.Get("id"); id.Exists() {
			c.ID = plain(id)
		}
		c.Joined = mark.Get("joined").Bool()
		if o := c.Observation; o != nil {
			o.Images += int(mark.Get("images").Int())
			a.t.Notes.Images += int(mark.Get("images").Int())
			o.ExitCode = exitCode(mark.Get("exit_code"))
			if o.Failed = mark.Get("failed").Bool(); o.Failed {
				a.t.Notes.Failed++
			}
		}
	}
}

// subagents notes the trajectories that a result refers to, which are in other files.
func (a *atif) subagents(s, r gjson.Result) {
	r.Get("subagent_trajectory_ref").ForEach(func(_, ref gjson.Result) bool {
		embedded := ref.Get("trajectory_id").Exists() && plain(ref.Get("trajectory_path")) == ""
		if ref.IsObject() && !embedded {
			a.broken("step %s: sub-agent %s is in another file %s", plain(s.Get("step_id")),
				first(ref, "session_id", "trajectory_id"), plain(ref.Get("trajectory_path")))
		}
		return true
	})
}

// flatResult reports the early writer's result: a system step with one flat observation.
func flatResult(s gjson.Result) bool {
	o := s.Get("observation")
	return o.Get("content").Exists() && !o.Get("results").Exists()
}

var callID = regexp.MustCompile(`\b(?:toolu|call)_[\w-]+`)

// flat records a flat observation, whose call's id is in the message. The call may come later.
func (a *atif) flat(s gjson.Result) {
	o := observed(s.Get("observation.content"))
	o.Failed = s.Get("observation.result.success").Type == gjson.False
	id := callID.FindString(readContent(s.Get("message")).text)
	if id == "" {
		id = "?"
	}
	if _, ok := a.byID[id]; ok {
		a.result(id, o)
		return
	}
	if _, twice := a.early[id]; twice {
		a.result("?", o)
		return
	}
	a.early[id] = o
	a.order = append(a.order, id)
}
