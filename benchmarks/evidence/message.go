package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/engine"
)

// What is counted of a message is one fixed text: JSON with sorted keys, a space after commas and colons,
// and no character escaped but those that must be. Whoever writes JSON otherwise is not charged for it.

// dump is the text of a woven message.
func dump(p engine.Prompt) string {
	var b strings.Builder
	b.Grow(len(p.Content) + len(p.Content)/16 + 64)
	b.WriteString(`{"content": `)
	quote(&b, p.Content)
	if p.Thinking != "" {
		b.WriteString(`, "reasoning_content": `)
		quote(&b, p.Thinking)
	}
	b.WriteString(`, "role": `)
	quote(&b, p.Role)
	if p.CallID != "" {
		b.WriteString(`, "tool_call_id": `)
		quote(&b, p.CallID)
	}
	for i, c := range p.Calls {
		if i == 0 {
			b.WriteString(`, "tool_calls": [`)
		} else {
			b.WriteString(`, `)
		}
		b.WriteString(`{"function": {"arguments": `)
		quote(&b, c.Args)
		b.WriteString(`, "name": `)
		quote(&b, c.Name)
		b.WriteString(`}, "id": `)
		quote(&b, c.ID)
		b.WriteString(`, "type": "function"}`)
	}
	if len(p.Calls) > 0 {
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return b.String()
}

// redump is the text of a message that is JSON already.
func redump(raw []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	var b strings.Builder
	write(&b, v)
	return b.String(), nil
}

func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		quote(b, v)
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, x)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			quote(b, k)
			b.WriteString(": ")
			write(b, v[k])
		}
		b.WriteByte('}')
	case nil:
		b.WriteString("null")
	default: // a bool or a json.Number
		fmt.Fprint(b, v)
	}
}

// quote writes a JSON string in which only quotes, backslashes and control characters are escaped.
func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	done := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(s[done:i])
		done = i + 1
		if short := strings.IndexByte("\"\\\n\r\t\b\f", c); short >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`"\nrtbf`[short])
		} else {
			fmt.Fprintf(b, `\u%04x`, c)
		}
	}
	b.WriteString(s[done:])
	b.WriteByte('"')
}

// message is one message of a context, as it is counted and searched. Equal messages of a run are one.
type message struct {
	text  string // what is counted
	plain string // what is searched: text, with its escapes undone
	size  int    // of text, in characters
	holds []int8 // by the id of a demand: 0 not looked up yet, 1 in it, -1 not
}

func newMessage(text string, demands int) *message {
	return &message{text: text, plain: unescape(text), size: utf8.RuneCountInString(text), holds: make([]int8, demands)}
}

// has reports whether the message holds what is demanded. No reference has a line break in it, so none
// lies across two messages.
func (m *message) has(d demand) bool {
	if m.holds[d.id] == 0 {
		m.holds[d.id] = -1
		if strings.Contains(m.plain, d.Text) {
			m.holds[d.id] = 1
		}
	}
	return m.holds[d.id] > 0
}

// common counts the characters of the longest common prefix of two texts.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return utf8.RuneCountInString(a[:n])
}
