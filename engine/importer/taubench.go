package importer

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// tauBenchFormat is tau-bench: a run, or a list of runs, each with chat messages in "traj". The user
// is a simulated customer.
var tauBenchFormat = format{
	name: "tau-bench",
	detect: func(_ string, head []byte) float64 {
		if gjson.GetBytes(head, "traj.0.role").Exists() || gjson.GetBytes(head, "0.traj.0.role").Exists() {
			return 0.95
		}
		if gjson.GetBytes(head, "0.task_id").Exists() && gjson.GetBytes(head, "0.reward").Exists() {
			return 0.9
		}
		return 0
	},
	parse: parseTauBench,
}

func parseTauBench(data []byte) ([]*Trajectory, error) {
	runs, broken, err := jsonRows(data)
	if err != nil {
		return nil, err
	}
	var out []*Trajectory
	for _, r := range runs {
		b := newThread()
		if r.Get("task_id").Exists() {
			b.t.Name = fmt.Sprintf("task-%s-trial-%d", plain(r.Get("task_id")), r.Get("trial").Int())
		}
		chat(b, r.Get("traj").Array())
		out = append(out, b.done())
	}
	if len(out) > 0 {
		out[0].Notes.Broken = broken
	}
	return out, nil
}

// tau2BenchFormat is tau2-bench: one simulation, or a results file with "simulations". The
// simulated user can call tools too; such calls are steps as well.
var tau2BenchFormat = format{
	name: "tau2-bench",
	detect: func(_ string, head []byte) float64 {
		switch {
		case gjson.GetBytes(head, "simulations").IsArray(), gjson.GetBytes(head, "messages.0.turn_idx").Exists():
			return 0.95
		case gjson.GetBytes(head, "termination_reason").Exists() && gjson.GetBytes(head, "task_id").Exists(),
			gjson.GetBytes(head, "info.environment_info").Exists():
			return 0.95
		}
		return 0
	},
	parse: parseTau2Bench,
}

func parseTau2Bench(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	runs := []gjson.Result{d}
	if s := d.Get("simulations"); s.Exists() {
		runs = s.Array()
	}
	var out []*Trajectory
	for _, r := range runs {
		b := newThread()
		b.t.Name = plain(r.Get("id"))
		b.t.Agent = plain(d.Get("info.agent_info.implementation"))
		b.t.Model = plain(d.Get("info.agent_info.llm"))
		b.message(graphstore.Message{Role: graphstore.System, Text: plain(d.Get("info.environment_info.policy"))})
		r.Get("messages").ForEach(func(_, m gjson.Result) bool {
			if wrapped := m.Get("tool_messages"); wrapped.IsArray() {
				wrapped.ForEach(func(_, m gjson.Result) bool {
					tau2Message(b, m)
					return true
				})
				return true
			}
			tau2Message(b, m)
			return true
		})
		out = append(out, b.done())
	}
	return out, nil
}

func tau2Message(b *thread, m gjson.Result) {
	calls := len(m.Get("tool_calls").Array()) > 0
	switch role := m.Get("role").Str; {
	case role == "tool":
		o := observeText(m)
		o.Failed = m.Get("error").Bool()
		b.result(plain(m.Get("id")), o)
	case role == "assistant", role == "user" && calls:
		chatTurn(b, m)
		b.step().Time = stamp(m.Get("timestamp"))
	default:
		chatMessage(b, m)
	}
}
