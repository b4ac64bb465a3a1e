package importer

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// opencodeFormat is what opencode export prints: one session, one object.
var opencodeFormat = format{
	name: "opencode-export",
	detect: func(_ string, head []byte) float64 {
		d := gjson.ParseBytes(head)
		switch m := d.Get("messages.0"); {
		case m.Get("info.role").Exists() && has(m, "parts"):
			return 0.95
		case strings.HasPrefix(d.Get("info.id").Str, "ses_"):
			return 0.8
		}
		return 0
	},
	parse: parseOpencode,
}

func parseOpencode(data []byte) ([]*Trajectory, error) {
	d, err := document(data)
	if err != nil {
		return nil, err
	}
	b := newThread()
	info := d.Get("info")
	b.t.Name, b.t.Parent = info.Get("id").Str, info.Get("parentID").Str
	b.t.Title, b.t.Dir = info.Get("title").Str, info.Get("directory").Str
	b.t.Agent = "opencode"
	b.t.Start = stamp(info.Get("time.created"))
	for _, m := range d.Get("messages").Array() {
		if m.Get("info.role").Str == "assistant" {
			b.opencodeTurn(m)
		} else {
			b.opencodeUser(m)
		}
	}
	return []*Trajectory{b.done()}, nil
}

func (b *thread) opencodeUser(m gjson.Result) {
	for _, p := range m.Get("parts").Array() {
		switch p.Get("type").Str {
		case "text":
			msg := graphstore.Message{Role: graphstore.User, Text: p.Get("text").String()}
			if p.Get("synthetic").Bool() { // the client says it in the user's name
				msg.Role = graphstore.System
			}
			b.message(msg)
		case "file":
			if strings.HasPrefix(p.Get("mime").Str, "image/") {
				b.message(graphstore.Message{Role: graphstore.User, Images: 1})
			}
		}
	}
}

// opencodeTurn adds a message of the model. Older versions keep several turns in one, each after a
// step-start.
func (b *thread) opencodeTurn(m gjson.Result) {
	info, parts := m.Get("info"), m.Get("parts").Array()
	if info.Get("summary").Bool() {
		b.opencodeSummary(parts)
		return
	}
	b.open = false
	begin := func() *graphstore.Step {
		if b.open {
			return b.step()
		}
		s := b.turn()
		s.Model, s.Time = info.Get("modelID").Str, stamp(info.Get("time.created"))
		b.t.Model = cmp.Or(b.t.Model, s.Model)
		return s
	}
	for _, p := range parts {
		switch p.Get("type").Str {
		case "step-start":
			b.open = false
		case "text":
			s := begin()
			s.Thought = joinText(s.Thought, p.Get("text").String())
		case "reasoning":
			s := begin()
			s.Thinking = joinText(s.Thinking, p.Get("text").String())
		case "tool":
			begin()
			b.opencodeCall(p)
		}
	}
}

// opencodeSummary adds what the client put in the place of its history.
func (b *thread) opencodeSummary(parts []gjson.Result) {
	m := graphstore.Message{Role: graphstore.User, Compaction: true}
	for _, p := range parts {
		if p.Get("type").Str == "text" {
			m.Text = joinText(m.Text, p.Get("text").String())
		}
	}
	b.message(m)
}

// opencodeCall adds a tool part, which holds the call and its result.
func (b *thread) opencodeCall(p gjson.Result) {
	state := p.Get("state")
	b.call(p.Get("callID").Str, p.Get("tool").Str, plain(state.Get("input")))
	o := graphstore.Observation{Failed: state.Get("status").Str == "error"}
	switch {
	case o.Failed:
		o.Text = plain(state.Get("error"))
	case has(state, "output"):
		o.Text = plain(state.Get("output"))
	default: // pending or running when the session was exported
		return
	}
	for _, a := range state.Get("attachments").Array() {
		if strings.HasPrefix(a.Get("mime").Str, "image/") {
			o.Images++
		}
	}
	o.ExitCode = exitCode(state.Get("metadata.exit"))
	b.result("", o)
}
