package validation

import (
	"regexp"
	"strings"
)

var (
	ctestTest    = regexp.MustCompile(`^ *\d+/\d+ Test +#\d+: (\S.*?) \.*(?:\*\*\*)? *(Passed|Failed|Timeout|Exception|Skipped|Not Run|Disabled|SEGFAULT|Subprocess aborted|Child aborted|Bad Command)\b`)
	ctestListed  = regexp.MustCompile(`^\s+\d+ - (.+) \((Failed|Timeout|Not Run|SEGFAULT|ILLEGAL|Subprocess aborted|Child aborted|BAD_COMMAND|OTHER_FAULT)\)`)
	ctestClosing = regexp.MustCompile(`^\d+% tests passed, (\d+) tests? failed out of (\d+)$`)
)

func parseCTest(lines []string, r *run) {
	var s Summary
	counted, listed := false, false
	for _, line := range lines {
		if m := ctestTest.FindStringSubmatch(line); m != nil {
			r.believed = true
			r.add(m[1], ctestStatus(m[2]))
		} else if m := ctestListed.FindStringSubmatch(line); m != nil && listed {
			r.add(m[1], ctestStatus(m[2]))
		} else if m := ctestClosing.FindStringSubmatch(line); m != nil {
			if counted {
				r.close(s)
			}
			s = Summary{Failed: number(m[1])}
			s.Passed = max(0, number(m[2])-s.Failed)
			counted, listed = true, false
			r.believed = true
		} else if strings.HasPrefix(line, "The following tests FAILED:") {
			listed = true
		}
	}
	if counted {
		for _, t := range r.results[r.start:] { // skipped tests count as passed there
			if t.Status == Skipped && s.Passed > 0 {
				s.Passed--
				s.Skipped++
			}
		}
		r.close(s)
	}
}

func ctestStatus(verdict string) Status {
	switch verdict {
	case "Passed":
		return Passed
	case "Skipped", "Disabled":
		return Skipped
	case "Failed":
		return Failed
	}
	return Errored
}
