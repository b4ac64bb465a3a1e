package compress

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// encoding names one of tiktoken's vocabularies. load returns its encoder, made at the first call.
type encoding struct {
	name string
	load func() *encoder
}

// How each encoding splits text before it merges bytes.
const (
	pattern200k = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	pattern100k = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	pattern50k  = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

var encodings = []*encoding{
	newEncoding(DefaultEncoding, pattern200k),
	newEncoding("cl100k_base", pattern100k),
	newEncoding("p50k_base", pattern50k),
	newEncoding("r50k_base", pattern50k),
}

func newEncoding(name, pattern string) *encoding {
	return &encoding{name, sync.OnceValue(func() *encoder { return newEncoder(name, pattern) })}
}

// encoder counts pieces, and remembers the counts of those seen lately: text is mostly the same
// few thousand words, and splitting and merging them is a hundred times as slow as looking them up.
type encoder struct {
	bpe  *tiktoken.Tiktoken
	seed maphash.Seed
	seen [1 << 16]atomic.Pointer[seen] // by hash; a newer piece takes an older one's place
}

// seen is a piece and its tokens.
type seen struct {
	piece  string
	tokens int
}

// longestSeen bounds what a full table holds to 8 MB. Longer pieces hardly ever come again.
const longestSeen = 64

// newEncoder reads an embedded vocabulary. It does without tiktoken.GetEncoding, which takes
// vocabularies from wherever a variable of the whole program says: by default, the network.
func newEncoder(name, pattern string) *encoder {
	e := &encoder{seed: maphash.MakeSeed()}
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return e
	}
	bpe, err := tiktoken.NewCoreBPE(ranks, nil, pattern) // nil: nothing in a text is special
	if err != nil {
		return e
	}
	e.bpe = tiktoken.NewTiktoken(bpe, nil, nil)
	return e
}

func (e *encoder) count(piece string) int {
	if len(piece) > longestSeen {
		return e.encode(piece)
	}
	slot := &e.seen[maphash.String(e.seed, piece)%uint64(len(e.seen))]
	if s := slot.Load(); s != nil && s.piece == piece {
		return s.tokens
	}
	n := e.encode(piece)
	slot.Store(&seen{strings.Clone(piece), n}) // a clone, so as not to hold the whole text
	return n
}

// encode counts by the library. The vocabularies are compiled in and a test reads each, so there is
// always one; without it the count would be a token a byte, which no encoding exceeds.
func (e *encoder) encode(piece string) int {
	if e.bpe == nil {
		return len(piece)
	}
	return len(e.bpe.EncodeOrdinary(piece))
}
