package validation

import (
	"regexp"
	"strings"
)

var (
	sympyFile    = regexp.MustCompile(`^(\S+\.py)\[(?:\d+|\?)\]\s*([.FEfsXTwk ]*?)\s*(?:\[(OK|FAIL)\])?$`)
	sympyTest    = regexp.MustCompile(`^(test_\w+) (ok|F|E|f|X|s|T|w)\b`)
	sympySection = regexp.MustCompile(`^_{3,} (\S+\.py):(test_\w+) _{3,}$`)
	sympyClosing = regexp.MustCompile(`^=+ tests finished: (\d+) passed(.*) in [\d.]+ seconds`)
	sympyCount   = regexp.MustCompile(`(\d+) (failed|exceptions?|skipped|expected to fail)`)
)

// parseSymPy reads sympy's own bin/test.
func parseSymPy(lines []string, r *run) {
	file := ""
	for _, line := range lines {
		if m := sympyFile.FindStringSubmatch(line); m != nil {
			file = m[1]
			if m[3] == "OK" && strings.Contains(m[2], ".") {
				r.group(file, false)
			}
		} else if m := sympyTest.FindStringSubmatch(line); m != nil && file != "" {
			r.add(file+"::"+m[1], sympyStatus(m[2]))
		} else if m := sympySection.FindStringSubmatch(line); m != nil {
			sympyFailed(r, file, m[1], m[2])
		} else if strings.HasPrefix(line, "====") && strings.Contains(line, " test process starts ") {
			r.believed = true
		} else if m := sympyClosing.FindStringSubmatch(line); m != nil {
			r.close(sympySummary(number(m[1]), m[2]))
			file = ""
		}
	}
}

// sympyFailed adds a failure from the heading of its story, unless its verdict was seen. The heading has the
// whole path where the verdict's has the one from the root of the project.
func sympyFailed(r *run, file, where, test string) {
	if file != "" && strings.HasSuffix(where, file) {
		where = file
	}
	r.again(where+"::"+test, Failed, func(name string) string {
		file, test, _ := strings.Cut(name, "::")
		return lastOf(file, "/") + "::" + test
	})
}

func sympyStatus(mark string) Status {
	switch mark {
	case "ok", "X":
		return Passed
	case "F":
		return Failed
	case "E", "T":
		return Errored
	}
	return Skipped
}

func sympySummary(passed int, counts string) Summary {
	s := Summary{Passed: passed}
	for _, m := range sympyCount.FindAllStringSubmatch(counts, -1) {
		switch n := number(m[1]); m[2] {
		case "failed":
			s.Failed = n
		case "exception", "exceptions":
			s.Errors = n
		default:
			s.Skipped += n
		}
	}
	return s
}
