package importer

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// autoCodeRoverFormat is AutoCodeRover's conversation_round_N.json, whose actions are calls in
// prose: search_class(..).
var autoCodeRoverFormat = format{
	name: "autocoderover",
	detect: func(name string, head []byte) float64 {
		switch {
		case !gjson.GetBytes(head, "0.role").Exists():
			return 0
		case strings.HasPrefix(name, "conversation_round_"):
			return 0.95
		case bytes.Contains(head, []byte("search_class(")) && bytes.Contains(head, []byte("search_method")):
			return 0.85
		}
		return 0
	},
	parse: func(data []byte) ([]*Trajectory, error) {
		d, err := document(data)
		if err != nil {
			return nil, err
		}
		b := newThread()
		b.t.Agent = "AutoCodeRover"
		react(b, d.Array(), unsplit, observeText)
		return []*Trajectory{b.done()}, nil
	},
}
