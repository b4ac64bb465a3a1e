package importer

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// plain is the text of a value that ought to be text: a string as it is, nothing for null or a
// missing value, and any other value as compact JSON.
func plain(v gjson.Result) string {
	switch v.Type {
	case gjson.String:
		return v.Str
	case gjson.Null:
		return ""
	}
	return compact(v.Raw)
}

// compact is JSON without white space, and with characters instead of \u escapes, so that its words are
// the same as in other texts. What is not JSON stays as it is.
func compact(raw string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return raw
	}
	return unescape(b.String())
}

// unescape writes the \uXXXX escapes of JSON as the characters that they stand for, where JSON
// allows it.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		r, n := escaped(s[i:])
		if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError {
			b.WriteString(s[i : i+n])
		} else {
			b.WriteRune(r)
		}
		s = s[i+n:]
	}
}

// escaped reads the escape at the start of s: its character, if it is a \u escape of one, and its
// length.
func escaped(s string) (rune, int) {
	r, ok := hexRune(s)
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hexRune(s[6:]); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func hexRune(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// content is what a message's content holds: a string, a block, or a list of either.
type content struct {
	text, thinking string
	images         int
}

// maxNesting bounds how deep blocks within blocks are read.
const maxNesting = 8

func readContent(v gjson.Result) content {
	var c content
	var text, thinking []string
	c.read(v, maxNesting, &text, &thinking)
	c.text, c.thinking = strings.Join(text, "\n"), strings.Join(thinking, "\n")
	return c
}

func (c *content) read(v gjson.Result, depth int, text, thinking *[]string) {
	switch {
	case v.Type == gjson.String:
		*text = append(*text, v.Str)
	case depth == 0:
	case v.IsArray():
		v.ForEach(func(_, b gjson.Result) bool {
			c.read(b, depth-1, text, thinking)
			return true
		})
	case v.IsObject():
		c.block(v, depth-1, text, thinking)
	}
}

func (c *content) block(b gjson.Result, depth int, text, thinking *[]string) {
	kind, words := b.Get("type").Str, b.Get("text")
	switch {
	case kind == "image" || kind == "image_url" || kind == "input_image" || b.Get("image_url").Exists() || b.Get("inlineData").Exists():
		c.images++
	case b.Get("thinking").Type == gjson.String:
		*thinking = append(*thinking, b.Get("thinking").Str)
	case words.Type == gjson.String && kind == "reasoning":
		*thinking = append(*thinking, words.Str)
	case words.Type == gjson.String:
		*text = append(*text, words.Str)
	case b.Get("content").Exists():
		c.read(b.Get("content"), depth, text, thinking)
	}
}

// said is a Message of that content.
func said(role graphstore.Role, v gjson.Result) graphstore.Message {
	c := readContent(v)
	return graphstore.Message{Role: role, Text: c.text, Images: c.images}
}

// observed is the Observation of that content.
func observed(v gjson.Result) graphstore.Observation {
	c := readContent(v)
	return graphstore.Observation{Text: c.text, Images: c.images}
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

// exitCode is the number that a field holds, or nil.
func exitCode(v gjson.Result) *int {
	if v.Type != gjson.Number {
		return nil
	}
	n := int(v.Int())
	return &n
}

// stamp is the moment that a timestamp names: ISO 8601, with or without a zone (then UTC), or
// seconds or milliseconds since 1970. The zero time stands for none.
func stamp(v gjson.Result) time.Time {
	const year5138, year9892 = 1e11, 2.5e14 // in seconds, after which it is milliseconds; in those
	switch n := v.Num; {
	case v.Type != gjson.Number:
	case n > 0 && n <= year5138:
		return time.UnixMicro(int64(n * 1e6)).UTC()
	case n > year5138 && n <= year9892:
		return time.UnixMilli(int64(n)).UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime} {
		if t, err := time.Parse(layout, v.Str); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
