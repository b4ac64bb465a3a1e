package importer

import (
	"strings"

	"github.com/tidwall/gjson"
)

// sweAgentFormat is SWE-agent's .traj: one action a turn, in "trajectory"; the prompt in "history".
var sweAgentFormat = format{
	name: "swe-agent-traj",
	detect: func(name string, head []byte) float64 {
		first := gjson.GetBytes(head, "trajectory.0")
		switch {
		case first.Get("action").Exists() && !first.Get("source").Exists():
			return 0.95
		case strings.HasSuffix(name, ".traj") && gjson.GetBytes(head, "history.0.role").Exists():
			return 0.9
		}
		return 0
	},
	parse: parseSWEAgent,
}

func parseSWEAgent(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	b.t.Agent = "SWE-agent"
	b.t.Name = plain(d.Get("instance_id"))
	sweAgentPrompt(b, d.Get("history"))
	turns := d.Get("trajectory").Array()
	thinking := sweAgentThinking(d.Get("history"), len(turns))
	for i, s := range turns {
		step := b.turn()
		step.Thinking, step.Thought = thinking[i], plain(s.Get("thought"))
		b.call("", "", plain(s.Get("action")))
		if o := s.Get("observation"); o.Exists() && o.Type != gjson.Null {
			b.result("", observed(o))
		}
	}
	return []*Trajectory{b.done()}, nil
}

// demonstration reports a message of the history that shows another run.
func demonstration(m gjson.Result) bool {
	return m.Get("is_demo").Bool() || m.Get("message_type").Str == "demonstration"
}

// sweAgentPrompt records what stands in the history before the model's first turn.
func sweAgentPrompt(b *thread, history gjson.Result) {
	history.ForEach(func(_, m gjson.Result) bool {
		if demonstration(m) {
			return true
		}
		if m.Get("role").Str == "assistant" {
			return false
		}
		chatMessage(b, m)
		return true
	})
}

// sweAgentThinking is the reasoning of each turn, which only the history has. Where the history
// was cut down its turns cannot be matched, and all are empty.
func sweAgentThinking(history gjson.Result, turns int) []string {
	var out []string
	history.ForEach(func(_, m gjson.Result) bool {
		if m.Get("role").Str == "assistant" && !demonstration(m) {
			out = append(out, joinText(hidden(m), readContent(m.Get("thinking_blocks")).thinking))
		}
		return true
	})
	if len(out) != turns {
		return make([]string, turns)
	}
	return out
}
