package importer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/ctxweaver/ctxweaver/graphstore"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// terminusFormat is Terminus-2's JSON protocol in chat messages: an answer with analysis, plan and
// commands, then the terminal's output for all commands together.
var terminusFormat = format{
	name: "terminus-messages",
	detect: func(_ string, head []byte) float64 {
		chat := gjson.GetBytes(head, "messages.0.role").Exists() || gjson.GetBytes(head, "0.role").Exists()
		if chat && bytes.Contains(head, []byte("keystrokes")) &&
			(bytes.Contains(head, []byte("New Terminal Output")) || bytes.Contains(head, []byte("task_complete"))) {
			return 0.9
		}
		return 0
	},
	parse: func(data []byte) ([]*Trajectory, error) {
		d, err := document(data)
		if err != nil {
			return nil, err
		}
		b := newThread("terminus-messages")
		list := d.Get("messages")
		if d.IsArray() {
			list = d
		}
		b.t.Agent = "terminus-2"
		b.t.Model = plain(d.Get("model"))
		react(b, list.Array(), splitCommands, observeText)
		return []*Trajectory{b.done()}, nil
	},
}

var fencedObject = regexp.MustCompile("(?s)(?:```(?:json)?\\s*)?(\\{.*\\})\\s*(?:```)?")

// splitCommands takes the JSON object of an answer as the action. Its analysis and plan are
// thoughts.
func splitCommands(text string) (string, graphstore.Call, bool) {
	at := fencedObject.FindStringSubmatchIndex(text)
	if at == nil || !json.Valid([]byte(text[at[2]:at[3]])) {
		return text, graphstore.Call{}, false
	}
	object := gjson.Parse(text[at[2]:at[3]])
	if !object.Get("commands").Exists() && !object.Get("load_skill").Exists() {
		return text, graphstore.Call{}, false
	}
	args := object.Raw
	thought := around(text, at[0], at[1])
	for _, field := range []string{"analysis", "plan"} {
		thought = joinText(thought, strings.TrimSpace(plain(object.Get(field))))
		if rest, err := sjson.Delete(args, field); err == nil {
			args = rest
		}
	}
	return thought, graphstore.Call{Args: compact(args)}, true
}
