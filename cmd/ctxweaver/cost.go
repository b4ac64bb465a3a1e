package main

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// What a token of the prompt costs at a provider that caches prompts, in units of the input price.
const (
	cachedRead  = 0.1
	cachedWrite = 1.25
)

// meter adds up what the requests of a run cost. A request reads from the cache the longest prefix, message
// by message and then character by character, that it has in common with the request before.
type meter struct {
	requests int
	tokens   int // of all prompts
	uncached int // of those, outside the common prefix
	count    compress.Counter
	previous []engine.Prompt
}

// add takes in the next request.
func (m *meter) add(w *engine.Window) {
	m.requests++
	m.tokens += w.Tokens
	m.uncached += min(w.Tokens, m.outside(w.Messages))
	m.previous = w.Messages
}

// outside counts the tokens of what does not continue the previous request's prefix.
func (m *meter) outside(messages []engine.Prompt) int {
	first := 0
	for first < min(len(messages), len(m.previous)) && same(messages[first], m.previous[first]) {
		first++
	}
	tokens := 0
	for i, p := range messages[first:] {
		text := flat(p)
		if i == 0 && first < len(m.previous) {
			text = text[common(text, flat(m.previous[first])):]
		}
		tokens += m.count.Count(text)
	}
	return tokens
}

// flat is all that a message says, as one text.
func flat(p engine.Prompt) string {
	parts := []string{p.Role, p.CallID, p.Thinking, p.Content}
	for _, c := range p.Calls {
		parts = append(parts, c.ID, c.Name, c.Args)
	}
	return strings.Join(parts, "\n")
}

// common is the length of the longest common prefix that ends between characters.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// cost is that of all requests, in tokens at the input price.
func (m *meter) cost() float64 {
	return cachedRead*float64(m.tokens-m.uncached) + cachedWrite*float64(m.uncached)
}
