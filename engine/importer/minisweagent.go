package importer

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// miniSWEAgentFormat is mini-swe-agent's .traj.json, whose actions are tool calls or, in the text dialect, the one
// fenced block of a message. The oldest files are a bare list of messages.
var miniSWEAgentFormat = format{
	name: "mini-swe-agent",
	detect: func(name string, head []byte) float64 {
		switch {
		case strings.HasPrefix(gjson.GetBytes(head, "trajectory_format").Str, "mini-swe-agent"),
			gjson.GetBytes(head, "info.mini_version").Exists():
			return 1
		case strings.HasSuffix(name, ".traj.json") && isChat(head):
			return 0.9
		case isChat(head) && bytes.Contains(head, []byte("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")):
			return 0.85
		}
		return 0
	},
	parse: parseMiniSWEAgent,
}

func parseMiniSWEAgent(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	b.t.Agent = "mini-swe-agent"
	b.t.Name = plain(d.Get("instance_id"))
	b.t.Model = plain(d.Get("info.config.model.model_name"))
	b.t.Dir = plain(d.Get("info.config.environment.cwd"))
	var messages []gjson.Result
	tools := false
	for _, m := range chatList(d) {
		if m.Get("role").Str == "exit" { // carries the submission, which the last call printed
			continue
		}
		messages = append(messages, m)
		tools = tools || len(m.Get("tool_calls").Array()) > 0
	}
	if tools {
		miniToolCalls(b, messages)
	} else {
		react(b, messages, splitFence, miniObservation)
	}
	return []*Trajectory{b.done()}, nil
}

func miniToolCalls(b *thread, messages []gjson.Result) {
	for _, m := range messages {
		switch m.Get("role").Str {
		case "assistant":
			chatTurn(b, m)
			if s := b.step(); s.Thinking == "" {
				s.Thinking = hidden(m.Get("extra.response.choices.0.message"))
			}
		case "tool":
			chatResult(b, m, miniObservation(m))
		default:
			chatMessage(b, m)
		}
	}
}

// miniObservation reads an observation's return code from the field or, in older files, from the
// text. A message with interrupt_type answers an action that could not be run.
func miniObservation(m gjson.Result) graphstore.Observation {
	o := observeText(m)
	if o.ExitCode = exitCode(m.Get("extra.returncode")); o.ExitCode == nil {
		o.ExitCode = exitCodeIn(o.Text, exitReturncode)
	}
	o.Failed = plain(m.Get("extra.exception_info")) != "" || plain(m.Get("extra.interrupt_type")) != ""
	return o
}
