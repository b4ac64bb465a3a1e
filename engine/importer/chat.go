package importer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// chat reads messages in which the model's calls are tool_calls (OpenAI's shape), for the
// formats that wrap them.
func chat(b *thread, messages []gjson.Result) {
	for _, m := range messages {
		switch role := m.Get("role").Str; role {
		case "assistant":
			chatTurn(b, m)
		case "tool", "function":
			chatResult(b, m, graphstore.Observation{})
		default:
			chatMessage(b, m)
		}
	}
}

// chatList are the messages of a document that has them in "messages", or is a bare list of them.
func chatList(d gjson.Result) []gjson.Result {
	if d.IsArray() {
		return d.Array()
	}
	return d.Get("messages").Array()
}

// isChat reports whether a document is of that kind, as far as its first message tells.
func isChat(head []byte) bool {
	return gjson.GetBytes(head, "messages.0.role").Exists() || gjson.GetBytes(head, "0.role").Exists()
}

// chatMessage records what a system or user message says.
func chatMessage(b *thread, m gjson.Result) {
	role := graphstore.User
	if r := m.Get("role").Str; r == "system" || r == "developer" {
		role = graphstore.System
	}
	b.message(said(role, m.Get("content")))
}

// chatTurn records one message of the model, with all of its calls.
func chatTurn(b *thread, m gjson.Result) {
	s := b.turn()
	s.Thinking, s.Thought = b.spoken(m)
	calls := m.Get("tool_calls").Array()
	if old := m.Get("function_call"); len(calls) == 0 && old.IsObject() {
		calls = []gjson.Result{old}
	}
	for _, call := range calls {
		f := call
		if call.Get("function").IsObject() {
			f = call.Get("function")
		}
		b.call(plain(call.Get("id")), plain(f.Get("name")), plain(f.Get("arguments")))
	}
}

// spoken is the reasoning and the text of one of the model's messages. Servers that split the
// reasoning off often leave it in the text too.
func (b *thread) spoken(m gjson.Result) (thinking, thought string) {
	c := readContent(m.Get("content"))
	b.t.Notes.Images += c.images
	before, text := cutThinking(c.text)
	thinking = hidden(m)
	for _, again := range []string{c.thinking, before} {
		if strings.TrimSpace(again) != strings.TrimSpace(thinking) {
			thinking = joinText(thinking, again)
		}
	}
	return thinking, text
}

// hidden is the reasoning beside a message's content; providers differ in the field's name, and
// some send it twice.
func hidden(m gjson.Result) string {
	for _, field := range []string{"reasoning_content", "reasoning", "thinking"} {
		if v := m.Get(field); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// chatResult records a tool message. o says what the format knows beside the text.
func chatResult(b *thread, m gjson.Result, o graphstore.Observation) {
	c := readContent(m.Get("content"))
	o.Text, o.Images = c.text, c.images
	if o.ExitCode == nil {
		o.ExitCode = exitCodeIn(o.Text, exitRC, exitReturncode)
	}
	id := plain(m.Get("tool_call_id"))
	if id == "" {
		b.answerNext(o)
		return
	}
	b.result(id, o)
}

// answerNext answers the oldest call of the turn that is still open, or else the newest call, for
// results without an id.
func (b *thread) answerNext(o graphstore.Observation) {
	if b.last != nil {
		for i, c := range b.t.Steps[b.last.step].Calls {
			if c.Open() {
				b.last.call = i
				break
			}
		}
	}
	b.result("", o)
}

// splitter tells the action of a text dialect from the thought around it. ok is false where the
// text holds no action that can be told apart.
type splitter func(text string) (thought string, action graphstore.Call, ok bool)

// react reads messages in which each message of the model is a thought and an action, and the
// user's next message is the observation.
func react(b *thread, messages []gjson.Result, split splitter, observe func(m gjson.Result) graphstore.Observation) {
	acted := false // the user's next message is an observation
	for i, m := range messages {
		switch role := m.Get("role").Str; {
		case role == "assistant":
			answered := i+1 < len(messages) && messages[i+1].Get("role").Str == "user"
			acted = reactTurn(b, m, split, answered)
		case role == "user" && acted:
			b.result("", observe(m))
		default:
			chatMessage(b, m)
		}
	}
}

// reactTurn records one message of the model and says whether it holds a call. What is answered
// must have been an action, in whatever words.
func reactTurn(b *thread, m gjson.Result, split splitter, answered bool) bool {
	s := b.turn()
	thinking, text := b.spoken(m)
	s.Thinking = thinking
	thought, action, ok := split(text)
	switch {
	case ok:
		s.Thought = thought
		b.call("", action.Name, action.Args)
	case answered:
		b.call("", "", text)
	default:
		s.Thought = text
	}
	return ok || answered
}

// observeText is the observation of a dialect that says nothing beside the text.
func observeText(m gjson.Result) graphstore.Observation {
	return observed(m.Get("content"))
}

// unsplit is the splitter of dialects whose actions are prose.
func unsplit(text string) (string, graphstore.Call, bool) { return text, graphstore.Call{}, false }

var fence = regexp.MustCompile("(?s)```(bash|sh|shell|mswea_bash_command)[ \\t]*\\n(.*?)\\n?```")

// splitFence takes the only fenced block of shell as the action.
func splitFence(text string) (string, graphstore.Call, bool) {
	all := fence.FindAllStringSubmatchIndex(text, 2)
	if len(all) != 1 {
		return text, graphstore.Call{}, false
	}
	at := all[0]
	name := text[at[2]:at[3]]
	if name == "mswea_bash_command" {
		name = "bash"
	}
	return around(text, at[0], at[1]), graphstore.Call{Name: name, Args: text[at[4]:at[5]]}, true
}

var functionTag = regexp.MustCompile(`(?s)<function=([^>\s]+)>\n?(.*?)\n?</function>`)

// splitFunction takes the first <function=name> element as the action.
func splitFunction(text string) (string, graphstore.Call, bool) {
	at := functionTag.FindStringSubmatchIndex(text)
	if at == nil {
		return text, graphstore.Call{}, false
	}
	return around(text, at[0], at[1]), graphstore.Call{Name: text[at[2]:at[3]], Args: parameters(text[at[4]:at[5]])}, true
}

var parameterTag = regexp.MustCompile(`(?s)<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>`)

// parameters are the <parameter=name> elements of a function as the JSON that a tool call would
// have.
func parameters(text string) string {
	object := "{}"
	for _, p := range parameterTag.FindAllStringSubmatch(text, -1) {
		// No option of sjson's leaves < and & alone, so the value is encoded here.
		var value bytes.Buffer
		e := json.NewEncoder(&value)
		e.SetEscapeHTML(false)
		if e.Encode(p[2]) != nil {
			return text
		}
		more, err := sjson.SetRaw(object, gjson.Escape(p[1]), strings.TrimSpace(value.String()))
		if err != nil {
			return text
		}
		object = more
	}
	if object == "{}" {
		return text
	}
	return object
}

var actionLine = regexp.MustCompile(`(?m)^\s*Action:[ \t]*`)

var verb = regexp.MustCompile(`(?s)^([A-Za-z]\w*)[ ;]*(.*)$`)

// splitLabels reads "Thought: …" and, after the last "Action:" line, a verb and what it works on.
func splitLabels(text string) (string, graphstore.Call, bool) {
	all := actionLine.FindAllStringIndex(text, -1)
	if all == nil {
		return text, graphstore.Call{}, false
	}
	at := all[len(all)-1]
	thought := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text[:at[0]]), "Thought:"))
	action := strings.TrimSpace(text[at[1]:])
	if m := verb.FindStringSubmatch(action); m != nil {
		if m[1] == "ANSWER" { // to the user
			return text, graphstore.Call{}, false
		}
		return thought, graphstore.Call{Name: m[1], Args: m[2]}, true
	}
	return thought, graphstore.Call{Args: action}, true
}

// around is the text without the part from i to j.
func around(text string, i, j int) string {
	return joinText(strings.TrimSpace(text[:i]), strings.TrimSpace(text[j:]))
}
