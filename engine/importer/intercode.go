package importer

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// interCodeFormat is InterCode's results: runs by their number, each with parallel lists of
// actions and observations.
var interCodeFormat = format{
	name: "intercode",
	detect: func(_ string, head []byte) float64 {
		if !bytes.Contains(head, []byte(`"turn_history"`)) {
			return 0
		}
		sure := 0.0
		d := gjson.ParseBytes(head)
		if d.Get("turn_history.actions").Exists() {
			sure = 0.95
		}
		d.ForEach(func(_, first gjson.Result) bool {
			if first.Get("turn_history.actions").Exists() {
				sure = 0.95
			}
			return false
		})
		return sure
	},
	parse: parseInterCode,
}

func parseInterCode(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	if d.Get("turn_history").Exists() {
		return []*Trajectory{interCodeRun(plain(d.Get("task_id")), d)}, nil
	}
	var out []*Trajectory
	d.ForEach(func(key, run gjson.Result) bool {
		if run.Get("turn_history").Exists() {
			out = append(out, interCodeRun(key.String(), run))
		}
		return true
	})
	return out, nil
}

func interCodeRun(number string, run gjson.Result) *Trajectory {
	b := newThread()
	environment := plain(run.Get("environment"))
	b.t.Name = fmt.Sprintf("%s-%s", environment, number)
	b.message(graphstore.Message{Role: graphstore.User, Text: plain(run.Get("query"))})
	language := map[string]string{"ic_ctf": "bash"}[environment]
	if language == "" {
		language = strings.TrimPrefix(environment, "ic_")
	}
	h := run.Get("turn_history")
	thoughts, observations, valid := h.Get("thoughts").Array(), h.Get("observations").Array(), h.Get("valid_action").Array()
	for i, action := range h.Get("actions").Array() {
		s := b.turn()
		if i < len(thoughts) {
			s.Thought = plain(thoughts[i])
		}
		b.call("", language, plain(action))
		if i < len(observations) {
			b.result("", graphstore.Observation{
				Text:   plain(observations[i]),
				Failed: i < len(valid) && valid[i].Type == gjson.False,
			})
		}
	}
	return b.done()
}
