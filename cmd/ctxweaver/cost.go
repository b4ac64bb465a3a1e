package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
	tokens   float64 // of all prompts
	uncached float64 // of those, outside the common prefix
	previous []string
}

// add takes in the next request.
func (m *meter) add(w *engine.Window) error {
	parts := make([]string, len(w.Messages))
	size := 0
	for i, p := range w.Messages {
		b, err := p.MarshalJSON()
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		parts[i] = string(b)
		size += utf8.RuneCount(b)
	}
	share := 1.0
	if size > 0 && m.requests > 0 {
		share = 1 - float64(common(m.previous, parts))/float64(size)
	}
	m.requests++
	m.tokens += float64(w.Tokens)
	m.uncached += share * float64(w.Tokens)
	m.previous = parts
	return nil
}

// common counts the characters of the longest common prefix.
func common(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n += utf8.RuneCountInString(b[i])
			continue
		}
		j := 0
		for j < min(len(a[i]), len(b[i])) && a[i][j] == b[i][j] {
			j++
		}
		return n + utf8.RuneCountInString(strings.ToValidUTF8(b[i][:j], ""))
	}
	return n
}

// cost is that of all requests, in tokens at the input price.
func (m *meter) cost() float64 {
	return cachedRead*(m.tokens-m.uncached) + cachedWrite*m.uncached
}
