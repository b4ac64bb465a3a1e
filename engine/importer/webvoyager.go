package importer

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// webVoyagerFormat is WebVoyager's interact_messages.json: "Thought: … Action: Click [5]", then a
// screenshot with a list of elements. The harness threw old observations away as it went.
var webVoyagerFormat = format{
	name: "webvoyager",
	detect: func(name string, head []byte) float64 {
		switch {
		case !gjson.GetBytes(head, "0.role").Exists():
			return 0
		case name == "interact_messages.json":
			return 0.95
		case bytes.Contains(head, []byte("robot browsing the web")) && bytes.Contains(head, []byte("Action:")),
			bytes.Contains(head, []byte(omitted)):
			return 0.9
		}
		return 0
	},
	parse: parseWebVoyager,
}

// omitted is what WebVoyager leaves of an observation it drops.
const omitted = "(Omitted in context.)"

func parseWebVoyager(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	b.t.Agent = "WebVoyager"
	react(b, d.Array(), splitLabels, func(m gjson.Result) graphstore.Observation {
		o := observeText(m)
		if strings.Contains(o.Text, omitted) {
			b.t.Notes.Evicted++
		}
		return o
	})
	return []*Trajectory{b.done()}, nil
}
