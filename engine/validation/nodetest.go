package validation

import "regexp"

var (
	nodeSuite = regexp.MustCompile(`^▶ (.+?)(?: \([\d.]+ms\))?$`)
	nodeTest  = regexp.MustCompile(`^([✔✖﹣⚠]) (.+?) \([\d.]+ms\)( # (?:SKIP|TODO).*)?$`)
	nodeCount = regexp.MustCompile(`^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)
)

// nodeCounter adds one of node's closing counts, which its spec and TAP reporters share.
func (s *Summary) nodeCounter(what string, n int) {
	switch what {
	case "pass":
		s.Passed = n
	case "fail":
		s.Failed = n
	case "cancelled":
		s.Errors = n
	case "skipped", "todo":
		s.Skipped += n
	}
}

func parseNode(lines []string, r *run) {
	var tree outline
	var s Summary
	counted, again := false, false
	for _, line := range lines {
		depth, body := indent(line)
		if m := nodeCount.FindStringSubmatch(line); m != nil {
			r.believed, counted = true, true
			s.nodeCounter(m[1], number(m[2]))
			continue
		}
		if body == "✖ failing tests:" {
			r.believed, again = true, true
			continue
		}
		if m := nodeSuite.FindStringSubmatch(body); m != nil && !again {
			tree.title(depth, m[1])
			continue
		}
		m := nodeTest.FindStringSubmatch(body)
		switch {
		case m == nil:
		case again:
			if m[3] == "" { // the list names tests without their suites
				r.again(m[2], Failed, func(name string) string { return lastOf(name, " > ") })
			}
		case tree.closes(depth, m[2]):
			tree = tree.above(depth)
		default:
			r.add(tree.path(depth, m[2]), nodeStatus(m[1], m[3]))
		}
	}
	if counted {
		r.close(s)
	}
}

func nodeStatus(mark, directive string) Status {
	switch {
	case directive != "" || mark == "﹣":
		return Skipped
	case mark == "✖":
		return Failed
	}
	return Passed
}

// closes reports whether a line is the verdict on the suite whose title is open at its depth.
func (o outline) closes(depth int, text string) bool {
	for _, h := range o {
		if h.depth == depth && h.text == text {
			return true
		}
	}
	return false
}
