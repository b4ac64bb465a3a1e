package importer

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// blocks yields the blocks of an Anthropic content, which may be a plain string.
func blocks(content gjson.Result) []gjson.Result {
	switch {
	case content.Type == gjson.String:
		return []gjson.Result{gjson.Parse(`{"type":"text","text":` + content.Raw + `}`)}
	case content.IsArray():
		return content.Array()
	}
	return nil
}

// reply adds the blocks of an assistant's message to the turn that is being built.
func (b *thread) reply(content gjson.Result) {
	s := b.step()
	for _, c := range blocks(content) {
		switch kind := c.Get("type").Str; {
		case kind == "thinking":
			s.Thinking = joinText(s.Thinking, c.Get("thinking").String())
		case kind == "text":
			s.Thought = joinText(s.Thought, c.Get("text").String())
		case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
			b.call(c.Get("id").String(), c.Get("name").String(), plain(c.Get("input")))
		case strings.HasSuffix(kind, "tool_result"): // of a tool that the provider runs
			b.toolResult(c)
		case kind == "image":
			b.t.Notes.Images++
		}
	}
}

// toolResult answers a call with a tool_result block.
func (b *thread) toolResult(block gjson.Result) {
	c := readContent(block.Get("content"))
	o := graphstore.Observation{Text: c.text, Images: c.images, Failed: block.Get("is_error").Bool()}
	if o.Failed {
		o.ExitCode = exitCodeIn(o.Text, exitFirstLine)
	}
	b.answer(block.Get("tool_use_id").String(), o)
}

// answer is result for formats that always write ids: without one, the result is an orphan.
func (b *thread) answer(id string, o graphstore.Observation) {
	if id == "" {
		b.last = nil
	}
	b.result(id, o)
}

// heard adds what a user's message says: results answer their calls, the blocks between them are
// messages. role tells who a text is really from.
func (b *thread) heard(content gjson.Result, role func(text string) graphstore.Role) {
	var m graphstore.Message
	for _, c := range blocks(content) {
		if strings.HasSuffix(c.Get("type").Str, "tool_result") {
			b.message(m)
			m = graphstore.Message{}
			b.toolResult(c)
			continue
		}
		part := said(graphstore.User, c)
		part.Role = role(part.Text)
		if part.Text == "" {
			part.Role = cmp.Or(m.Role, graphstore.User)
		}
		if m.Role != part.Role {
			b.message(m)
			m = graphstore.Message{Role: part.Role}
		}
		m.Text = joinText(m.Text, part.Text)
		m.Images += part.Images
	}
	b.message(m)
}

// anthropicFormat is the Messages API as clients send it: a request body, a list of messages, or
// either one a line. Requests of one conversation, each longer than the one before, are read as
// one trajectory.
var anthropicFormat = format{
	name: "anthropic-messages",
	detect: func(_ string, head []byte) float64 {
		messages, sure := records(head, 40), 0.3
		if len(messages) > 0 && messages[0].Get("messages").IsArray() {
			if body := messages[0]; has(body, "system") || has(body, "max_tokens") && !has(body, "tools.0.function") {
				sure = 0.6
			}
			messages = messages[0].Get("messages").Array()
		} else if len(messages) == 0 { // a list of lists
			messages = gjson.GetBytes(head, "0").Array()
		}
		return anthropicScore(messages, sure)
	},
	parse: parseAnthropic,
}

// anthropicScore judges messages: sure if nothing speaks against it, more if they have blocks that only
// this API has.
func anthropicScore(messages []gjson.Result, sure float64) float64 {
	if len(messages) == 0 {
		return 0
	}
	for _, m := range messages {
		role := m.Get("role").Str
		if role != "user" && role != "assistant" || has(m, "tool_calls") {
			return 0
		}
		for _, c := range blocks(m.Get("content")) {
			switch kind := c.Get("type").Str; {
			case kind == "tool_use" && has(c, "input"), kind == "tool_result", kind == "thinking":
				sure = max(sure, 0.8)
			}
		}
	}
	return sure
}

func parseAnthropic(data []byte) ([]*Trajectory, error) {
	rows, broken, err := jsonRows(data)
	if err != nil {
		return nil, err
	}
	var requests []*Trajectory
	if len(rows) > 0 && rows[0].Get("role").Exists() {
		requests = append(requests, anthropicRequest(gjson.Result{}, rows))
	} else {
		for _, r := range rows {
			switch {
			case r.IsArray():
				requests = append(requests, anthropicRequest(gjson.Result{}, r.Array()))
			case r.Get("messages").IsArray():
				requests = append(requests, anthropicRequest(r, r.Get("messages").Array()))
			default:
				broken = append(broken, "a row without messages")
			}
		}
	}
	ts := conversations(requests)
	if len(ts) > 0 {
		ts[0].Notes.Broken = broken
	}
	return ts, nil
}

func anthropicRequest(body gjson.Result, messages []gjson.Result) *Trajectory {
	b := newThread()
	b.t.Model = body.Get("model").String()
	b.message(said(graphstore.System, body.Get("system")))
	for _, m := range messages {
		switch m.Get("role").Str {
		case "assistant":
			b.reply(m.Get("content"))
			b.step().Model = b.t.Model
		case "system":
			b.message(said(graphstore.System, m.Get("content")))
		default:
			b.heard(m.Get("content"), func(string) graphstore.Role { return graphstore.User })
			b.open = false
		}
	}
	return b.done()
}
