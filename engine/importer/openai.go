package importer

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// openAIFormat is chat-completions messages: a list, an object with "messages", or JSON lines of
// either. Lines that are successive requests of one conversation are one trajectory.
var openAIFormat = format{
	name: "openai-chat",
	detect: func(_ string, head []byte) float64 {
		first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n{"))
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
	chats, broken, err := openAIChats(data)
	if err != nil {
		return nil, err
	}
	var out []*Trajectory
	for _, c := range longest(chats) {
		b := newThread("openai-chat")
		b.t.Name = c.name
		b.t.Model = c.model
		if textDialect(c.messages) {
			textChat(b, c.messages)
		} else {
			chat(b, c.messages)
		}
		out = append(out, b.done())
	}
	if len(out) > 0 {
		out[0].Notes.Broken = append(out[0].Notes.Broken, broken...)
	}
	return out, nil
}

// conversation is one list of messages of a file.
type conversation struct {
	name, model string
	messages    []gjson.Result
}

func openAIChats(data []byte) (chats []conversation, broken []string, err error) {
	rows, broken, err := jsonRows(data)
	if err != nil {
		return nil, nil, err
	}
	if len(rows) > 0 && rows[0].Get("role").Exists() {
		return []conversation{{messages: rows}}, broken, nil
	}
	for _, r := range rows {
		c := conversation{model: plain(r.Get("model"))}
		for _, field := range []string{"instance_id", "session_id", "conversation_id", "trajectory_id", "id"} {
			if c.name = plain(r.Get(field)); c.name != "" {
				break
			}
		}
		list := r.Get("messages")
		if r.IsArray() {
			list = r
		}
		if c.messages = list.Array(); len(c.messages) > 0 {
			chats = append(chats, c)
		}
	}
	return chats, broken, nil
}

// longest keeps of conversations that continue each other the last. A client that sends its
// whole history again with each request leaves such a file. What a harness may change in an old
// request, system text and results, is not compared.
func longest(chats []conversation) []conversation {
	var out []conversation
	var said [][]string
	for _, c := range chats {
		now := spoken(c.messages)
		i := slices.IndexFunc(said, func(old []string) bool {
			return len(old) > 0 && len(old) <= len(now) && slices.Equal(old, now[:len(old)])
		})
		if i >= 0 {
			out[i], said[i] = c, now
			continue
		}
		if slices.ContainsFunc(said, func(old []string) bool { return len(now) > 0 && len(now) <= len(old) && slices.Equal(now, old[:len(now)]) }) {
			continue
		}
		out, said = append(out, c), append(said, now)
	}
	return out
}

// spoken is what the user and the model said, message by message.
func spoken(messages []gjson.Result) []string {
	var out []string
	for _, m := range messages {
		role := m.Get("role").Str
		if role != "user" && role != "assistant" {
			continue
		}
		line := []string{role, readContent(m.Get("content")).text}
		m.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
			line = append(line, plain(call.Get("function")))
			return true
		})
		out = append(out, strings.Join(line, "\x00"))
	}
	return out
}

var observationTurn = regexp.MustCompile(`(?i)^\s*OBSERVATION:`)

// textDialect reports whether the actions are in the model's text, since a user turn says that it
// is an observation, and nothing is a tool call.
func textDialect(messages []gjson.Result) bool {
	found := false
	for _, m := range messages {
		switch role := m.Get("role").Str; {
		case role == "tool" || len(m.Get("tool_calls").Array()) > 0 || m.Get("function_call").IsObject():
			return false
		case role == "user" && observationTurn.MatchString(readContent(m.Get("content")).text):
			found = true
		}
	}
	return found
}

func textChat(b *thread, messages []gjson.Result) {
	react(b, messages, splitFunction, observeText)
}
