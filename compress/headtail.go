package compress

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Omission says how much of a text is left out. The zero Omission is nothing.
type Omission struct {
	Lines int // lines of which all or a part is gone
	Bytes int
}

// HeadTail shortens text to at most budget bytes: its first lines and its last, half the budget
// each as far as lines allow, and between them a line such as
//
//	... (212 lines, 9480 bytes left out)
//
// Lines stay whole. Only a first or last line that is by itself over the budget is cut, between
// runes. A text within the budget comes back as it is, with no Omission; under a budget too small
// for anything else, what comes back is the line between alone, which may then exceed it.
func HeadTail(text string, budget int) (string, Omission) {
	if len(text) <= budget {
		return text, Omission{}
	}
	room := max(0, budget-len(between(text))-1) // 1: the newline after a head cut within a line
	head := first(text, room/2, room)
	tail := last(text, room-len(head), room)
	if h := first(text, room-len(tail), room); strings.HasSuffix(h, "\n") {
		head = h // what the tail had no use for
	}
	gone := text[len(head) : len(text)-len(tail)]
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + between(gone) + tail, omission(gone)
}

// between is the line that stands for what is gone.
func between(gone string) string {
	o := omission(gone)
	return fmt.Sprintf("... (%d lines, %d bytes left out)\n", o.Lines, o.Bytes)
}

func omission(gone string) Omission {
	n := strings.Count(gone, "\n")
	if !strings.HasSuffix(gone, "\n") {
		n++ // a last line without an end
	}
	return Omission{Lines: n, Bytes: len(gone)}
}

// first is as many of text's first lines as fit in n bytes, or the beginning of the first line if
// that is over room.
func first(text string, n, room int) string {
	if i := strings.LastIndexByte(text[:n], '\n'); i >= 0 {
		return text[:i+1]
	}
	if line, _, _ := strings.Cut(text, "\n"); len(line) < room {
		return ""
	}
	return text[:runeStart(text, n, -1)]
}

// last is as many of text's last lines as fit in n bytes, or the end of the last line if that is
// over room.
func last(text string, n, room int) string {
	from := len(text) - n
	if from > 0 && text[from-1] == '\n' {
		return text[from:]
	}
	body := strings.TrimSuffix(text, "\n")
	if from < len(body) {
		if i := strings.IndexByte(body[from:], '\n'); i >= 0 {
			return text[from+i+1:]
		}
	}
	if len(text)-strings.LastIndexByte(body, '\n')-1 <= room {
		return ""
	}
	return text[runeStart(text, from, 1):]
}

// runeStart is the place nearest to i in the direction of step where a rune begins. In bytes that
// are no UTF-8 it is i.
func runeStart(text string, i, step int) int {
	for j, n := i, 0; n < utf8.UTFMax; j, n = j+step, n+1 {
		if j <= 0 || j >= len(text) || utf8.RuneStart(text[j]) {
			return j
		}
	}
	return i
}
