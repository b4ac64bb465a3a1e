package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

// work makes steps that read files and come back to what was read long before.
func work(rnd *rand.Rand, n int) []engine.Step {
	var steps []engine.Step
	for i := range n {
		var text strings.Builder
		for l := range 30 + rnd.Intn(60) {
			fmt.Fprintf(&text, "%d: func handle_%d_%d(request *Request) error { return store.Find(%d) }\n", l, i, l, rnd.Intn(100000))
		}
		s := did(fmt.Sprintf("Now I need handle_%d_%d.", rnd.Intn(i+1), rnd.Intn(30)), fmt.Sprintf(`{"command":"sed -n 1,90p pkg/file_%d.go"}`, i), text.String())
		s.Calls[0].ID = fmt.Sprint("call_", i)
		if i == 0 {
			s.Before = user("mend the handlers")
		}
		steps = append(steps, s)
	}
	return steps
}

// prefix is how many leading messages two prompts share, byte for byte, and whether all of the first.
func prefix(t *testing.T, a, b []engine.Prompt) (int, bool) {
	t.Helper()
	for i := range a {
		x, err := json.Marshal(a[i])
		if err != nil {
			t.Fatal(err)
		}
		if i == len(b) {
			return i, false
		}
		y, err := json.Marshal(b[i])
		if err != nil {
			t.Fatal(err)
		}
		if string(x) != string(y) {
			return i, false
		}
	}
	return len(a), true
}

// Between two page-outs the prompt only grows, also across a restart; and page-outs do happen, few of them,
// and page in what they took.
func TestWorkingSetEpochs(t *testing.T) {
	seed := time.Now().UnixNano()
	dir := t.TempDir()
	e := openAt(t, dir, engine.Options{NoSync: true})
	var before *engine.Window
	outs, tails := 0, 0
	for i, step := range work(rand.New(rand.NewSource(seed)), 90) {
		if i%13 == 12 { // the process dies and comes back
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = openAt(t, dir, engine.Options{NoSync: true})
		}
		s := e.Session("a")
		appendAll(t, s, step)
		w := weave(t, s, "workingset")
		if again := weave(t, s, "workingset"); !cmp.Equal(w.Messages, again.Messages) {
			t.Fatalf("seed %d: step %d: the same request was woven in two ways", seed, i)
		}
		gone := 0
		for _, it := range w.Items {
			if it.Fate == engine.Omitted {
				gone++
			}
		}
		if before != nil {
			n, all := prefix(t, before.Messages, w.Messages)
			if !all {
				outs++
				was := 0
				for _, it := range before.Items {
					if it.Fate == engine.Omitted {
						was++
					}
				}
				if gone <= was {
					t.Errorf("seed %d: step %d: message %d changed, though nothing more was paged out", seed, i, n)
				}
			}
		}
		if strings.Contains(w.Messages[len(w.Messages)-1].Content, "--- from earlier steps ---") {
			tails++
		}
		before = w
	}
	if outs < 2 || outs > 5 {
		t.Errorf("seed %d: %d page-outs in 90 requests, want a few", seed, outs)
	}
	if tails == 0 {
		t.Errorf("seed %d: nothing was ever paged in", seed)
	}
	if before.Tokens > before.Full*2/3 {
		t.Errorf("seed %d: %d tokens of %d: too little was paged out", seed, before.Tokens, before.Full)
	}
}

// What is paged in is byte for byte what the tool said, under a heading that can be recalled.
func TestWorkingSetPagesInWhatWasSaid(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	said := map[string]bool{}
	for _, step := range work(rnd, 60) {
		for _, l := range strings.Split(step.Calls[0].Observation.Text, "\n") {
			said[l] = true
		}
		appendAll(t, s, step)
		last := weave(t, s, "workingset:rich").Messages
		_, tail, found := strings.Cut(last[len(last)-1].Content, "\n\n--- from earlier steps ---\n")
		if !found {
			continue
		}
		for _, l := range strings.Split(tail, "\n") {
			if handle, _, ok := strings.Cut(strings.TrimPrefix(l, "["), ", line "); ok && l[0] == '[' {
				if _, err := e.Recall(context.Background(), engine.Handle(handle)); err != nil {
					t.Errorf("%q: %v", l, err)
				}
			} else if !strings.HasPrefix(l, "[line ") && !said[l] {
				t.Errorf("%q was never said", l)
			}
		}
	}
}

func TestWorkingSetBudget(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	for i, step := range work(rand.New(rand.NewSource(5)), 60) {
		appendAll(t, s, step)
		w, err := s.Weave(ctx, engine.Request{Policy: engine.WorkingSet, Budget: 16000})
		if err != nil || w.Tokens > 16000 {
			t.Fatalf("step %d: %d tokens, %v", i, w.Tokens, err)
		}
	}
	w, err := s.Weave(ctx, engine.Request{Policy: engine.WorkingSet, Budget: 1000, Pending: user("and now?"), Dry: true})
	if !errors.Is(err, engine.ErrBudget) || w == nil || len(w.Messages) == 0 {
		t.Fatalf("what must stay is larger than 1000 tokens, and yet: %v", err)
	}
}

// Short sessions are left alone, whatever the level.
func TestWorkingSetLeavesShortSessionsAlone(t *testing.T) {
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	for _, step := range work(rand.New(rand.NewSource(2)), 6) {
		appendAll(t, s, step)
		for _, p := range []string{"workingset", "workingset:lean", "workingset:rich"} {
			if diff := cmp.Diff(weave(t, s, "full").Messages, weave(t, s, p).Messages); diff != "" {
				t.Fatalf("%s changed a short session:\n%s", p, diff)
			}
		}
	}
}

// A test that fails stays in sight until it passes, however old.
func TestWorkingSetKeepsOpenFailures(t *testing.T) {
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	failing := "--- FAIL: TestX (0.00s)\n    x_test.go:3: got 1, want 2\n" + strings.Repeat("    a line of the log of the test\n", 20) + "FAIL\nFAIL\tx/y\t0.1s"
	appendAll(t, s, did("test", "go test ./...", failing))
	steps := work(rand.New(rand.NewSource(9)), 70)
	for _, step := range steps[:35] {
		appendAll(t, s, step)
		weave(t, s, "workingset")
	}
	if w := weave(t, s, "workingset"); w.Items[0].Fate != engine.Whole || w.Items[1].Fate != engine.Omitted {
		t.Errorf("the open failure is %s, the step after it %s", w.Items[0].Fate, w.Items[1].Fate)
	}
	appendAll(t, s, did("test again", "go test -v ./...", "--- PASS: TestX (0.00s)\nok  \tx/y\t0.1s"))
	for _, step := range steps[35:] {
		appendAll(t, s, step)
		weave(t, s, "workingset")
	}
	if w := weave(t, s, "workingset"); w.Items[0].Fate != engine.Omitted {
		t.Errorf("the fixed failure is still %s", w.Items[0].Fate)
	}
}

// When the cache has gone cold, a page-out costs nothing and happens at once; branches have their own decisions.
func TestWorkingSetColdCacheAndBranches(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	steps := work(rand.New(rand.NewSource(4)), 18)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	request := func() *engine.Window {
		w, err := s.Weave(ctx, engine.Request{Policy: engine.WorkingSet, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	omitted := func(w *engine.Window) (n int) {
		for _, i := range w.Items {
			if i.Fate == engine.Omitted {
				n++
			}
		}
		return n
	}
	for i, step := range steps[:16] {
		appendAll(t, s, step)
		now = now.Add(10 * time.Second)
		if i == 9 {
			now = now.Add(-time.Hour) // a clock that is set back makes no cache cold
		}
		if n := omitted(request()); n != 0 {
			t.Fatalf("%d observations paged out early", n)
		}
	}
	appendAll(t, s, steps[16])
	w, err := s.Weave(ctx, engine.Request{Policy: engine.WorkingSet, Now: now, Cold: true, Dry: true})
	if err != nil {
		t.Fatal(err)
	}
	if omitted(w) == 0 {
		t.Error("nothing was paged out, though the caller says that the cache is cold")
	}
	fork := now
	now = now.Add(time.Hour)
	if n := omitted(request()); n == 0 {
		t.Error("nothing was paged out, though the cache was cold")
	}
	edited := append(append([]engine.Step{}, steps[:16]...), did("another way", "ls", "x"))
	if _, err := s.Sync(ctx, edited, nil); err != nil {
		t.Fatal(err)
	}
	now = fork.Add(10 * time.Second)
	if n := omitted(request()); n != 0 {
		t.Errorf("%d observations are paged out on a branch where none were", n)
	}
}
