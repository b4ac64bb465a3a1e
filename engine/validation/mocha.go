package validation

import (
	"regexp"
	"strings"
)

var (
	mochaPass    = regexp.MustCompile(`^[✓✔√] (.+?)(?: \(\d+ms\))?$`)
	mochaFail    = regexp.MustCompile(`^\d+\) (.+)$`)
	mochaPending = regexp.MustCompile(`^- (.+)$`)
	mochaPassing = regexp.MustCompile(`^ *(\d+) passing \(\d+m?s?h?\)$`)
	mochaCount   = regexp.MustCompile(`^ *(\d+) (pending|failing)$`)
	mochaHook    = regexp.MustCompile(`"(?:before|after) (?:all|each)" hook.* (?:for|in) "(.+)"$`)
)

// mocha is the state of reading one mocha output: a tree of verdicts, the counts, then the failures again,
// each with its path over several lines.
type mocha struct {
	*run
	tree    outline
	sum     Summary
	counted bool
	told    []string // the path of the failure that is being told, until its last line
}

func parseMocha(lines []string, r *run) {
	m := &mocha{run: r}
	for _, line := range lines {
		m.line(line)
	}
	m.finish()
}

func (m *mocha) line(line string) {
	depth, body := indent(line)
	if c := mochaPassing.FindStringSubmatch(line); c != nil {
		m.finish()
		m.sum.Passed, m.counted, m.tree = number(c[1]), true, nil
		return
	}
	if c := mochaCount.FindStringSubmatch(line); c != nil && m.counted {
		if c[2] == "failing" {
			m.sum.Failed = number(c[1])
		} else {
			m.sum.Skipped = number(c[1])
		}
		return
	}
	switch {
	case m.told != nil:
		m.tell(body)
	case depth == 0:
	case m.counted && m.sum.Failed > 0:
		if f := mochaFail.FindStringSubmatch(body); f != nil && depth <= 4 {
			m.told = []string{}
			m.tell(f[1])
		}
	default:
		m.verdict(depth, body)
	}
}

func (m *mocha) verdict(depth int, body string) {
	for _, v := range []struct {
		form   *regexp.Regexp
		status Status
	}{{mochaPass, Passed}, {mochaFail, Failed}, {mochaPending, Skipped}} {
		if t := v.form.FindStringSubmatch(body); t != nil {
			m.test(m.tree.path(depth, t[1]), v.status)
			return
		}
	}
	m.tree.title(depth, body)
}

// test adds a verdict. Where a hook failed, the test that it was for got none.
func (m *mocha) test(name string, status Status) {
	if h := mochaHook.FindStringSubmatch(name); h != nil {
		suite, _, _ := strings.Cut(name, `"before `)
		suite, _, _ = strings.Cut(suite, `"after `)
		name, status = suite+h[1], Errored
	}
	m.add(name, status)
}

// tell gathers a path; a colon ends it, and so does anything that cannot be part of one.
func (m *mocha) tell(body string) {
	if body == "" || len(m.told) > deepest {
		m.told = nil
		return
	}
	last, ended := strings.CutSuffix(body, ":")
	m.told = append(m.told, last)
	if ended {
		m.test(strings.Join(m.told, " > "), Failed)
		m.told = nil
	}
}

func (m *mocha) finish() {
	if m.counted {
		m.close(m.sum)
	}
	m.sum, m.counted, m.told = Summary{}, false, nil
}
