package validation

import "strings"

// outline holds the titles above the current line of an indented listing.
type outline []heading

type heading struct {
	depth int // blanks before it
	text  string
}

// title puts a heading under those that are less indented and drops the others.
func (o *outline) title(depth int, text string) {
	*o = append(o.above(depth), heading{depth, text})
}

// path joins the titles above a line with its own text.
func (o *outline) path(depth int, text string) string {
	var b strings.Builder
	for _, h := range o.above(depth) {
		b.WriteString(h.text)
		b.WriteString(" > ")
	}
	return b.String() + text
}

// deepest bounds the titles kept: no suite is nested as deep, but a hostile text might be.
const deepest = 32

func (o *outline) above(depth int) outline {
	n := len(*o)
	for n > 0 && ((*o)[n-1].depth >= depth || n > deepest) {
		n--
	}
	return (*o)[:n]
}
