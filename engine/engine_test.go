package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// open opens an engine in memory, and checks the store when the test is over.
func open(t *testing.T, opts engine.Options) *engine.Engine {
	t.Helper()
	opts.InMemory = true
	return openAt(t, "", opts)
}

func openAt(t *testing.T, dir string, opts engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Open(dir, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := e.Store().Check(context.Background())
		if err == nil && len(report.Problems) > 0 {
			t.Errorf("store: %v", report.Problems)
		}
		e.Close()
	})
	return e
}

func user(text string) []engine.Message {
	return []engine.Message{{Role: graphstore.User, Text: text}}
}

// did is a step with one call and its answer.
func did(thought, args, observation string) engine.Step {
	return engine.Step{Thought: thought, Calls: []engine.Call{{Name: "bash", Args: args, Observation: &engine.Observation{Text: observation}}}}
}

func appendAll(t *testing.T, s *engine.Session, steps ...engine.Step) []engine.Node {
	t.Helper()
	var nodes []engine.Node
	for _, step := range steps {
		n, err := s.Append(context.Background(), step)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func weave(t *testing.T, s *engine.Session, policy string) *engine.Window {
	t.Helper()
	p, err := engine.ParsePolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Weave(context.Background(), engine.Request{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func count(t *testing.T, e *engine.Engine, name string) int {
	t.Helper()
	info, err := e.Session(name).Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return info.Nodes
}

func TestAppendAgainChangesNothing(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	one := did("look", "ls", "main.go")
	one.Before = user("fix it")
	first := appendAll(t, s, one, one)
	if diff := cmp.Diff(first[0], first[1]); diff != "" {
		t.Errorf("the same step gave another node:\n%s", diff)
	}
	same := one.Clone()
	same.Calls[0].Args = " ls "
	same.Thinking = "stripped or not"
	same.Calls[0].Observation.Text = "main… (shortened by the harness)"
	again := appendAll(t, s, same)
	if diff := cmp.Diff(first[0], again[0]); diff != "" {
		t.Errorf("what is not hashed made another node or changed the old one:\n%s", diff)
	}
	if n := count(t, e, "a"); n != 1 {
		t.Errorf("%d nodes, want 1", n)
	}
	other := one.Clone()
	other.Calls[0].ID = "call_2"
	appendAll(t, s, other)
	if n := count(t, e, "a"); n != 2 {
		t.Errorf("%d nodes, want 2: a call with another id is another step", n)
	}
}

func TestSync(t *testing.T) {
	ctx := context.Background()
	history := []engine.Step{did("a", "ls", "x.go"), did("b", "cat x.go", "package x"), did("b", "cat x.go", "package x"), did("c", "go test", "ok  \tx/y\t0.1s")}
	edited := append([]engine.Step{}, history...)
	edited[1] = did("b, but otherwise", "cat x.go", "package x")
	first := append([]engine.Step{}, history...)
	first[0] = did("a, but otherwise", "ls", "x.go")
	system := append([]engine.Step{}, history...)
	system[0].Before = []engine.Message{{Role: graphstore.System, Text: "the date is another"}}
	e := open(t, engine.Options{})
	s := e.Session("a")
	nodes := 0
	seen := map[engine.NodeID]bool{}
	for _, tt := range []struct {
		name    string
		history []engine.Step
		fresh   int // nodes that the store did not have
		length  int // of the path afterwards
		reason  string
	}{
		{"new", history, 4, 4, "all of it is new, also the turn that repeats itself"},
		{"again", history, 0, 4, "a client that resends everything adds nothing"},
		{"shorter", history[:2], 0, 4, "a history that is only shorter changes nothing"},
		{"longer", append(append([]engine.Step{}, history...), did("d", "ls", "")), 1, 5, "only what came since is new"},
		{"other system text", system, 0, 5, "system text rotates and is not hashed"},
		{"edited", edited, 3, 4, "from the edited step on it is a branch"},
		{"back", history, 0, 4, "the first branch is still there"},
		{"edited at the start", first, 4, 4, "nothing is common"},
		{"back again", history, 0, 4, "the first branch is still there"},
	} {
		if _, err := s.Sync(ctx, tt.history, func(n engine.Node) { seen[n.ID] = true }); err != nil {
			t.Fatal(err)
		}
		if got := count(t, e, "a"); got != nodes+tt.fresh {
			t.Errorf("%s: %d new nodes, want %d: %s", tt.name, got-nodes, tt.fresh, tt.reason)
		}
		nodes = count(t, e, "a")
		if info, err := s.Info(ctx); err != nil || string(info.Head) != string(weave(t, s, "full").Items[tt.length-1].Node) {
			t.Errorf("%s: the head is %s, %v", tt.name, info.Head, err)
		}
		if got := len(weave(t, s, "full").Items); got != tt.length {
			t.Errorf("%s: a path of %d, want %d: %s", tt.name, got, tt.length, tt.reason)
		}
	}
	if len(seen) != nodes {
		t.Errorf("told of %d nodes, the store has %d", len(seen), nodes)
	}
}

func TestAnswersComeLater(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{})
	s := e.Session("a")
	step := engine.Step{Thought: "test", Calls: []engine.Call{{ID: "1", Name: "bash", Args: "go test"}, {ID: "2", Name: "bash", Args: "ls"}}}
	n := appendAll(t, s, step)[0]
	if w := weave(t, s, "full"); w.Items[0].Fate != engine.Waiting || w.Items[1].Fate != engine.Waiting {
		t.Errorf("items %+v, want two open ones", w.Items)
	}
	n, err := s.Answer(ctx, n.ID, 1, engine.Observation{Text: "a.go"})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, did("meanwhile", "pwd", "/src"))
	failing := "--- FAIL: TestX (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tx/y\t0.1s"
	if n, err = s.Answer(ctx, n.ID, 0, engine.Observation{Text: failing}); err != nil {
		t.Fatal(err)
	}
	if n.Validation != graphstore.Failed {
		t.Errorf("label %q after a late failure, want failed", n.Validation)
	}
	if n, err = s.Answer(ctx, n.ID, 0, engine.Observation{Text: "something else"}); err != nil || n.Step.Calls[0].Observation.Text != failing {
		t.Errorf("a second answer replaced the first: %v", err)
	}
	for what, err := range map[string]error{
		"no such step": second(s.Answer(ctx, "00000000000000000000000000000000", 0, engine.Observation{})),
		"no such call": second(s.Answer(ctx, n.ID, 2, engine.Observation{})),
	} {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
}

func second(_ engine.Node, err error) error { return err }

func TestLabelsAndFixes(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	run := func(x, y string) engine.Step {
		last := map[bool]string{true: "ok  ", false: "FAIL"}[x+y == "PASSPASS"]
		return did("test", "go test -v ./... # "+x+y, fmt.Sprintf("--- %s: TestX (0.00s)\n--- %s: TestY (0.00s)\n%s\tx/y\t0.1s", x, y, last))
	}
	appendAll(t, s, did("look", "cat x.go", "x"), run("FAIL", "FAIL"), did("edit", "sed -i s/a/b/ x.go", ""), run("PASS", "FAIL"), run("PASS", "PASS"))
	var labels []graphstore.Validation
	var fixes [][]string
	for n, err := range e.Store().Session(context.Background(), "a") {
		if err != nil {
			t.Fatal(err)
		}
		labels = append(labels, n.Validation)
		var f []string
		for _, x := range n.Fixes {
			f = append(f, x.Test)
		}
		fixes = append(fixes, f)
	}
	want := []graphstore.Validation{"", "superseded", "", "superseded", "passed"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if len(fixes[1]) != 2 || len(fixes[3]) != 1 {
		t.Errorf("fixes %q: want a pointer for each test that failed", fixes)
	}
}

// selector answers with a function.
type selector func(context.Context, controller.Question) (controller.Answer, error)

func (f selector) Select(ctx context.Context, q controller.Question) (controller.Answer, error) {
	return f(ctx, q)
}

func TestSelectorCanHarmNothing(t *testing.T) {
	for _, tt := range []struct {
		name     string
		f        selector
		kinds    int // edges of kind model
		reason   string
		deadline time.Duration
	}{
		{"chooses", func(_ context.Context, q controller.Question) (controller.Answer, error) {
			return controller.Answer{By: "m", Choices: []controller.Choice{{ID: q.Candidates[len(q.Candidates)-1].ID, Kind: controller.ModelLink, Score: 0.5}}}, nil
		}, 2, "a choice among the candidates counts, and adds nothing where rules guessed the same", time.Minute},
		{"error", func(context.Context, controller.Question) (controller.Answer, error) {
			return controller.Answer{}, errors.New("500")
		}, 0, "rules decide", time.Minute},
		{"panic", func(context.Context, controller.Question) (controller.Answer, error) { panic("boom") }, 0, "rules decide", time.Minute},
		{"hangs", func(ctx context.Context, _ controller.Question) (controller.Answer, error) { select {} }, 0, "it is left behind at the deadline", 20 * time.Millisecond},
		{"outside", func(_ context.Context, q controller.Question) (controller.Answer, error) {
			return controller.Answer{By: "m", Choices: []controller.Choice{{ID: q.Turn.ID, Kind: controller.ModelLink, Score: 0.5}, {ID: "nonsense", Score: 1}}}, nil
		}, 0, "ids outside the candidates, the step itself among them, are dropped: no cycle", time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, engine.Options{Selector: selector(func(ctx context.Context, q controller.Question) (controller.Answer, error) {
				if len(q.Candidates) == 0 {
					return controller.Answer{}, nil
				}
				return tt.f(ctx, q)
			}), Deadline: tt.deadline})
			nodes := appendAll(t, e.Session("a"), did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"), did("ah", "true", "3"))
			kinds := 0
			for i, n := range nodes {
				if i > 0 && len(n.Parents) == 0 {
					t.Errorf("step %d is an orphan", i)
				}
				for _, p := range n.Parents {
					if p.Kind == graphstore.Model {
						kinds++
					}
				}
			}
			if kinds != tt.kinds {
				t.Errorf("%d edges by the model, want %d: %s", kinds, tt.kinds, tt.reason)
			}
		})
	}
}

func TestFailedStoreFailsAppend(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	appendAll(t, s, did("a", "ls", "x"))
	e.Close()
	if _, err := s.Append(context.Background(), did("b", "ls", "y")); err == nil {
		t.Error("Append to a closed store succeeded")
	}
}

func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{})
	var wg sync.WaitGroup
	const each = 15
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := e.Session(fmt.Sprint("s", g%3)) // sessions are shared by goroutines
			for i := range each {
				if _, err := s.Append(ctx, did(fmt.Sprint(g), fmt.Sprintf("cat f%d_%d.go", g, i), "func F() {}")); err != nil {
					t.Error(err)
				}
				if _, err := s.Weave(ctx, engine.Request{Policy: engine.Paper(3, 5)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	total := 0
	for i := range 3 {
		total += count(t, e, fmt.Sprint("s", i))
	}
	if total != 8*each {
		t.Errorf("%d nodes, want %d", total, 8*each)
	}
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewSource(7))
	windows := map[string]*engine.Window{}
	e := openAt(t, dir, engine.Options{})
	appendAll(t, e.Session("a"), randomSteps(rnd, 30)...)
	for _, p := range []string{"full", "window:3", "polling:2/7", "paper:3/5"} {
		windows[p] = weave(t, e.Session("a"), p)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openAt(t, dir, engine.Options{})
	for p, before := range windows {
		if diff := cmp.Diff(before, weave(t, e.Session("a"), p), cmp.Comparer(func(a, b engine.Policy) bool { return a == b })); diff != "" {
			t.Errorf("%s: another window after a restart:\n%s", p, diff)
		}
	}
	before := weave(t, e.Session("a"), "full")
	appendAll(t, e.Session("a"), did("on", "ls", "and on"))
	after := weave(t, e.Session("a"), "full")
	if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
		t.Errorf("appending changed what was there:\n%s", diff)
	}
}

func TestRecall(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{})
	s := e.Session("a")
	step := did("look", "cat a", "line one\nline two")
	step.Calls = append(step.Calls, engine.Call{Name: "bash", Args: "cat b", Observation: &engine.Observation{Text: "other"}}, engine.Call{Name: "bash"})
	n := appendAll(t, s, step, did("more", "ls", "x"))[0]
	w := weave(t, s, "window:1")
	if w.Items[1].Fate != engine.Omitted {
		t.Fatalf("items %+v", w.Items)
	}
	got, err := e.Recall(ctx, w.Items[1].Handle)
	if err != nil || got.Text() != "other" {
		t.Errorf("recalled %q, %v", got.Text(), err)
	}
	got, err = e.Recall(ctx, engine.Handle(n.ID[:6]))
	if err != nil || got.Text() != "line one\nline twoother" {
		t.Errorf("recalled %q, %v: want all observations of the step", got.Text(), err)
	}
	for _, h := range []engine.Handle{"", "zz", "abc", "ffffffffff.1", "a.b", engine.NewHandle(n.ID, 2), engine.NewHandle(n.ID, 9), "../../x"} {
		if _, err := e.Recall(ctx, h); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("handle %q: %v, want one clear line", h, err)
		}
	}
}
