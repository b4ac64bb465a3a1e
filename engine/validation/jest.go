package validation

import (
	"regexp"
	"strings"
)

var (
	jestFile    = regexp.MustCompile(`^(PASS|FAIL)\s+(?:\S+ )?(\S*[/.]\S+\.[cm]?[jt]sx?)(?: \(.*\))?$`)
	jestTest    = regexp.MustCompile(`^(✓|√|✕|×|○|✎) (.+?)(?: \([\d.]+ m?s\))?$`)
	jestHeader  = regexp.MustCompile(`^  ● (.+)$`)
	jestSuites  = regexp.MustCompile(`^Test Suites: (?:(\d+) failed, )?.*\d+ total$`)
	jestClosing = regexp.MustCompile(`^Tests: +(.*)\d+ total$`)
	jestCount   = regexp.MustCompile(`(\d+) (failed|passed|skipped|todo)`)
)

var jestStatus = map[string]Status{"✓": Passed, "√": Passed, "✕": Failed, "×": Failed, "○": Skipped, "✎": Skipped}

// jestNotes are headers in the place of a failed test's name that are none.
var jestNotes = []string{"Console", "Validation Warning", "Deprecation Warning", "Cannot log after tests are done", "Snapshot Summary"}

// jest is the state of reading one jest output.
type jest struct {
	*run
	file     string
	from     int  // its first result
	failed   bool // FAIL stood before the file
	tree     outline
	suites   int  // that failed
	narrowed bool // the closing lines say that tests were chosen by name
}

func parseJest(lines []string, r *run) {
	j := &jest{run: r}
	for _, line := range lines {
		j.narrowed = j.narrowed || strings.HasPrefix(line, "Ran all test suites") && strings.Contains(line, " with tests matching ")
	}
	for _, line := range lines {
		j.line(line)
	}
	j.leave()
}

func (j *jest) line(line string) {
	if m := jestFile.FindStringSubmatch(line); m != nil {
		j.leave()
		j.file, j.failed, j.from = path(m[2]), m[1] == "FAIL", len(j.results)
		j.believed = true
		j.tree = nil
		return
	}
	if m := jestSuites.FindStringSubmatch(line); m != nil {
		j.suites = number(m[1])
		j.believed = true
		return
	}
	if m := jestClosing.FindStringSubmatch(line); m != nil {
		j.leave()
		j.closing(m[1])
		return
	}
	if m := jestHeader.FindStringSubmatch(line); m != nil {
		j.header(m[1])
		return
	}
	depth, body := indent(line)
	if body == "" || depth == 0 {
		j.tree = nil
		return
	}
	if m := jestTest.FindStringSubmatch(body); m != nil {
		name := strings.TrimPrefix(strings.TrimPrefix(m[2], "skipped "), "todo ")
		j.add(j.inFile(j.tree.path(depth, name)), jestStatus[m[1]])
		return
	}
	j.tree.title(depth, body)
}

func (j *jest) inFile(name string) string {
	if j.file == "" {
		return name
	}
	return j.file + " > " + name
}

// header reads the name over the story of a failure.
func (j *jest) header(title string) {
	for _, note := range jestNotes {
		if strings.HasPrefix(title, note) {
			return
		}
	}
	if title == "Test suite failed to run" {
		j.add(j.file, Errored)
		return
	}
	j.add(j.inFile(strings.ReplaceAll(title, " › ", " > ")), Failed)
}

// leave concludes what the file's verdict says of tests that were not named.
func (j *jest) leave() {
	if j.file == "" {
		return
	}
	switch failed, passed := j.count(j.from); {
	case passed > 0: // a verbose run names them
	case j.narrowed:
		if !j.failed {
			j.add(j.file+" ["+unnamed+"]", Passed)
		}
	case !j.failed:
		j.whole(j.file, false)
	case failed > 0 && j.stories(j.file):
		j.whole(j.file, true)
	}
	j.file = ""
}

// stories reports whether the file's failures are tests, not the suite itself.
func (j *jest) stories(file string) bool {
	i, suite := j.index[file]
	return !suite || !j.results[i].Status.Failing()
}

func (j *jest) closing(counts string) {
	j.closeCounted(jestCount, counts, j.suites)
	j.suites = 0
}
