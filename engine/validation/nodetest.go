package validation

import (
	"regexp"
	"strings"
)

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

// node is the state of reading node's spec reporter: a tree, the counts, then the failures again.
type node struct {
	*run
	tree    outline
	last    int    // depth of the verdict before
	above   string // the line before
	sum     Summary
	counted bool
}

func parseNode(lines []string, r *run) {
	n := &node{run: r}
	for _, line := range lines {
		n.line(line)
		n.above = line
	}
	n.finish()
}

func (n *node) line(line string) {
	depth, body := indent(line)
	if m := nodeCount.FindStringSubmatch(line); m != nil {
		n.believed, n.counted = true, true
		n.sum.nodeCounter(m[1], number(m[2]))
	} else if m := nodeSuite.FindStringSubmatch(body); m != nil {
		n.finish()
		n.tree.title(depth, m[1])
	} else if m := nodeTest.FindStringSubmatch(body); m != nil {
		if strings.HasPrefix(n.above, "test at ") {
			if m[3] == "" { // the closing list names tests without their suites
				n.again(m[2], Failed, func(name string) string { return lastOf(name, " > ") })
			}
			return
		}
		n.finish()
		n.verdict(depth, m[2], nodeStatus(m[1], m[3]))
	} else if body == "✖ failing tests:" {
		n.believed = true
	}
}

// verdict adds a test. A suite's own verdict follows those of its tests, and a test whose suites were cut off
// is left to the closing list, for it may be a suite.
func (n *node) verdict(depth int, title string, status Status) {
	above := n.tree.above(depth)
	switch {
	case n.last > depth || n.tree.closes(depth, title):
		n.tree = above
	case depth == 0 || len(above) > 0:
		n.add(n.tree.path(depth, title), status)
	}
	n.last = depth
}

func (n *node) finish() {
	if n.counted {
		n.close(n.sum)
	}
	n.sum, n.counted = Summary{}, false
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
