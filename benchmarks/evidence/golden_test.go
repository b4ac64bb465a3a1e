package evidence

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

var update = flag.Bool("update", false, "write the figures as they are now to testdata/golden.txt")

var goldenPolicies = []string{"full", "window:5", "polling:5/20", "paper:3/5", "paper-tail:3/5", "workingset"}

// TestGolden guards against a silent loss of quality: a change of these figures is to be seen, and meant.
func TestGolden(t *testing.T) {
	sessions := bundled(t)
	results, err := Run(t.Context(), sessions, goldenPolicies, Options{First: 200})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	line := func(session, policy string, s Score) {
		fmt.Fprintf(&got, "%-12s %-14s recall %.3f  lines %.3f  served %.3f  prompt %6.0f  uncached %6.0f  cost %6.0f  rereads %3d\n",
			session, policy, s.Recall(), s.LineRecall(), s.ServedShare(), s.MeanPrompt(), s.MeanUncached(), s.Cost(), s.Rereads)
	}
	totals := make([]Score, len(goldenPolicies))
	for i, r := range results {
		line(sessions[r.Session].Name, r.Policy, r.Score)
		totals[i%len(goldenPolicies)].merge(r.Score)
	}
	for i, s := range totals {
		line("all", goldenPolicies[i], s)
	}
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("the figures changed; if that is meant, run go test ./benchmarks/evidence -update\n%s", diff)
	}
}

// bundled is the demo's run and three made ones.
func bundled(t *testing.T) []Session {
	t.Helper()
	sessions, err := ReadSessions("../../cmd/ctxweaver/demo.jsonl", importer.Options{}, 20)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("the demo's run: %d sessions, %v", len(sessions), err)
	}
	sessions[0].Name = "demo"
	for _, m := range []struct {
		name         string
		seed         uint64
		files, steps int
	}{{"linear", 1, 2, 40}, {"spread", 2, 12, 80}, {"long", 3, 20, 220}} {
		s, err := NewSession(m.name, "made", m.name, made(m.seed, m.files, m.steps))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	return sessions
}

// made is a run in which an agent views, searches, edits and tests so many files. What it edits and greps for
// comes from what it saw a few or many steps before. The same seed makes the same run.
func made(seed uint64, files, steps int) []engine.Step {
	r := rand.New(rand.NewPCG(seed, 0))
	source := make([][]string, files)
	for f := range source {
		for range 40 + r.IntN(80) {
			source[f] = append(source[f], fmt.Sprintf("\tvalue_%d = scale%dBy(value_%d, %d)", r.IntN(900), r.IntN(90), r.IntN(900), 1000+r.IntN(9000)))
		}
	}
	name := func(f int) string { return fmt.Sprintf("pkg%d/unit_%d.go", f%3, f) }
	var out []engine.Step
	do := func(thought, tool, args, answer string) {
		out = append(out, engine.Step{Thought: thought, Calls: []engine.Call{{Name: tool, Args: args, Observation: seen(answer)}}})
	}
	viewed := []int{}
	for len(out) < steps {
		f := r.IntN(files)
		switch kind := r.IntN(10); {
		case kind < 4 || len(viewed) == 0:
			do("I read on.", "cat", name(f), strings.Join(source[f], "\n"))
			viewed = append(viewed, f)
		case kind < 6:
			f = viewed[max(0, len(viewed)-1-r.IntN(8))]
			old := source[f][r.IntN(len(source[f]))]
			do("This line is wrong.", "edit", fmt.Sprintf(`{"path": "%s", "old": "\n\t%s\n", "new": "\tpanic(1)"}`, name(f), strings.TrimSpace(old)), "edited "+name(f))
		case kind < 8:
			line := source[f][r.IntN(len(source[f]))]
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			do("Where else is it?", "grep", word, name(f)+":"+line)
		default:
			do("Do the tests pass?", "go", "test ./...", fmt.Sprintf("--- FAIL: TestUnit%d (0.00s)\n    unit_%d_test.go:%d: got %d\nFAIL", f, f, r.IntN(99), r.IntN(9999)))
		}
	}
	out[0].Before = user("Make the tests pass.")
	return out
}

// TestFullHoldsAll: the whole history holds whatever the measure asks for, but for what escapes hide.
func TestFullHoldsAll(t *testing.T) {
	for _, s := range bundled(t) {
		results, err := Run(context.Background(), []Session{s}, []string{Baseline}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		score := results[0].Score
		if score.References == 0 || score.Held != score.References || score.Rereads != 0 {
			t.Errorf("%s: %+v", s.Name, score)
		}
	}
}
