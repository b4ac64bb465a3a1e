package validation

import (
	"fmt"
	"slices"
	"strings"
)

// StatusLine is the line that is shown to the agent with its context, as the paper has it:
//
//	TEST STATUS: ✓ test_basic: PASSED, ✗ test_login: FAILED
//
// It names at most n tests, in their order; where there are more, those that fail come first and the others
// are counted. It is empty where there are no results.
func StatusLine(results []Result, n int) string {
	if len(results) == 0 {
		return ""
	}
	shown := results
	if len(results) > n {
		shown = slices.Clone(results)
		slices.SortStableFunc(shown, func(a, b Result) int { return rank(a.Status) - rank(b.Status) })
		shown = shown[:max(0, n)]
	}
	parts := make([]string, len(shown))
	left := map[Status]int{}
	for _, r := range results {
		left[r.Status]++
	}
	for i, r := range shown {
		left[r.Status]--
		parts[i] = entry(r)
	}
	line := "TEST STATUS: " + strings.Join(parts, ", ")
	var more []string
	for _, s := range []Status{Failed, Errored, Passed, Skipped} {
		if left[s] > 0 {
			more = append(more, fmt.Sprintf("%d more %s", left[s], s))
		}
	}
	if len(more) > 0 {
		line += " (and " + strings.Join(more, ", ") + ")"
	}
	return line
}

func entry(r Result) string {
	mark := "✓"
	switch r.Status {
	case Failed, Errored:
		mark = "✗"
	case Skipped:
		mark = "-"
	}
	return fmt.Sprintf("%s %s: %s", mark, r.Name, strings.ToUpper(string(r.Status)))
}

func rank(s Status) int {
	switch s {
	case Failed, Errored:
		return 0
	case Passed:
		return 1
	}
	return 2
}
