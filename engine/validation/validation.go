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
