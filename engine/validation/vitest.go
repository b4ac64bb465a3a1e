package validation

import (
	"regexp"
	"strings"
)

var (
	vitestFile    = regexp.MustCompile(`^ *[✓❯×✗] (?:\|.+?\| )?(\S+\.\w+) \((\d+) tests?((?: \| \d+ \w+)*)\)(?: .*)?$`)
	vitestTest    = regexp.MustCompile(`^ *([✓×✗↓]) (?:\|.+?\| )?(\S+\.[cm]?[jt]sx? > .+?)(?: \[skipped\])?(?: +[\d.]+m?s)?$`)
	vitestBanner  = regexp.MustCompile(`^ (?:RUN|DEV)  v\d`)
	vitestFailed  = regexp.MustCompile(`^ FAIL  (?:\|.+?\| )?(\S+\.\w+)(?: > (.+?)| \[ .* \])?$`)
	vitestFiles   = regexp.MustCompile(`^ *Test Files  +(?:(\d+) failed)?.*\(\d+\)$`)
	vitestClosing = regexp.MustCompile(`^ *Tests  +(?:no tests|(.*) \(\d+\))$`)
	vitestCount   = regexp.MustCompile(`(\d+) (failed|passed|skipped|todo)`)
)

var vitestStatus = map[string]Status{"✓": Passed, "×": Failed, "✗": Failed, "↓": Skipped}

func parseVitest(lines []string, r *run) {
	suites := 0
	for _, line := range lines {
		if m := vitestFile.FindStringSubmatch(line); m != nil {
			vitestScope(r, path(m[1]), number(m[2]), m[3], strings.HasPrefix(strings.TrimSpace(line), "✓"))
		} else if m := vitestTest.FindStringSubmatch(line); m != nil {
			r.add(path(m[2]), vitestStatus[m[1]])
		} else if m := vitestFailed.FindStringSubmatch(line); m != nil {
			r.believed = true
			if m[2] == "" {
				r.add(path(m[1]), Errored)
			} else {
				r.add(path(m[1])+" > "+m[2], Failed)
			}
		} else if vitestBanner.MatchString(line) {
			r.believed = true
		} else if m := vitestFiles.FindStringSubmatch(line); m != nil {
			r.believed = true
			suites = number(m[1])
		} else if m := vitestClosing.FindStringSubmatch(line); m != nil && r.believed {
			r.closeCounted(vitestCount, m[1], suites)
			suites = 0
		}
	}
}

// vitestScope reads a file's line. Only where nothing was skipped does it speak of all its tests.
func vitestScope(r *run, file string, tests int, counts string, ok bool) {
	failed, skipped := strings.Contains(counts, "failed"), strings.Contains(counts, "skipped")
	switch {
	case tests == 0:
	case skipped && ok:
		r.add(file+" ["+unnamed+"]", Passed)
	case !skipped && (ok || failed):
		r.whole(file, failed)
	}
}
