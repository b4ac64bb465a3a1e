package importer

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// terminusFormat is Terminus-2's JSON protocol in chat messages: an answer with analysis, plan and
// commands, then the terminal's output for all commands together.
var terminusFormat = format{
	name: "terminus-messages",
	detect: func(_ string, head []byte) float64 {
		if isChat(head) && bytes.Contains(head, []byte("keystrokes")) &&
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
		b := newThread()
		b.t.Agent = "terminus-2"
		b.t.Model = plain(d.Get("model"))
		react(b, chatList(d), splitCommands, observeText)
		return []*Trajectory{b.done()}, nil
	},
}

// splitCommands takes the JSON object of an answer as the action. Its analysis and plan are
// thoughts.
func splitCommands(text string) (string, graphstore.Call, bool) {
	i, object, ok := commandObject(text)
	if !ok {
		return text, graphstore.Call{}, false
	}
	before := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text[:i]), "json"), "```")
	after := strings.TrimPrefix(strings.TrimSpace(text[i+len(object):]), "```")
	thought, args := joinText(strings.TrimSpace(before), strings.TrimSpace(after)), object
	for _, field := range []string{"analysis", "plan"} {
		thought = joinText(thought, strings.TrimSpace(plain(gjson.Get(object, field))))
		if rest, err := sjson.Delete(args, field); err == nil {
			args = rest
		}
	}
	return thought, graphstore.Call{Args: compact(args)}, true
}

// commandObject finds the first JSON object with commands, and where it begins.
func commandObject(text string) (at int, object string, ok bool) {
	const tries = 64 // prose has braces too
	for n := 0; n < tries && at < len(text); n++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		var v json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at:])).Decode(&v) == nil {
			if o := gjson.ParseBytes(v); o.Get("commands").Exists() || o.Get("load_skill").Exists() {
				return at, string(v), true
			}
		}
		at++
	}
	return 0, "", false
}
