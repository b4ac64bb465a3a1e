package compress

import (
	"fmt"
	"strings"
)

// Placeholder is what the paper's policies put in the place of an observation (§3): it says how
// many lines, and how many images if any, are left out. Lines are counted as newlines plus one, so
// an empty text has one.
func Placeholder(text string, images int) string {
	s := fmt.Sprintf("Old environment output: (%d lines omitted)", strings.Count(text, "\n")+1)
	if images > 0 {
		s += fmt.Sprintf(" (%d images omitted)", images)
	}
	return s
}
