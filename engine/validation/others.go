package validation

import (
	"regexp"
	"strings"
)

// Runners of which only the verdicts and the closing line are read.

var (
	phpunitOK     = regexp.MustCompile(`^OK \((\d+) tests?, \d+ assertions?\)$`)
	phpunitCounts = regexp.MustCompile(`^Tests: (\d+), Assertions: \d+(.*)\.$`)
	phpunitCount  = regexp.MustCompile(`(Errors|Failures|Skipped|Incomplete): (\d+)`)
	phpunitList   = regexp.MustCompile(`^There (?:was|were) \d+ (error|failure|skipped|incomplete|risky|warning)`)
	phpunitTest   = regexp.MustCompile(`^\d+\) ([\w\\]+::\w+.*)$`)
)

func parsePHPUnit(lines []string, r *run) {
	list := ""
	for _, line := range lines {
		if m := phpunitList.FindStringSubmatch(line); m != nil {
			list = m[1]
		} else if m := phpunitTest.FindStringSubmatch(line); m != nil {
			switch list {
			case "error":
				r.add(m[1], Errored)
			case "failure":
				r.add(m[1], Failed)
			}
		} else if m := phpunitOK.FindStringSubmatch(line); m != nil {
			r.close(Summary{Passed: number(m[1])})
		} else if m := phpunitCounts.FindStringSubmatch(line); m != nil {
			s := Summary{}
			for _, c := range phpunitCount.FindAllStringSubmatch(m[2], -1) {
				switch n := number(c[2]); c[1] {
				case "Errors":
					s.Errors = n
				case "Failures":
					s.Failed = n
				default:
					s.Skipped += n
				}
			}
			s.Passed = max(0, number(m[1])-s.Errors-s.Failed-s.Skipped)
			r.close(s)
			list = ""
		}
	}
}

var (
	dotnetTest    = regexp.MustCompile(`^\s*(Passed|Failed|Skipped) (\S.*?) \[[<\d].*\]$`)
	dotnetClosing = regexp.MustCompile(`^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total:`)
)

func parseDotnet(lines []string, r *run) {
	for _, line := range lines {
		if m := dotnetTest.FindStringSubmatch(line); m != nil {
			r.add(m[2], Status(strings.ToLower(m[1])))
		} else if m := dotnetClosing.FindStringSubmatch(line); m != nil {
			r.close(Summary{Failed: number(m[1]), Passed: number(m[2]), Skipped: number(m[3])})
		}
	}
}

var (
	swiftTest    = regexp.MustCompile(`^Test Case '(?:-\[)?([^'\]]+)\]?' (passed|failed|skipped) \([\d.]+ seconds\)`)
	swiftTesting = regexp.MustCompile(`^[✔✘􁁛􀢄] Test (".+"|\S+\(.*?\)) (passed|failed) after [\d.]+ seconds`)
	swiftClosing = regexp.MustCompile(`^\s*Executed \d+ tests?, with |^[✔✘􁁛􀢄] Test run with \d+ tests? .*(?:passed|failed) after`)
)

func parseSwift(lines []string, r *run) {
	for _, line := range lines {
		m := swiftTest.FindStringSubmatch(line)
		if m == nil {
			m = swiftTesting.FindStringSubmatch(line)
		}
		if m != nil {
			r.believed = true
			r.add(strings.ReplaceAll(m[1], " ", "."), Status(m[2]))
		} else if swiftClosing.MatchString(line) {
			r.believed = true
		}
	}
}

var (
	playwrightTest   = regexp.MustCompile(`^ +([✓✘x-]|ok) +\d+ (.+? › .+?)(?: \([\d.]+m?s\))?$`)
	playwrightListed = regexp.MustCompile(`^    ((?:\[.+?\] › )?\S+:\d+:\d+ › .+?)[ ─]*$`)
	playwrightPlace  = regexp.MustCompile(`:\d+:\d+ `)
	playwrightStart  = regexp.MustCompile(`^Running \d+ tests? using \d+ workers?$`)
	playwrightCount  = regexp.MustCompile(`^  (\d+) (passed|failed|skipped|flaky|did not run)(?: \([\d.]+m?s?\))?$`)
)

var playwrightStatus = map[string]Status{"✓": Passed, "ok": Passed, "✘": Failed, "x": Failed, "-": Skipped}

func parsePlaywright(lines []string, r *run) {
	name := func(s string) string {
		return strings.ReplaceAll(playwrightPlace.ReplaceAllString(s, " "), " › ", " > ")
	}
	var s Summary
	failures := false // the list of failures follows their count
	for _, line := range lines {
		if m := playwrightCount.FindStringSubmatch(line); m != nil && r.believed {
			failures = m[2] == "failed"
			switch n := number(m[1]); m[2] {
			case "passed", "flaky":
				s.Passed += n
			case "failed":
				s.Failed = n
			default:
				s.Skipped += n
			}
		} else if m := playwrightTest.FindStringSubmatch(line); m != nil {
			r.add(name(m[2]), playwrightStatus[m[1]])
		} else if m := playwrightListed.FindStringSubmatch(line); m != nil && failures {
			r.add(name(m[1]), Failed)
		} else if playwrightStart.MatchString(line) {
			r.believed = true
		}
	}
	if s != (Summary{}) {
		r.close(s)
	}
}
