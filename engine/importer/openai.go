package importer

import (
	"bytes"
	"regexp"

	"github.com/tidwall/gjson"
)

// openAIFormat is chat-completions messages: a list, an object with "messages", or JSON lines of
// either. Lines without a name that are successive requests of one conversation are one trajectory.
var openAIFormat = format{
	name: "openai-chat",
	detect: func(_ string, head []byte) float64 {
		first := bytes.TrimSpace(head)
		if bytes.HasPrefix(first, []byte("{")) { // of JSON lines the first; a list may have a message a line too
			first, _, _ = bytes.Cut(first, []byte("\n{"))
		}
		role := ""
		for _, path := range []string{"messages.0.role", "0.role", "0.messages.0.role", "0.0.role", "role"} {
			if r := gjson.GetBytes(first, path); r.Type == gjson.String {
				role = r.Str
				break
			}
		}
		switch {
		case role == "":
			return 0
		case bytes.Contains(head, []byte(`"tool_result"`)) || bytes.Contains(head, []byte(`"tool_use"`)):
			return 0.2
		case bytes.Contains(head, []byte(`"tool_calls"`)) || bytes.Contains(head, []byte(`"tool_call_id"`)):
			return 0.7
		}
		return 0.5
	},
	parse: parseOpenAI,
}

func parseOpenAI(data []byte) ([]*Trajectory, error) {
	rows, broken, err := jsonRows(data)
	if err != nil {
		return nil, err
	}
	var ts []*Trajectory
	if len(rows) > 0 && rows[0].Get("role").Exists() {
		ts = append(ts, openAIChat(gjson.Result{}, rows))
	} else {
		var requests []*Trajectory
		for _, r := range rows {
			messages := r.Get("messages").Array()
			if r.IsArray() {
				messages = r.Array()
			}
			if t := openAIChat(r, messages); t.Name != "" {
				ts = append(ts, t)
			} else {
				requests = append(requests, t)
			}
		}
		ts = append(ts, conversations(requests)...)
	}
	if len(ts) > 0 {
		ts[0].Notes.Broken = append(ts[0].Notes.Broken, broken...)
	}
	return ts, nil
}

func openAIChat(row gjson.Result, messages []gjson.Result) *Trajectory {
	b := newThread()
	b.t.Model = plain(row.Get("model"))
	for _, field := range []string{"instance_id", "session_id", "conversation_id", "trajectory_id"} {
		if b.t.Name = plain(row.Get(field)); b.t.Name != "" {
			break
		}
	}
	if textDialect(messages) {
		react(b, messages, splitFunction, observeText)
	} else {
		chat(b, messages)
	}
	return b.done()
}

var observationTurn = regexp.MustCompile(`(?i)^\s*OBSERVATION:`)

// textDialect reports whether the actions are in the model's text, since a user turn says that it
// is an observation, and nothing is a tool call.
func textDialect(messages []gjson.Result) bool {
	found := false
	for _, m := range messages {
		words := readContent(m.Get("content")).text
		switch role := m.Get("role").Str; {
		case role == "tool" || len(m.Get("tool_calls").Array()) > 0 || m.Get("function_call").IsObject():
			return false
		case role == "user" && observationTurn.MatchString(words):
			found = true
		}
	}
	return found
}
