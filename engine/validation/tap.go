package validation

import (
	"regexp"
	"strings"
)

var (
	tapTest    = regexp.MustCompile(`^(not )?ok (\d+)(?:(?: -)? ([^#\s].*?))?(?: # (?i:(skip|todo)\b.*))?$`)
	tapPlan    = regexp.MustCompile(`^1\.\.\d+(?: #.*)?$`)
	tapSubtest = regexp.MustCompile(`^# Subtest: (.+)$`)
	tapCount   = regexp.MustCompile(`^# (tests|pass|fail|cancelled|skipped|todo) (\d+)$`)
	// What prove makes of TAP.
	proveFile   = regexp.MustCompile(`^(\S+\.t) \.\.+ ?(ok)?$`)
	proveFailed = regexp.MustCompile(`^(\S+\.t) +\(Wstat: .*Failed: ([1-9]\d*)\)$`)
	proveEnd    = regexp.MustCompile(`^Result: (PASS|FAIL|NOTESTS)$`)
)

// tap is the state of reading TAP, nested where subtests are.
type tap struct {
	*run
	tree    outline
	parents map[string]bool // names with tests below them
	file    string
	sum     Summary
	counted bool
}

func parseTAP(lines []string, r *run) {
	t := &tap{run: r, parents: map[string]bool{}}
	for _, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, "# "), "duration_ms") {
			t.name = "node:test" // no other writes so
		}
	}
	for _, line := range lines {
		t.line(line)
	}
	if t.counted {
		t.close(t.sum)
	}
}

func (t *tap) line(line string) {
	depth, body := indent(line)
	if depth%4 != 0 {
		return // inside the YAML of a result
	}
	if m := tapTest.FindStringSubmatch(body); m != nil {
		t.test(depth, m)
		return
	}
	if m := tapSubtest.FindStringSubmatch(body); m != nil {
		t.tree.title(depth, m[1])
		return
	}
	if depth > 0 {
		return
	}
	switch {
	case tapPlan.MatchString(line), strings.HasPrefix(line, "TAP version "), proveEnd.MatchString(line):
		t.believed = true
	case proveFailed.MatchString(line):
		file := proveFailed.FindStringSubmatch(line)[1]
		t.again(file+some, Failed, func(name string) string {
			file, _, _ := strings.Cut(strings.TrimSuffix(name, some), " > ")
			return file
		})
	case proveFile.MatchString(line):
		m := proveFile.FindStringSubmatch(line)
		t.file = m[1]
		if m[2] == "ok" {
			t.whole(m[1], false)
		}
	default:
		if m := tapCount.FindStringSubmatch(line); m != nil {
			t.counted = true
			t.sum.nodeCounter(m[1], number(m[2]))
		}
	}
}

func (t *tap) test(depth int, m []string) {
	title := m[3]
	if title == "" {
		title = "test " + m[2]
	}
	name := t.tree.path(depth, title)
	if above := t.tree.above(depth); len(above) > 0 {
		last := above[len(above)-1]
		t.parents[above.path(last.depth, last.text)] = true
	}
	t.tree = t.tree.above(depth)
	status := Passed
	switch {
	case m[4] != "":
		status = Skipped
	case m[1] != "":
		status = Failed
	}
	if t.parents[name] { // its tests have their own verdicts
		return
	}
	if t.file != "" {
		name = t.file + " > " + name
	}
	if i, ok := t.index[name]; ok && t.results[i].Status.Failing() {
		return // a title used twice: its failure stays seen
	}
	t.add(name, status)
}
