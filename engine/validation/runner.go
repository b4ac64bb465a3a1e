package validation

import "strings"

// runner says how one test runner's output is recognised and read.
type runner struct {
	name string

	// A line that may be of this runner starts, after blanks, with one of opens; or ends with one of ends;
	// or has one of counts after a leading number. They only decide whether the output is looked at.
	opens, ends, counts []string

	parse func(lines []string, r *run)

	// How the runner is called: the words that start it, flags that choose among tests, flags that take the
	// next word, flags that stop at a failure.
	words, narrowing, valued, stopping []string
}

// runners holds what differs from runner to runner, in order of their results in a report.
var runners = []runner{
	{
		name:  "pytest",
		opens: []string{"=====", "FAILED ", "ERROR ", "PASSED", "[gw", "_____"}, ends: []string{"%]", " PASSED", " FAILED", " ERROR"},
		counts:    []string{" passed", " failed", " error", " skipped"},
		parse:     parsePytest,
		words:     []string{"pytest", "py.test"},
		narrowing: []string{"-k", "-m", "--lf", "--last-failed", "--deselect", "--ignore", "--ignore-glob", "--sw", "--stepwise", "--nf"},
		valued:    []string{"-n", "-p", "-c", "-o", "-W", "-r", "--maxfail", "--timeout", "--rootdir", "--tb", "--durations", "--color", "--junitxml"},
		stopping:  []string{"-x", "--exitfirst", "--maxfail", "-sx", "-xs", "-xv", "-vx", "-xvs", "-svx", "-vsx", "-xsv", "-vxs", "-xq", "-qx"},
	},
	{
		name:  "unittest",
		opens: []string{"Ran ", "FAIL: ", "ERROR: "}, ends: []string{" ... ok", " ... FAIL", " ... ERROR"},
		parse:     parseUnittest,
		words:     []string{"unittest", "manage.py test", "runtests.py"},
		narrowing: []string{"-k", "--tag", "--exclude-tag", "discover", "-s", "-p"},
		valued:    []string{"-t", "--settings", "--parallel", "-v", "--verbosity"},
		stopping:  []string{"-f", "--failfast"},
	},
	{
		name:      "go test",
		opens:     []string{"--- PASS", "--- FAIL", "--- SKIP", "ok  ", "ok\t", "FAIL\t", "FAIL ", `{"Time":`, `{"Action":`, `{"ImportPath":`},
		parse:     parseGo,
		words:     []string{"go test"},
		narrowing: []string{"-run", "--run", "-skip", "--skip"},
		stopping:  []string{"-failfast", "--failfast"},
	},
	{
		name:  "cargo test",
		opens: []string{"test ", "running "},
		parse: parseCargo,
	},
}

// marks is what scan looks for, by the first byte of an opening, the last of an ending, and the rest of a
// line after a number.
type marks struct {
	opens, ends [256][]mark
	counts      []mark
}

type mark struct {
	text string
	set  uint64
}

// evidenceMark is the bit of lines that compilers and linters may have written.
const evidenceMark = 1 << 63

var lineMarks = newMarks(runners)

func newMarks(runners []runner) *marks {
	m := &marks{}
	for i, r := range runners {
		set := uint64(1) << i
		for _, s := range r.opens {
			m.opens[s[0]] = append(m.opens[s[0]], mark{s, set})
		}
		for _, s := range r.ends {
			m.ends[s[len(s)-1]] = append(m.ends[s[len(s)-1]], mark{s, set})
		}
		for _, s := range r.counts {
			m.counts = append(m.counts, mark{s, set})
		}
	}
	for _, s := range evidenceOpens {
		m.opens[s[0]] = append(m.opens[s[0]], mark{s, evidenceMark})
	}
	return m
}

// scan tells whose lines a text may hold, one bit a runner. Nearly all observations hold none, so it touches
// the two ends of each line only.
func scan(text string) (found uint64) {
	m := lineMarks
	for text != "" {
		var line string
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			line, text = text, ""
		}
		line = strings.Trim(unwrap(line), " \t")
		if line == "" {
			continue
		}
		for _, k := range m.opens[line[0]] {
			if strings.HasPrefix(line, k.text) {
				found |= k.set
			}
		}
		for _, k := range m.ends[line[len(line)-1]] {
			if strings.HasSuffix(line, k.text) {
				found |= k.set
			}
		}
		if isDigit(line[0]) {
			after := strings.TrimLeft(line, "0123456789")
			for _, k := range m.counts {
				if strings.HasPrefix(after, k.text) {
					found |= k.set
				}
			}
		}
		if found&evidenceMark == 0 && located(line) {
			found |= evidenceMark
		}
	}
	return found
}
