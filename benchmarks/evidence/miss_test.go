package evidence

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

// TestMisses reads what a window of one observation misses of a run whose last call takes a word of the first.
func TestMisses(t *testing.T) {
	steps := chain()
	steps[0].Calls[0].Observation.Text = "a\nb\n  max_rate = 3\nc\n"
	steps[7].Thought = "Where is it?"
	s, err := NewSession("chain", "made", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	s.File = "chain.json"
	o := Options{Misses: true, Cache: t.TempDir(), Program: "p", Naive: []string{"polling:1/5"}}
	want := []Miss{{
		Session: "chain", File: "chain.json", Policy: "window:1", Call: 7, Reference: Reference{Text: "max_rate"},
		Thought: "Where is it?", Action: "sh grep max_rate", Holders: 1,
		Newest: Holder{Call: 0, Step: 0, Line: 3, Lines: 4, Age: 7, Action: "sh ls", Fate: engine.Omitted, Why: "older than the newest 1 observations"},
	}}
	for _, run := range []string{"measured", "kept"} {
		results, err := Run(t.Context(), []Session{s}, []string{"full", "window:1"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(results[0].Misses)+len(results[2].Misses) > 0 {
			t.Errorf("%s: full misses %d, and a naive policy tells of %d", run, len(results[0].Misses), len(results[2].Misses))
		}
		if diff := cmp.Diff(want, results[1].Misses); diff != "" {
			t.Errorf("%s: %s", run, diff)
		}
		var b bytes.Buffer
		var line Miss
		if err := WriteMisses(&b, results); err != nil || strings.Count(b.String(), "\n") != 1 || json.Unmarshal(b.Bytes(), &line) != nil || cmp.Diff(want[0], line) != "" {
			t.Errorf("%s: %v: %s", run, err, b.String())
		}
	}
	o.Misses = false
	results, err := Run(t.Context(), []Session{s}, []string{"full", "window:1"}, o)
	if err != nil || results[1].Misses != nil {
		t.Errorf("not asked for: %v, %v", results[1].Misses, err)
	}
}

// TestAround: what is cut keeps the reference, in whole characters.
func TestAround(t *testing.T) {
	long := strings.Repeat("é", quoted)
	for _, test := range []struct{ reason, text, what string }{
		{"a short text stays whole", "grep max_rate .", "max_rate"},
		{"in the middle", long + "max_rate" + long, "max_rate"},
		{"at an end", long + "x" + long + "max_rate", "max_rate"},
		{"what is not there leaves the beginning", long, "max_rate"},
	} {
		got := around(test.text, test.what)
		if len(got) > quoted+len(test.what) || strings.Contains(test.text, test.what) != strings.Contains(got, test.what) || !strings.Contains(test.text, got) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%s: %q", test.reason, got)
		}
	}
}

func TestStretch(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		from, to     int
		want         string
	}{
		{"the first lines", "a\nb\nc\n", 1, 2, "a\nb\n"},
		{"one in the middle", "a\nb\nc", 2, 2, "b\n"},
		{"the last, without an end", "a\nb\nc", 3, 3, "c"},
		{"past the end", "a\nb", 2, 9, "b"},
		{"nowhere", "a\nb", 5, 6, ""},
		{"nothing", "", 1, 1, ""},
	} {
		if got := stretch(test.text, test.from, test.to); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}

// TestUsed: what is paged in counts as used by the call that takes something from its lines.
func TestUsed(t *testing.T) {
	steps := chain()
	steps[0].Calls[0].Observation.Text = "a\nmax_rate\nb"
	for _, test := range []struct {
		reason string
		call   int
		item   engine.Item
		want   int
	}{
		{"its line is paged in", 7, engine.Item{Fate: engine.Omitted, In: []engine.Part{{FromLine: 1, ToLine: 2}}}, 1},
		{"in the second of two stretches", 7, engine.Item{Fate: engine.Omitted, In: []engine.Part{{FromLine: 1, ToLine: 1}, {FromLine: 2, ToLine: 3}}}, 1},
		{"other lines are", 7, engine.Item{Fate: engine.Omitted, In: []engine.Part{{FromLine: 3, ToLine: 3}}}, 0},
		{"another call takes nothing", 6, engine.Item{Fate: engine.Omitted, In: []engine.Part{{FromLine: 1, ToLine: 3}}}, 0},
		{"it is whole in its place", 7, engine.Item{Fate: engine.Whole}, 0},
	} {
		test.item.Handle = "3fa9.1"
		r := NewJudge(steps).Trial().AddWindow(test.call, &engine.Window{Items: []engine.Item{test.item}})
		if r.Used != test.want {
			t.Errorf("%s: %d, want %d", test.reason, r.Used, test.want)
		}
	}
}
