package compress

import (
	"fmt"
	"strings"
)

// Lines counts the lines of a text: newlines plus one, so an empty text has one.
func Lines(text string) int { return strings.Count(text, "\n") + 1 }

// Placeholder is what the paper's policies put in the place of an observation (§3): it says how
// many lines, and how many images if any, are left out.
func Placeholder(lines, images int) string {
	s := fmt.Sprintf("Old environment output: (%d lines omitted)", lines)
	if images > 0 {
		s += fmt.Sprintf(" (%d images omitted)", images)
	}
	return s
}
