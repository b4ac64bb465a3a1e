package importer

import (
	"cmp"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// geminiFormat is a session of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.json, one object; newer
// versions write its messages one a line, and write a message again when it grew.
var geminiFormat = format{
	name: "gemini-cli-session",
	detect: func(_ string, head []byte) float64 {
		for _, r := range records(head, 20) {
			switch kind := r.Get("type").Str; {
			case has(r, "sessionId", "projectHash"):
				return 0.95
			case kind == "gemini" && has(r, "content"):
				return 0.85
			case has(r, "sessionId") && r.Get("messages.#(type==\"gemini\")").Exists():
				return 0.9
			}
		}
		return 0
	},
	parse: parseGemini,
}

func parseGemini(data []byte) ([]*Trajectory, error) {
	b := newThread()
	b.t.Agent = "gemini-cli"
	head, messages, err := geminiMessages(data, b)
	if err != nil {
		return nil, err
	}
	b.t.Name = head.Get("sessionId").Str
	b.t.Title = head.Get("summary").Str
	b.t.Start = stamp(head.Get("startTime"))
	for _, m := range messages {
		b.gemini(m)
	}
	return []*Trajectory{b.done()}, nil
}

func geminiMessages(data []byte, b *thread) (head gjson.Result, messages []gjson.Result, err error) {
	head, err = document(data)
	if list := head.Get("messages"); err == nil && list.IsArray() {
		return head, list.Array(), nil
	}
	place, read := map[string]int{}, 0
	for _, r := range lines(data, b.broken) {
		read++
		id := r.Get("id").Str
		i, again := place[id]
		switch {
		case has(r, "sessionId"):
			head = r
		case !has(r, "type"):
		case again && id != "":
			messages[i] = r
		default:
			place[id] = len(messages)
			messages = append(messages, r)
		}
	}
	if read == 0 { // no lines either
		return head, nil, err
	}
	return head, messages, nil
}

// gemini adds a message, which has its calls together with their results.
func (b *thread) gemini(m gjson.Result) {
	switch m.Get("type").Str {
	case "user":
		b.message(said(graphstore.User, m.Get("content")))
	case "gemini":
		s := b.turn()
		c := readContent(m.Get("content"))
		s.Thought = c.text
		s.Model, s.Time = m.Get("model").Str, stamp(m.Get("timestamp"))
		b.t.Model = cmp.Or(b.t.Model, s.Model)
		b.t.Notes.Images += c.images
		for _, t := range m.Get("thoughts").Array() {
			s.Thinking = joinText(s.Thinking, t.Get("subject").String()+": "+t.Get("description").String())
		}
		calls := m.Get("toolCalls").Array()
		for _, k := range calls {
			b.call(k.Get("id").Str, k.Get("name").Str, plain(k.Get("args")))
			if o, ok := geminiResult(k); ok {
				b.result("", o)
			}
		}
	default: // info, warning, error: shown to the user
		b.message(said(graphstore.System, m.Get("content")))
	}
}

// geminiResult reads what a call brought; ok is false if it was never answered.
func geminiResult(call gjson.Result) (o graphstore.Observation, ok bool) {
	status := call.Get("status").Str
	o.Failed = status == "error" || status == "cancelled"
	parts := call.Get("result")
	if parts.IsObject() || parts.Type == gjson.String {
		o.Text = geminiPart(parts, &o.Images)
		ok = true
	}
	for _, p := range parts.Array() {
		if parts.IsArray() {
			o.Text = joinText(o.Text, geminiPart(p, &o.Images))
			ok = true
		}
	}
	if !ok && (o.Failed || status == "success") {
		o.Text, ok = plain(call.Get("resultDisplay")), true
	}
	o.ExitCode = exitCodeIn(o.Text, exitLine)
	return o, ok
}

func geminiPart(p gjson.Result, images *int) string {
	if r := p.Get("functionResponse.response"); r.Exists() {
		*images += len(p.Get("functionResponse.parts.#.inlineData").Array())
		return cmp.Or(plain(r.Get("output")), plain(r.Get("error")), plain(r))
	}
	c := readContent(p)
	*images += c.images
	return c.text
}

// geminiStreamFormat is what gemini --output-format stream-json prints. A file may hold several runs.
var geminiStreamFormat = format{
	name: "gemini-cli-stream",
	detect: func(_ string, head []byte) float64 {
		score := 0.0
		for _, r := range records(head, 20) {
			switch kind := r.Get("type").Str; {
			case kind == "init" && has(r, "session_id", "model"), kind == "tool_use" && has(r, "tool_id", "tool_name"), kind == "tool_result" && has(r, "tool_id"):
				return 0.95
			case kind == "message" && has(r, "role", "content") && !has(r, "id"):
				score = 0.5
			}
		}
		return score
	},
	parse: parseGeminiStream,
}

func parseGeminiStream(data []byte) ([]*Trajectory, error) {
	var ts []*Trajectory
	b := newThread()
	for n, r := range lines(data, func(format string, args ...any) { b.broken(format, args...) }) {
		if r.Get("type").Str == "init" && n > 1 && (len(b.t.Steps) > 0 || len(b.before) > 0) {
			ts = append(ts, b.done())
			b = newThread()
		}
		b.geminiEvent(r)
	}
	return append(ts, b.done()), nil
}

// geminiEvent adds a line. Results end the turn: what one reply called comes before them.
func (b *thread) geminiEvent(r gjson.Result) {
	b.t.Agent = "gemini-cli"
	at := stamp(r.Get("timestamp"))
	switch r.Get("type").Str {
	case "init":
		b.t.Name, b.t.Model, b.t.Start = r.Get("session_id").Str, r.Get("model").Str, at
	case "message":
		if r.Get("role").Str != "assistant" {
			b.message(said(graphstore.User, r.Get("content")))
			return
		}
		s := b.step()
		s.Model, s.Time = b.t.Model, at
		if c := readContent(r.Get("content")).text; r.Get("delta").Bool() {
			s.Thought += c
		} else {
			s.Thought = joinText(s.Thought, c)
		}
	case "tool_use":
		s := b.step()
		s.Model, s.Time = b.t.Model, at
		b.call(r.Get("tool_id").Str, r.Get("tool_name").Str, plain(r.Get("parameters")))
	case "tool_result":
		o := graphstore.Observation{Failed: r.Get("status").Str == "error"}
		o.Text = cmp.Or(plain(r.Get("output")), plain(r.Get("error.message")))
		o.ExitCode = exitCodeIn(o.Text, exitLine)
		b.answer(r.Get("tool_id").Str, o)
		b.open = false
	case "error":
		b.message(said(graphstore.System, r.Get("message")))
	}
}
