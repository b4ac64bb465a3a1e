// Package validation reads what test runners, compilers and linters say in an agent's observations and
// decides from it what became of each step (§3.3).
//
// A [Report] is what one observation says: a [Result] for each test, the runners' own [Summary] lines, and
// weaker [Evidence]. A [Tracker] follows the results of a session from step to step: it gives each step its
// [Label] and, when a test that failed passes later, the [Fix] that points from one to the other.
//
// A failure is a verdict, never a word in the text: verdict lines stand at the start of a line in a form of
// the runner's own, and are believed where the runner's header or closing line is seen too, or where nothing
// else looks like them.
package validation

import (
	"regexp"
	"slices"
	"strings"
)

// Status is the verdict of one test.
type Status string

const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Errored Status = "error" // did not get as far as a verdict; counts as a failure
	Skipped Status = "skipped"
)

// Failing reports whether the status counts as a failure.
func (s Status) Failing() bool { return s == Failed || s == Errored }

// Result is the verdict of a runner on one test.
//
// Name is the test's own, with what makes it unique in its project before it: "tests/test_a.py::test_x",
// "example.com/calc TestSub/big", "src/a.test.ts > suite > test". Many runs name only their failures; what
// they say of the others has a name of these forms, where a scope is a file, folder, package, module or
// class, "all tests", or the command of a run of which no more is known:
//
//	"scope (all)"       passed: every test of the scope did
//	"scope [flags]"     passed: those tests of the scope did that the flags chose; says nothing of others
//	"unnamed tests"     passed: which ones is not known
//	"scope (the rest)"  passed: every test of the scope did but those that the same observation names
//	"scope (some)"      failed, and which ones was not shown
//	"scope"             error: its tests could not be loaded or built
type Result struct {
	Runner string // "pytest", "go test", …
	Name   string
	Status Status
}

// Summary is what the closing line of one run counts.
type Summary struct {
	Runner                          string
	Passed, Failed, Errors, Skipped int
}

// Evidence is a signal weaker than a test's verdict. It never decides a label.
type Evidence struct {
	Source string // "go", "rustc", "tsc", "python", "ruff", …
	Failed bool
	Detail string // the line that says so, shortened
}

// Report is what one observation says. Its zero value says nothing.
type Report struct {
	Results   []Result // in order; of a test named twice in one run, the last verdict
	Summaries []Summary
	Evidence  []Evidence
}

// Parse reads an observation. The command is what the agent ran to get it: the shell command where there was
// one, else the tool's name and arguments. It tells a run from a look at stored text, and which tests a run
// was asked for; where it is empty, nothing is concluded about tests that the output does not name.
// Parse takes time linear in the observation and reads any bytes.
func Parse(observation, command string) Report {
	var report Report
	text := clean(observation)
	found := scan(text)
	if found == 0 {
		return report
	}
	command = shell(command)
	if shows(command) {
		return report
	}
	lines := split(text)
	for i := range runners {
		if found&(1<<i) == 0 {
			continue
		}
		r := newRun(&runners[i], command)
		runners[i].parse(lines, r)
		r.end(&report)
	}
	if found&evidenceMark != 0 {
		report.Evidence = evidence(lines)
	}
	return report
}

// run gathers what one runner says in one observation.
type run struct {
	name      string // of the runner
	selection selection
	// believed is set by a header, a closing line, or a verdict that nothing else looks like.
	believed  bool
	stopped   bool // the run ended early: tests that it does not name may not have run
	results   []Result
	index     map[string]int  // name to place in results, since the last close
	start     int             // of the current run in results
	parts     map[string]bool // of the names of its failures, see again
	summaries []Summary
}

func newRun(r *runner, command string) *run {
	return &run{name: r.name, selection: r.selected(command), index: map[string]int{}}
}

func (r *run) add(name string, status Status) {
	if name == "" {
		return
	}
	if i, ok := r.index[name]; ok {
		r.results[i].Status = status
		return
	}
	r.index[name] = len(r.results)
	r.results = append(r.results, Result{r.name, name, status})
}

// group adds that the tests of a scope passed which the output does not name, as far as it follows.
func (r *run) group(scope string, failures bool) {
	switch s := r.selection; {
	case failures && (!s.known || s.narrowed || s.stops || r.stopped):
	case failures:
		r.add(scope+rest, Passed)
	case s.narrowed:
		r.add(scope+" ["+strings.Join(s.flags, " ")+"]", Passed)
	case !s.known && scope == s.launched:
		r.add(scope+all, Passed)
	case !s.known && scope == allTests:
		r.add(unnamed, Passed)
	case !s.known:
		r.add(scope+" ["+unnamed+"]", Passed)
	case scope == allTests:
		r.add(scope, Passed)
	default:
		r.add(scope+all, Passed)
	}
}

// close ends a run with its own counts and concludes what they say about tests that were not named.
func (r *run) close(s Summary) {
	r.believed = true
	s.Runner = r.name
	r.summaries = append(r.summaries, s)
	failed, passed := r.count(r.start)
	groups := slices.ContainsFunc(r.results[r.start:], func(t Result) bool { return isGroup(t.Name) })
	switch failures := s.Failed + s.Errors; {
	case failures > 0 && failed == 0:
		r.add(r.selection.whole()+some, Failed)
	case failures > failed:
		// Some failures were cut off: nothing is known about the tests that are not named.
	case failures == 0 && s.Passed > 0 && r.selection.launched != "":
		// Failures of such a run that were not named are fixed by a run that has none.
		r.group(r.selection.launched, false)
	case s.Passed > passed && !groups:
		for _, scope := range r.selection.scopes() {
			r.group(scope, failures > 0)
		}
	}
	r.next()
}

// next begins another run of the same runner.
func (r *run) next() {
	r.start = len(r.results)
	clear(r.index)
	r.parts, r.stopped = nil, false
}

// count says how many of the results from a place on have failed and passed by name.
func (r *run) count(from int) (failed, passed int) {
	for _, t := range r.results[from:] {
		switch {
		case isGroup(t.Name):
		case t.Status.Failing():
			failed++
		case t.Status == Passed:
			passed++
		}
	}
	return failed, passed
}

// again adds a failure from a closing list that names tests by a part of their names only, unless the verdict
// itself was seen. The function cuts that part from a whole name.
func (r *run) again(name string, status Status, part func(string) string) {
	if r.parts == nil {
		r.parts = map[string]bool{}
		for _, t := range r.results[r.start:] {
			if t.Status.Failing() {
				r.parts[part(t.Name)] = true
			}
		}
	}
	if !r.parts[part(name)] {
		r.add(name, status)
	}
}

// lastOf gives what follows the last separator.
func lastOf(name, sep string) string {
	if i := strings.LastIndex(name, sep); i >= 0 {
		return name[i+len(sep):]
	}
	return name
}

// whole adds that the tests of a scope passed which the output does not name, where the output itself shows
// that the scope was run whole.
func (r *run) whole(scope string, failures bool) {
	if failures {
		r.add(scope+rest, Passed)
	} else {
		r.add(scope+all, Passed)
	}
}

func (r *run) end(report *Report) {
	if !r.believed {
		return
	}
	report.Results = append(report.Results, r.results...)
	report.Summaries = append(report.Summaries, r.summaries...)
}

const (
	all      = " (all)"
	rest     = " (the rest)"
	some     = " (some)"
	allTests = "all tests"
	unnamed  = "unnamed tests"
)

func isGroup(name string) bool {
	return name == allTests || strings.HasSuffix(name, all) || strings.HasSuffix(name, rest) || strings.HasSuffix(name, some)
}

// closeCounted closes a run by the counts of its closing line, each a number and a word in the pattern's two groups.
// If it counts no failure, the suites that could not be run are the errors.
func (r *run) closeCounted(count *regexp.Regexp, counts string, suites int) {
	var s Summary
	for _, m := range count.FindAllStringSubmatch(counts, -1) {
		switch n := number(m[1]); m[2] {
		case "failed":
			s.Failed = n
		case "passed":
			s.Passed = n
		default:
			s.Skipped += n
		}
	}
	for _, t := range r.results[r.start:] {
		if t.Status == Errored {
			s.Errors++
		}
	}
	if s.Failed+s.Errors == 0 {
		s.Errors = suites
	}
	r.close(s)
}
