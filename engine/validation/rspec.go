package validation

import "regexp"

var (
	rspecClosing = regexp.MustCompile(`^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$`)
	rspecFailed  = regexp.MustCompile(`^rspec '?(\S+?\.rb)(?::\d+|\[[\d:]+\])+'? # (.+)$`)
	rspecLoading = regexp.MustCompile(`^An error occurred while loading (\S+\.rb)\.$`)
)

// parseRSpec reads the closing list, which names failures by place and description: the description stays
// when the file is edited.
func parseRSpec(lines []string, r *run) {
	var s Summary
	counted := false
	for _, line := range lines {
		if m := rspecFailed.FindStringSubmatch(line); m != nil {
			r.add(path(m[1])+" > "+m[2], Failed)
		} else if m := rspecLoading.FindStringSubmatch(line); m != nil {
			r.add(path(m[1]), Errored)
		} else if m := rspecClosing.FindStringSubmatch(line); m != nil {
			if counted {
				r.close(s)
			}
			s = Summary{Failed: number(m[2]), Skipped: number(m[3]), Errors: number(m[4])}
			s.Passed = max(0, number(m[1])-s.Failed-s.Skipped)
			counted = true
			r.believed = true
		}
	}
	if counted {
		r.close(s)
	}
}
