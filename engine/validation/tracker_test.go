package validation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// step is one node's results, each "status name", all of one runner, and what must follow from them.
type step struct {
	node    string
	results []string
	label   validation.Label
	fixes   []string // "test at node"
	gone    []string // superseded nodes
}

func results(runner string, lines []string) []validation.Result {
	var out []validation.Result
	for _, l := range lines {
		status, name, _ := strings.Cut(l, " ")
		out = append(out, validation.Result{Runner: runner, Name: name, Status: validation.Status(status)})
	}
	return out
}

func TestTracker(t *testing.T) {
	const passed, failed, unknown = validation.LabelPassed, validation.LabelFailed, validation.LabelUnknown
	for _, c := range []struct {
		why, runner string
		steps       []step
		open        []string // "test at node"
	}{
		{"labels come from tests alone", "pytest", []step{
			{"1", nil, unknown, nil, nil},
			{"2", []string{"skipped a.py::x"}, unknown, nil, nil},
			{"3", []string{"passed a.py::y", "skipped a.py::x"}, passed, nil, nil},
			{"4", []string{"passed a.py::y", "error a.py::z"}, failed, nil, nil},
		}, []string{"a.py::z at 4"}},
		{"superseded only when every failure is fixed, by several nodes", "pytest", []step{
			{"1", []string{"failed a.py::x", "failed a.py::y"}, failed, nil, nil},
			{"2", []string{"passed a.py::x"}, passed, []string{"a.py::x at 1"}, nil},
			{"3", []string{"passed a.py::x", "passed a.py::y"}, passed, []string{"a.py::y at 1"}, []string{"1"}},
		}, nil},
		{"one pass fixes all runs that failed, and a later failure changes no pointer", "pytest", []step{
			{"1", []string{"failed a.py::x"}, failed, nil, nil},
			{"2", []string{"failed a.py::x"}, failed, nil, nil},
			{"3", []string{"passed a.py::x"}, passed, []string{"a.py::x at 1", "a.py::x at 2"}, []string{"1", "2"}},
			{"4", []string{"failed a.py::x"}, failed, nil, nil},
		}, []string{"a.py::x at 4"}},
		{"the newest failing run is the open one", "pytest", []step{
			{"1", []string{"failed a.py::x", "failed a.py::y"}, failed, nil, nil},
			{"2", []string{"failed a.py::x"}, failed, nil, nil},
		}, []string{"a.py::y at 1", "a.py::x at 2"}},
		{"the last verdict in one observation wins", "pytest", []step{
			{"1", []string{"failed a.py::x", "passed a.py::x"}, passed, nil, nil},
			{"2", []string{"passed a.py::x", "failed a.py::x"}, failed, nil, nil},
		}, []string{"a.py::x at 2"}},
		{"a skip fixes nothing", "pytest", []step{
			{"1", []string{"failed a.py::x"}, failed, nil, nil},
			{"2", []string{"skipped a.py::x", "passed a.py::y"}, passed, nil, nil},
		}, []string{"a.py::x at 1"}},
		{"a file that could not be loaded is fixed by any of its tests", "pytest", []step{
			{"1", []string{"error tests/a.py"}, failed, nil, nil},
			{"2", []string{"passed tests/b.py::x"}, passed, nil, nil},
			{"3", []string{"passed tests/a.py::x"}, passed, []string{"tests/a.py at 1"}, []string{"1"}},
		}, nil},
		{"names with and without folder, dot and parameters", "pytest", []step{
			{"1", []string{"failed ./tests/a.py::x[1-2]", "failed tests/a.py::y[lon", "failed z"}, failed, nil, nil},
			{"2", []string{"passed a.py::x"}, passed, []string{"./tests/a.py::x[1-2] at 1"}, nil},
			{"3", []string{"passed tests/a.py::y[longer]", "passed tests/a.py::z"}, passed, []string{"tests/a.py::y[lon at 1", "z at 1"}, []string{"1"}},
		}, nil},
		{"another parameter is another test", "pytest", []step{
			{"1", []string{"failed a.py::x[1]"}, failed, nil, nil},
			{"2", []string{"passed a.py::x[2]", "passed a.py::xx"}, passed, nil, nil},
		}, []string{"a.py::x[1] at 1"}},
		{"a short name that two files could mean fixes neither", "pytest", []step{
			{"1", []string{"failed p/a.py::x", "failed q/a.py::x"}, failed, nil, nil},
			{"2", []string{"passed a.py::x"}, passed, nil, nil},
			{"3", []string{"passed p/a.py::x"}, passed, []string{"p/a.py::x at 1"}, nil},
		}, []string{"q/a.py::x at 1"}},
		{"all tests of a scope, and of no other", "pytest", []step{
			{"1", []string{"failed tests/a.py::x", "failed tests/b/c.py::T::y", "failed tests/ab.py::z"}, failed, nil, nil},
			{"2", []string{"passed tests/a.py (all)"}, passed, []string{"tests/a.py::x at 1"}, nil},
			{"3", []string{"passed tests/b (all)"}, passed, []string{"tests/b/c.py::T::y at 1"}, nil},
			{"4", []string{"passed all tests"}, passed, []string{"tests/ab.py::z at 1"}, []string{"1"}},
		}, nil},
		{"the rest is all but what fails in the same run", "pytest", []step{
			{"1", []string{"failed a.py::x", "failed a.py::y"}, failed, nil, nil},
			{"2", []string{"failed a.py::x", "passed a.py (the rest)"}, failed, []string{"a.py::y at 1"}, nil},
			{"3", []string{"passed a.py (the rest)", "failed a.py::x"}, failed, nil, nil},
			{"4", []string{"passed a.py (all)"}, passed, []string{"a.py::x at 1", "a.py::x at 2", "a.py::x at 3"}, []string{"1", "2", "3"}},
		}, nil},
		{"failures that were not named wait for the whole scope", "pytest", []step{
			{"1", []string{"failed tests (some)"}, failed, nil, nil},
			{"2", []string{"passed tests/a.py::x"}, passed, nil, nil},
			{"3", []string{"passed tests (all)"}, passed, []string{"tests (some) at 1"}, []string{"1"}},
		}, nil},
		{"a narrowed run says nothing of what it left out", "pytest", []step{
			{"1", []string{"failed a.py::x"}, failed, nil, nil},
			{"2", []string{"passed a.py [-k y]"}, passed, nil, nil},
			{"3", []string{"passed unnamed tests"}, passed, nil, nil},
		}, []string{"a.py::x at 1"}},
		{"go: packages, subtests and names without package", "go test", []step{
			{"1", []string{"failed TestA", "failed m/p TestB/one", "error m/q"}, failed, nil, nil},
			{"2", []string{"passed m/p TestA", "passed m/p TestB"}, passed, []string{"TestA at 1", "m/p TestB/one at 1"}, nil},
			{"3", []string{"passed m/q [-run TestC]"}, passed, []string{"m/q at 1"}, []string{"1"}},
		}, nil},
		{"go: a package is not one whose name it begins", "go test", []step{
			{"1", []string{"failed m/pq TestA", "failed m/p/r TestA"}, failed, nil, nil},
			{"2", []string{"passed m/p (all)"}, passed, nil, nil},
		}, []string{"m/pq TestA at 1", "m/p/r TestA at 1"}},
		{"unittest: three forms of a name", "unittest", []step{
			{"1", []string{"failed test_x (a.B)", "failed test_y (a.B.test_y)", "failed a.B.test_z (i=1)"}, failed, nil, nil},
			{"2", []string{"passed a.B.test_x"}, passed, []string{"test_x (a.B) at 1"}, nil},
			{"3", []string{"passed test_y (tests.a.B)", "passed a.B.test_z"}, passed, []string{"test_y (a.B.test_y) at 1", "a.B.test_z (i=1) at 1"}, []string{"1"}},
		}, nil},
		{"suites by title", "jest", []step{
			{"1", []string{"failed src/a.test.ts > s > x", "failed s > y"}, failed, nil, nil},
			{"2", []string{"passed s > x", "passed src/a.test.ts (all)"}, passed, []string{"src/a.test.ts > s > x at 1"}, nil},
			{"3", []string{"passed src/a.test.ts > s > y"}, passed, []string{"s > y at 1"}, []string{"1"}},
		}, nil},
		{"classes with and without package", "maven", []step{
			{"1", []string{"failed CalcTest.subs", "error ex.CalcTest.adds"}, failed, nil, nil},
			{"2", []string{"passed ex.CalcTest.subs", "passed ex.OkTest (all)"}, passed, []string{"CalcTest.subs at 1"}, nil},
			{"3", []string{"passed ex.CalcTest (all)"}, passed, []string{"ex.CalcTest.adds at 1"}, []string{"1"}},
		}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			var tracker validation.Tracker
			for _, s := range c.steps {
				got := tracker.Add(s.node, results(c.runner, s.results))
				var fixes []string
				for _, f := range got.Fixes {
					fixes = append(fixes, f.Test+" at "+f.Node)
					if f.By != s.node {
						t.Errorf("node %s: fix of %s points to %s", s.node, f.Test, f.By)
					}
				}
				if got.Label != s.label {
					t.Errorf("node %s: label %q, want %q", s.node, got.Label, s.label)
				}
				if diff := cmp.Diff(s.fixes, fixes); diff != "" {
					t.Errorf("node %s: fixes (-want +got):\n%s", s.node, diff)
				}
				if diff := cmp.Diff(s.gone, got.Superseded); diff != "" {
					t.Errorf("node %s: superseded (-want +got):\n%s", s.node, diff)
				}
			}
			var open []string
			for _, f := range tracker.Open() {
				open = append(open, f.Name+" at "+f.Node)
			}
			if diff := cmp.Diff(c.open, open); diff != "" {
				t.Errorf("open (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunnersDoNotFixEachOther(t *testing.T) {
	var tracker validation.Tracker
	tracker.Add("1", results("pytest", []string{"failed a.py::x"}))
	got := tracker.Add("2", results("sympy", []string{"passed a.py::x", "passed all tests"}))
	if len(got.Fixes) != 0 || len(tracker.Open()) != 1 {
		t.Errorf("fixes %v, open %v", got.Fixes, tracker.Open())
	}
}

// Whatever the order of results: a node is superseded once and only after each of its failures got its one
// pointer to a later node, a test is open or fixed and never both, and replaying gives the same.
func TestTrackerLaws(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var nodes [][]validation.Result
		for range 30 {
			var rs []validation.Result
			for range r.IntN(5) {
				status := []validation.Status{validation.Passed, validation.Failed, validation.Errored, validation.Skipped}[r.IntN(4)]
				name := []string{"a.py::x", "a.py::y[1]", "a.py::y[2]", "b/a.py::x", "a.py (all)", "b (the rest)", "all tests", "a.py"}[r.IntN(8)]
				if name == "a.py" && status == validation.Failed {
					status = validation.Errored // a file itself can only fail to load
				}
				rs = append(rs, validation.Result{Runner: "pytest", Name: name, Status: status})
			}
			nodes = append(nodes, rs)
		}
		first, second := replay(t, seed, nodes), replay(t, seed, nodes)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("seed %d: replaying differs:\n%s", seed, diff)
		}
	}
}

func replay(t *testing.T, seed uint64, nodes [][]validation.Result) []validation.Change {
	t.Helper()
	var tracker validation.Tracker
	var out []validation.Change
	pointer, gone := map[string]bool{}, map[string]bool{}
	labels := map[string]validation.Label{}
	for i, rs := range nodes {
		id := fmt.Sprintf("%02d", i)
		c := tracker.Add(id, rs)
		labels[id] = c.Label
		for _, f := range c.Fixes {
			key := f.Node + " " + f.Test
			if f.Node >= f.By || pointer[key] || labels[f.Node] != validation.LabelFailed {
				t.Fatalf("seed %d: fix %+v: twice, not later, or of a node that did not fail", seed, f)
			}
			pointer[key] = true
		}
		open := map[string]bool{}
		for _, f := range tracker.Open() {
			open[f.Node] = true
			if pointer[f.Node+" "+f.Name] {
				t.Fatalf("seed %d: %s of %s is open and fixed", seed, f.Name, f.Node)
			}
		}
		for _, n := range c.Superseded {
			if gone[n] || open[n] {
				t.Fatalf("seed %d: %s superseded twice or with an open failure", seed, n)
			}
			gone[n] = true
		}
		out = append(out, c)
	}
	return out
}

func TestStatusLine(t *testing.T) {
	rs := results("pytest", []string{"passed test_basic", "failed test_login", "skipped test_slow", "passed test_out", "error test_db"})
	for _, c := range []struct {
		why  string
		n    int
		want string
	}{
		{"all fit: order of appearance", 5, "TEST STATUS: ✓ test_basic: PASSED, ✗ test_login: FAILED, - test_slow: SKIPPED, ✓ test_out: PASSED, ✗ test_db: ERROR"},
		{"too many: failures first", 3, "TEST STATUS: ✗ test_login: FAILED, ✗ test_db: ERROR, ✓ test_basic: PASSED (and 1 more passed, 1 more skipped)"},
		{"more failures than fit are counted", 1, "TEST STATUS: ✗ test_login: FAILED (and 1 more error, 2 more passed, 1 more skipped)"},
	} {
		if got := validation.StatusLine(rs, c.n); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
	if got := validation.StatusLine(nil, 5); got != "" {
		t.Errorf("no results: %q", got)
	}
	paper := results("pytest", []string{"passed test_basic", "failed test_login"})
	if got, want := validation.StatusLine(paper, 20), "TEST STATUS: ✓ test_basic: PASSED, ✗ test_login: FAILED"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
