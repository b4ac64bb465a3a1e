package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

const mended = "Make the tests of the calculator pass, please, and say why they failed."

// told is a made run of a task.
func told(t *testing.T, name, task string, seed uint64) Session {
	t.Helper()
	steps := made(seed, 3, 30)
	steps[0].Before = user(task)
	s, err := NewSession(name, "made", name, steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReruns(t *testing.T) {
	again := told(t, "again", mended, 1)
	again.Steps = slices.Clone(again.Steps) // in another file, where each answer has a heading
	for i, s := range again.Steps {
		s = s.Clone()
		s.Calls[0].Observation.Text = "OUTPUT:\n" + s.Calls[0].Observation.Text
		again.Steps[i] = s
	}
	for _, test := range []struct {
		reason   string
		sessions []Session
		want     []int
	}{
		{"two runs of a task", []Session{told(t, "a", mended, 1), told(t, "b", mended, 2)}, []int{1, -1}},
		{"each with the next of several", []Session{told(t, "a", mended, 1), told(t, "x", "Something else, which is long enough to be a task.", 4), told(t, "b", mended+"\n", 2), told(t, "c", mended, 3)}, []int{2, -1, 3, -1}},
		{"a greeting is no task", []Session{told(t, "a", "Go on.", 1), told(t, "b", "Go on.", 2)}, []int{-1, -1}},
		{"one run in two files is no other run", []Session{told(t, "a", mended, 1), again}, []int{-1, -1}},
	} {
		if diff := cmp.Diff(test.want, reruns(test.sessions)); diff != "" {
			t.Errorf("%s: %s", test.reason, diff)
		}
	}
}

// TestTask takes all that the user says before the first call, and nothing later.
func TestTask(t *testing.T) {
	steps := []engine.Step{
		{Before: append(user("Repair it."), engine.Message{Role: "system", Text: "You are an agent."}), Thought: "What?"},
		{Before: user("The parser of the calculator, I mean."), Calls: []engine.Call{{Name: "ls"}}},
		{Before: user("Thanks."), Calls: []engine.Call{{Name: "ls"}}},
	}
	if got, want := task(steps), "Repair it.\nThe parser of the calculator, I mean."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestViewDistance(t *testing.T) {
	of := func(known, sight string) view {
		v := view{set{}, set{}}
		for _, f := range strings.Fields(known) {
			v.known[f] = true
		}
		for _, f := range strings.Fields(sight) {
			v.sight[f] = true
		}
		return v
	}
	for _, test := range []struct {
		reason string
		a, b   view
		want   Distance
	}{
		{"the same in sight", of("a b", "a"), of("a b c", "a c"), Distance{0, 1}},
		{"one of two", of("a b", "a b"), of("a b", "a"), Distance{0.5, 1}},
		{"nothing in common", of("a b", "a"), of("a b", "b"), Distance{1, 1}},
		{"what only one has seen does not count", of("a b", "a b"), of("a c", "a c"), Distance{0, 1}},
		{"nothing in sight is no difference", of("a", ""), of("a", ""), Distance{0, 1}},
		{"where both have seen nothing there is nothing to compare", of("a", "a"), of("b", "b"), Distance{}},
	} {
		if got := test.a.distance(test.b); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.reason, got, test.want)
		}
	}
}

// TestRerun: where everything is shown two runs have the same in sight, whatever they did; a window has the newest of
// each. How many pairs there were is told.
func TestRerun(t *testing.T) {
	sessions := []Session{told(t, "a", mended, 1), told(t, "b", mended, 2), told(t, "c", "Something else, which is long enough to be a task.", 3)}
	policies := []string{"full", "window:2"}
	o := Options{Stability: true, Cache: t.TempDir(), Program: "p"}
	for _, run := range []string{"measured", "kept"} {
		results, err := Run(t.Context(), sessions, policies, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReport(sessions, policies, 2, results, InMoney(engine.PricePresets()[0]), 1)
		if err != nil {
			t.Fatal(err)
		}
		full, window := r.Groups[0].Rows[0].Stability, r.Groups[0].Rows[1].Stability
		if full.Pairs != 1 || full.Rerun.Requests == 0 || full.Rerun.Mean() != 0 || window.Pairs != 1 || window.Rerun.Mean() == 0 {
			t.Errorf("%s: full %+v, window %+v", run, full, window)
		}
		var b strings.Builder
		if _, err := r.WriteTo(&b); err != nil || !strings.Contains(b.String(), "pairs of runs: 1") || !strings.Contains(b.String(), "RERUN") {
			t.Errorf("%s: %v\n%s", run, err, b.String())
		}
	}
}
