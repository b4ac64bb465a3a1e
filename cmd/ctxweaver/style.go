package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// style colours text for a terminal; the zero value leaves it plain.
type style struct{ on bool }

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }

// oneLine makes of any text one line that cannot steer a terminal.
func oneLine(text string) string {
	return strings.Join(strings.Fields(visible(text)), " ")
}

// visible shows control characters instead of obeying them, all but line ends and tabs: what is
// stored was written by strangers.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r < 0x20:
			return 0x2400 + r // ␀ … ␟
		case r == 0x7f:
			return '␡'
		case r == unicode.ReplacementChar || steers(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// steers reports whether a terminal obeys a rune beyond ASCII: a C1 control, or one that turns the direction.
func steers(r rune) bool { return r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) }

// escaped writes as \u escapes what would steer a terminal in a JSON text and is not escaped there anyway. To
// who reads the JSON it is the same.
func escaped(text []byte) []byte {
	steering := func(r rune) bool { return r == 0x7f || steers(r) }
	if bytes.IndexFunc(text, steering) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if steering(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// columns is how many columns the text takes.
func columns(text string) int { return runewidth.StringWidth(text) }

// shorten cuts the text to so many columns, with an ellipsis where something is missing.
func shorten(text string, most int) string {
	if most < 1 {
		return ""
	}
	return runewidth.Truncate(text, most, "…")
}

// shortenFront cuts the beginning of the text, so that its end takes so many columns.
func shortenFront(text string, most int) string {
	over := columns(text) - most
	if over <= 0 {
		return text
	}
	return runewidth.TruncateLeft(text, over+1, "…")
}

// shortenName cuts the middle out of a name that is too long.
func shortenName(name string, most int) string {
	if columns(name) <= most || most < 3 {
		return shorten(name, most)
	}
	end := []rune(name)
	for columns(string(end)) > (most-1)/2 {
		end = end[1:]
	}
	return shorten(name, most-columns(string(end))) + string(end)
}

// pad fills the text up to so many columns, with spaces after it or before it.
func pad(text string, to int, right bool) string {
	space := strings.Repeat(" ", max(0, to-columns(text)))
	if right {
		return space + text
	}
	return text + space
}
