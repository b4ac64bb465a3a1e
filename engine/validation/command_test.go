package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// What a run is known to have covered follows from its command. The output names no test.
func TestSelection(t *testing.T) {
	const pass, fail = "5 passed in 0.10s\n", "FAILED a.py::x - no\n1 failed, 4 passed in 0.10s\n"
	for _, c := range []struct {
		why, command, output string
		want                 string // names, failures with a "!"
	}{
		{"nothing is known of the command", "", pass, "unnamed tests"},
		{"another program ran it", "cd /repo && make test 2>&1 | tail -5", pass, "make test (all)"},
		{"another program ran it, and failures were cut off", "make test | tail -1", "1 failed, 4 passed in 0.10s\n", "!make test (some)"},
		{"another program ran it, and what passed is not known", "make test", fail, "!a.py::x"},
		{"one of several programs ran it", "make; ./all.sh", pass, "unnamed tests"},
		{"all", "pytest -q", pass, "all tests"},
		{"all, in a folder, piped", "cd /repo && python -m pytest -q --tb=short 2>&1 | tail -5", pass, "all tests"},
		{"a tool's JSON arguments", `Bash {"command": "cd /repo && pytest -q tests/a.py"}`, pass, "tests/a.py (all)"},
		{"an argument vector", `shell {"command": ["bash", "-lc", "pytest -q tests"]}`, pass, "tests (all)"},
		{"two files", "pytest tests/a.py ./tests/b.py", pass, "tests/a.py (all), tests/b.py (all)"},
		{"one test", "pytest 'tests/a.py::test_x'", pass, "tests/a.py::test_x (all)"},
		{"launchers and assignments", "A=1 timeout 60 uv run pytest tests", pass, "tests (all)"},
		{"flags with values", "pytest -n 4 -p no:cacheprovider --maxfail 2 tests", pass, "tests (all)"},
		{"narrowed by name", "pytest -k 'not slow' tests", pass, "tests [-k not slow]"},
		{"narrowed to the last failures", "pytest --lf", pass, "all tests [--lf]"},
		{"two runs in one command", "pytest a.py; pytest b.py", pass, "unnamed tests"},
		{"only named", "cat > t.py <<E\nimport pytest\nE\nmake test", pass, "unnamed tests"},
		{"deselected by the project", "pytest", "5 passed, 2 deselected in 0.10s\n", "all tests []"},
		{"the rest passed", "pytest tests", fail, "!a.py::x, tests (the rest)"},
		{"stopped at the first failure", "pytest -x tests", fail, "!a.py::x"},
		{"narrowed, with failures", "pytest -k y tests", fail, "!a.py::x"},
		{"failures cut off", "pytest tests | tail -1", "2 failed, 4 passed in 0.10s\n", "!tests (some)"},
		{"some failures cut off", "pytest tests | tail -2", "FAILED a.py::x - no\n2 failed, 4 passed in 0.10s\n", "!a.py::x"},
	} {
		var names []string
		for _, r := range validation.Parse(c.output, c.command).Results {
			name := r.Name
			if r.Status.Failing() {
				name = "!" + name
			}
			names = append(names, name)
		}
		if diff := cmp.Diff(c.want, strings.Join(names, ", ")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.why, c.command, diff)
		}
	}
}
