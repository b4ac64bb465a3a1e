package validation

import (
	"fmt"
	"regexp"
	"strings"
)

// evidenceOpens start lines that compilers and linters write; others are found by their position, see located.
var evidenceOpens = []string{
	"Traceback (most recent call last)", "SyntaxError: ", "IndentationError: ", "error[E", "error: ", "Found ", "All checks passed!", "Success: no issues found", "✖ ", "collect2: error",
}

// findings are lines that say what a compiler or linter found, tried in this order. A line counts where it
// starts with the pattern.
var findings = []struct {
	source string
	failed bool
	line   *regexp.Regexp
}{
	{"cc", true, regexp.MustCompile(`^[\w./+-]+\.(?:c|h|cc|cpp|cxx|hpp|m|mm):\d+:(?:\d+:)? (?:fatal )?error: |^collect2: error: `)},
	{"mypy", true, regexp.MustCompile(`^[\w./-]+\.pyi?:\d+:(?:\d+:)? error: |^Found \d+ errors? in \d+ files? \(`)},
	{"mypy", false, regexp.MustCompile(`^Success: no issues found in \d+ source files?`)},
	{"flake8", true, regexp.MustCompile(`^[\w./-]+\.pyi?:\d+:\d+: [A-Z]{1,4}\d{2,4}\b`)},
	{"ruff", true, regexp.MustCompile(`^Found \d+ errors?\.$|^Found \d+ errors? \(`)},
	{"ruff", false, regexp.MustCompile(`^All checks passed!$`)},
	{"go", true, regexp.MustCompile(`^(?:vet: )?[\w./@+-]+\.go:\d+:\d+: `)},
	{"rustc", true, regexp.MustCompile(`^error\[E\d{4}\]: |^error: (?:could not compile|aborting due to)`)},
	{"tsc", true, regexp.MustCompile(`^[^\s(]+\.[cm]?tsx?\(\d+,\d+\): error TS\d+: |^\S+\.[cm]?tsx?:\d+:\d+ - error TS\d+: `)},
	{"eslint", true, regexp.MustCompile(`^✖ \d+ problems? \([1-9]\d* errors?`)},
	{"javac", true, regexp.MustCompile(`^\S+\.java:\d+: error: |^\[ERROR\] \S+\.java:\[\d+,\d+\] `)},
	{"python", true, regexp.MustCompile(`^(?:SyntaxError|IndentationError): `)},
}

// located reports whether a line starts as a compiler's message does: "path:1:2: …", "path:1: error: …",
// "path(1,2): error …", "path:[1,2] …". A search's "path:1:text" does not.
func located(line string) bool {
	line = strings.TrimPrefix(line, "vet: ")
	i := strings.IndexByte(line[:min(len(line), longestPath)], ':')
	if i <= 0 || i+1 == len(line) {
		return false
	}
	after := line[i+1:]
	switch {
	case after[0] == '[':
		return true
	case line[i-1] == ')':
		return strings.HasPrefix(after, " error ")
	case !isDigit(after[0]):
		return false
	}
	after, ok := strings.CutPrefix(strings.TrimLeft(after, digits), ":")
	if !ok || after == "" {
		return false
	}
	if isDigit(after[0]) {
		after = strings.TrimLeft(after, digits)
		return strings.HasPrefix(after, ":") || strings.HasPrefix(after, " - error ")
	}
	return strings.HasPrefix(after, " error: ") || strings.HasPrefix(after, " fatal error: ")
}

const (
	digits      = "0123456789"
	longestPath = 256 // bytes of a path that a message may start with
)

func opened(line string) bool {
	for _, s := range evidenceOpens {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	return false
}

const longestDetail = 200 // bytes

// evidence gives what each compiler or linter says, its first line standing for the others.
func evidence(lines []string) []Evidence {
	var out []Evidence
	more := map[string]int{}
	add := func(source string, failed bool, line string) {
		for _, e := range out {
			if e.Source == source && e.Failed == failed {
				more[source]++
				return
			}
		}
		out = append(out, Evidence{source, failed, shorten(line, longestDetail)})
	}
	traceback := false
	for _, line := range lines {
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "Traceback (most recent call last)") {
			traceback = true
			continue
		}
		if traceback && line[0] != ' ' {
			// The exception ends the frames, which are indented.
			traceback = false
			add("python", true, line)
			continue
		}
		if !located(line) && !opened(line) {
			continue
		}
		for _, v := range findings {
			if v.line.MatchString(line) {
				add(v.source, v.failed, line)
				break
			}
		}
	}
	for i, e := range out {
		if n := more[e.Source]; n > 0 && e.Failed {
			out[i].Detail += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return out
}

// shorten cuts a text to n bytes, at the start of a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
