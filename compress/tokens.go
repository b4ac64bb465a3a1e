// Package compress measures text in tokens and makes it shorter.
//
// A Counter counts the tokens of a text. Placeholder and HeadTail are two ways to shorten an
// observation: to nothing but its size, and to its two ends.
//
// Cut cuts observations into runs of lines. A Ranker follows a session and tells of each run how
// likely the agent's next calls take something from it, by Weights that Fit learns; its Choose picks
// those that are worth their tokens.
//
// All work on plain text and numbers, are deterministic, and accept any input.
package compress

import (
	"fmt"
	"strings"
)

// DefaultEncoding is what NewCounter takes for "".
const DefaultEncoding = "o200k_base"

// Counter counts tokens in one encoding. It is safe for concurrent use. The zero Counter counts in
// DefaultEncoding.
type Counter struct {
	enc *encoding
}

// NewCounter returns a counter for the named encoding of tiktoken: o200k_base, cl100k_base,
// p50k_base or r50k_base; "" is DefaultEncoding. The vocabularies are part of the program: nothing
// is ever downloaded. Loading one takes about half a second and is put off until something is
// counted; counters of one encoding share it.
func NewCounter(name string) (*Counter, error) {
	if name == "" {
		name = DefaultEncoding
	}
	known := make([]string, len(encodings))
	for i, e := range encodings {
		if e.name == name {
			return &Counter{e}, nil
		}
		known[i] = e.name
	}
	return nil, fmt.Errorf("compress: unknown encoding %q: use one of %s", name, strings.Join(known, ", "))
}

// Encoding is the name of the counter's encoding.
func (c *Counter) Encoding() string { return c.encoding().name }

// Count returns how many tokens text has. Special tokens such as <|endoftext|> count as the plain
// text they are in a message, and each invalid byte as U+FFFD.
//
// The count is exact but for runs of more than 512 bytes without any boundary between words,
// numbers, signs and blanks. Such a run is counted in pieces of 512 bytes, which moves the count
// by at most two tokens a piece, and mostly by none.
func (c *Counter) Count(text string) int {
	enc := c.encoding().load()
	n := 0
	for text != "" {
		piece := text[:next(text)]
		n += enc.count(piece)
		text = text[len(piece):]
	}
	return n
}

// Behind returns by how many tokens text grows when more is put behind it, without counting it anew: Count(text+more) -
// Count(text), where more begins with a whole rune. That may be more than Count(more), since the end of text and the
// beginning of more can make one run, which the encoding divides otherwise.
func (c *Counter) Behind(text, more string) int {
	for {
		piece := next(text)
		if piece == len(text) {
			return c.Count(text+more) - c.Count(text)
		}
		text = text[piece:]
	}
}

func (c *Counter) encoding() *encoding {
	if c.enc == nil {
		return encodings[0]
	}
	return c.enc
}
