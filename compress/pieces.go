package compress

import (
	"unicode"
	"unicode/utf8"
)

// longest is how many bytes go to the encoder at once. Its merging is quadratic: at this size a
// megabyte without a boundary takes about half a second. A power of two, since the vocabularies
// have tokens for runs of 16 to 128 blanks, dashes and the like, which then are not cut.
const longest = 512

// next is the length of the piece that text begins with: up to the first boundary, and no more
// than longest.
func next(text string) int {
	previous, size := none, 0
	for i, r := range text {
		k := kindOf(r)
		size += utf8.RuneLen(r) // an invalid byte grows to three
		if boundary(previous, k) || size > longest {
			return i
		}
		previous = k
	}
	return len(text)
}

// kind sorts runes by what the encodings' patterns can tell apart.
type kind byte

const (
	none    kind = iota // before the first rune
	blank               // white space, but for the next
	newline             // \r and \n, which some patterns join to signs
	letter
	number
	sign  // punctuation, symbols, controls: whatever is nothing else
	joint // marks and the apostrophe, which some patterns join to letters
)

// boundary reports whether every encoding ends a token between neighbours of these kinds, whatever
// stands before and after them, so that the two sides can be counted apart. A blank is never
// parted from what follows it, since the patterns look ahead there.
func boundary(a, b kind) bool {
	switch b {
	case blank:
		return a > newline
	case newline, sign:
		return a == letter || a == number
	case letter:
		return a == number
	case number:
		return a == letter
	}
	return false
}

func kindOf(r rune) kind {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return letter
	case r == ' ':
		return blank
	case '0' <= r && r <= '9':
		return number
	case r == '\n', r == '\r':
		return newline
	case r == '\'':
		return joint
	case unicode.IsSpace(r):
		return blank
	case r < utf8.RuneSelf:
		return sign
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsMark(r):
		return joint
	}
	return sign
}
