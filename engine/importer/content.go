package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// document reads data that is one JSON value.
func document(data []byte) (gjson.Result, error) {
	var v json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&v); err != nil {
		return gjson.Result{}, fmt.Errorf("not whole JSON after %d bytes: %w", d.InputOffset(), err)
	}
	if d.More() {
		return gjson.Result{}, fmt.Errorf("more than one JSON value, the second at byte %d", d.InputOffset())
	}
	return gjson.ParseBytes(v), nil
}

// plain is the text of a value that ought to be text: a string as it is, nothing for null or a
// missing value, and any other value as compact JSON.
func plain(v gjson.Result) string {
	switch v.Type {
	case gjson.String:
		return v.Str
	case gjson.Null:
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(v.Raw)) != nil {
		return v.Raw
	}
	return b.String()
}

// content is what a message's content holds: a string, a block, or a list of either.
type content struct {
	text, thinking string
	images         int
}

func readContent(v gjson.Result) content {
	var text, thinking []string
	var c content
	c.read(v, &text, &thinking)
	c.text, c.thinking = strings.Join(text, "\n"), strings.Join(thinking, "\n")
	return c
}

func (c *content) read(v gjson.Result, text, thinking *[]string) {
	switch {
	case v.Type == gjson.String:
		*text = append(*text, v.Str)
	case v.IsArray():
		v.ForEach(func(_, b gjson.Result) bool {
			c.read(b, text, thinking)
			return true
		})
	case v.IsObject():
		c.block(v, text, thinking)
	}
}

func (c *content) block(b gjson.Result, text, thinking *[]string) {
	kind := b.Get("type").Str
	switch {
	case kind == "image" || kind == "image_url" || kind == "input_image" || b.Get("image_url").Exists() || b.Get("inlineData").Exists():
		c.images++
	case b.Get("thinking").Type == gjson.String:
		*thinking = append(*thinking, b.Get("thinking").Str)
	case b.Get("text").Type == gjson.String && kind == "reasoning":
		*thinking = append(*thinking, b.Get("text").Str)
	case b.Get("text").Type == gjson.String:
		*text = append(*text, b.Get("text").Str)
	case b.Get("content").Exists():
		c.read(b.Get("content"), text, thinking)
	}
}

// cutThinking takes from a visible text the reasoning that some servers leave in it: all that
// stands before "</think>".
func cutThinking(text string) (thinking, rest string) {
	thinking, rest, ok := strings.Cut(text, "</think>")
	if !ok {
		return "", text
	}
	thinking = strings.TrimPrefix(strings.TrimSpace(thinking), "<think>")
	return strings.TrimSpace(thinking), strings.TrimLeft(rest, "\r\n")
}

// joinText joins what is not empty by line breaks.
func joinText(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}

// jsonLines calls f with every line that holds a JSON value, counted from 1, and bad with every other that
// is not blank.
func jsonLines(data []byte, f func(line int, v gjson.Result), bad func(line int)) {
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case gjson.ValidBytes(line):
			f(n, gjson.ParseBytes(line))
		default:
			bad(n)
		}
	}
}

// exitCode is the number that a field holds, or nil.
func exitCode(v gjson.Result) *int {
	if v.Type != gjson.Number {
		return nil
	}
	n := int(v.Int())
	return &n
}

// jsonRows reads a JSON list, a single JSON value, or JSON lines, of which broken ones are named.
func jsonRows(data []byte) (rows []gjson.Result, broken []string, err error) {
	v, err := document(data)
	switch {
	case err == nil && v.IsArray():
		return v.Array(), nil, nil
	case err == nil:
		return []gjson.Result{v}, nil, nil
	}
	jsonLines(data, func(_ int, v gjson.Result) { rows = append(rows, v) }, func(n int) {
		broken = append(broken, fmt.Sprintf("line %d: not JSON", n))
	})
	if len(rows) == 0 {
		return nil, nil, err
	}
	return rows, broken, nil
}

// stamp is the moment that a timestamp names: ISO 8601, with or without a zone (then UTC), or
// seconds since 1970. The zero time stands for none.
func stamp(v gjson.Result) time.Time {
	if v.Type == gjson.Number && v.Num > 0 && v.Num < 1e11 {
		return time.UnixMicro(int64(v.Num * 1e6)).UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, v.Str); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
