package engine_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// straight makes steps each of which rests on what the one before it printed.
func straight(n int) []engine.Step {
	var steps []engine.Step
	for i := range n {
		s := did("On with it.", fmt.Sprintf(`{"command":"./next --token tok_%d_ab"}`, 1000+i), fmt.Sprintf("done: now use tok_%d_ab\n", 1001+i))
		s.Calls[0].ID = fmt.Sprint("call_", i)
		if i == 0 {
			s.Before = user("follow the tokens")
		}
		steps = append(steps, s)
	}
	return steps
}

func TestStrategy(t *testing.T) {
	spread := work(rand.New(rand.NewSource(1)), 40)
	for _, c := range []struct {
		name    string
		steps   []engine.Step
		asked   engine.Strategy
		want    engine.Strategy
		because string
	}{
		{"a session that goes straight on", straight(30), engine.Auto, engine.Recency, "100 % of the steps rest on the one before"},
		{"no strategy named is auto", straight(30), "", engine.Recency, "0 files touched"},
		{"work that comes back to distant steps", spread, engine.Auto, engine.Structural, "40 files touched"},
		{"too little to tell", straight(5), engine.Auto, engine.Structural, "too few steps to tell (5)"},
		{"asked for, against what suits", straight(30), engine.Structural, engine.Structural, "as asked"},
		{"asked for, against what suits", spread, engine.Recency, engine.Recency, "as asked"},
	} {
		s := open(t, engine.Options{}).Session("a")
		appendAll(t, s, c.steps...)
		w, err := s.Weave(context.Background(), engine.Request{Policy: engine.WorkingSet, Strategy: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		if w.Epoch.Strategy != c.want || !strings.Contains(w.Epoch.Because, c.because) {
			t.Errorf("%s: went by %s because %q, want %s because of %q", c.name, w.Epoch.Strategy, w.Epoch.Because, c.want, c.because)
		}
		again, err := s.Weave(context.Background(), engine.Request{Policy: engine.WorkingSet, Strategy: engine.Structural})
		if err != nil || again.Epoch.Strategy != c.want {
			t.Errorf("%s: the same request again went by %s (%v): what was decided stands", c.name, again.Epoch.Strategy, err)
		}
		tail, err := s.Weave(context.Background(), engine.Request{Policy: engine.PaperTail(3, 5), Strategy: c.asked})
		if err != nil || tail.Epoch.Strategy != "" {
			t.Errorf("%s: paper-tail has a strategy, %s (%v)", c.name, tail.Epoch.Strategy, err)
		}
	}
}

// Recency keeps more of the newest observations at a page-out.
func TestStrategyKeeps(t *testing.T) {
	steps := work(rand.New(rand.NewSource(2)), 60)
	whole := map[engine.Strategy]int{}
	for _, s := range []engine.Strategy{engine.Structural, engine.Recency} {
		least := len(steps)
		err := engine.Replay(context.Background(), steps, engine.WorkingSet, engine.ReplayOptions{Strategy: s}, func(_ int, w *engine.Window) error {
			if w.Epoch.PageOuts == 0 || w.Epoch.Requests > 1 {
				return nil
			}
			n := 0
			for _, i := range w.Items {
				if i.Fate == engine.Whole {
					n++
				}
			}
			least = min(least, n)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		whole[s] = least
	}
	if whole[engine.Recency] <= whole[engine.Structural] || whole[engine.Recency] == len(steps) {
		t.Errorf("whole after a page-out: %v", whole)
	}
}

// An ablation changes what it names: what is paged in without the graph or by another walk, and the labels.
func TestAblation(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	steps := work(rnd, 80)
	for i := range steps { // a second parent
		steps[i].Thought += fmt.Sprintf(" And handle_%d_%d.", rnd.Intn(i+1), rnd.Intn(30))
	}
	contexts := func(p engine.Policy, a engine.Ablation) string {
		var b strings.Builder
		err := engine.Replay(context.Background(), steps, p, engine.ReplayOptions{Ablation: a}, func(_ int, w *engine.Window) error {
			for _, m := range w.Messages {
				b.WriteString(m.Content)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := contexts(engine.WorkingSet, engine.Ablation{})
	if usual := contexts(engine.WorkingSet, engine.Ablation{Walk: graphstore.Walk{W: 10, M: 3}}); usual != whole {
		t.Error("the usual walk, named, changes what is woven")
	}
	for name, a := range map[string]engine.Ablation{
		"no graph": {NoGraph: true},
		"a tree":   {Walk: graphstore.Walk{M: 1}},
		"W=1":      {Walk: graphstore.Walk{W: 1}},
	} {
		if contexts(engine.WorkingSet, a) == whole {
			t.Errorf("%s: nothing changed", name)
		}
	}

	failing := did("Test.", `{"command":"go test ./..."}`, "--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n")
	failing.Before = user("mend the tests")
	next := did("Look.", `{"command":"cat a.go"}`, "package a\n")
	for _, c := range []struct {
		ablation engine.Ablation
		want     bool
	}{{engine.Ablation{}, true}, {engine.Ablation{NoValidation: true}, false}} {
		var last *engine.Window
		err := engine.Replay(context.Background(), []engine.Step{failing, next, next}, engine.Paper(3, 5), engine.ReplayOptions{Ablation: c.ablation}, func(_ int, w *engine.Window) error {
			last = w
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for _, m := range last.Messages {
			shown = shown || strings.Contains(m.Content, "TEST STATUS")
		}
		if shown != c.want {
			t.Errorf("%+v: the state of the tests is shown: %t, want %t", c.ablation, shown, c.want)
		}
	}
}
