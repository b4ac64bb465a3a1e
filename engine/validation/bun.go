package validation

import "regexp"

var (
	bunBanner  = regexp.MustCompile(`^bun test v\d`)
	bunFile    = regexp.MustCompile(`^(\S+\.[cm]?[jt]sx?):$`)
	bunTest    = regexp.MustCompile(`^(?:\((pass|fail|skip|todo)\)|([✓✗»✎])) (.+?)(?: \[[\d.]+m?s\])?$`)
	bunCount   = regexp.MustCompile(`^ *(\d+) (pass|fail|skip|todo|errors?)$`)
	bunClosing = regexp.MustCompile(`^Ran \d+ tests? across \d+ files?\.`)
)

var bunStatus = map[string]Status{
	"pass": Passed, "fail": Failed, "skip": Skipped, "todo": Skipped,
	"✓": Passed, "✗": Failed, "»": Skipped, "✎": Skipped,
}

func parseBun(lines []string, r *run) {
	file := ""
	var s Summary
	for _, line := range lines {
		if m := bunFile.FindStringSubmatch(line); m != nil {
			file = path(m[1])
		} else if m := bunTest.FindStringSubmatch(line); m != nil {
			name := m[3]
			if file != "" {
				name = file + " > " + name
			}
			r.add(name, bunStatus[m[1]+m[2]])
		} else if line == "# Unhandled error between tests" && file != "" {
			r.add(file, Errored)
		} else if m := bunCount.FindStringSubmatch(line); m != nil {
			switch n := number(m[1]); m[2] {
			case "pass":
				s.Passed = n
			case "fail":
				s.Failed = n
			case "error", "errors":
				s.Errors = n
			default:
				s.Skipped += n
			}
		} else if bunBanner.MatchString(line) {
			r.believed = true
		} else if bunClosing.MatchString(line) {
			// An error between tests is counted as a failure too.
			s.Failed = max(0, s.Failed-s.Errors)
			r.close(s)
			file, s = "", Summary{}
		}
	}
}
