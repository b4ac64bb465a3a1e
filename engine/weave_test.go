package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func TestParsePolicy(t *testing.T) {
	for _, tt := range []struct{ in, reason string }{
		{"full", ""},
		{"window:5", ""},
		{"polling:5/20", ""},
		{"paper:3/5", ""},
		{"clear:30000/10/5000", ""},
		{"prune:15000/15000", ""},
		{"paper-tail:3/5", ""},
		{"paper-tail", "its numbers are missing"},
		{"summary:5", ""},
		{"summary", "its number is missing"},
		{"bm25:5/5", ""},
		{"bm25:5", "a number is missing"},
		{"bm25:", "a number is missing"},
		{"clear:30000/10", "a number is missing"},
		{"", "a policy has a name"},
		{"windows:5", "unknown"},
		{"window", "a number is missing"},
		{"window:", "a number is missing"},
		{"window:0", "numbers start at 1"},
		{"window:-1", "numbers start at 1"},
		{"window:5/6", "one number too many"},
		{"polling:5", "a number is missing"},
		{"paper:3/five", "not a number"},
		{"full:1", "full takes none"},
		{"full:", "full takes none"},
		{"window:99999999999999999999", "not a number that fits"},
		{"workingset", ""},
		{"workingset:lean", ""},
		{"workingset:rich", ""},
		{"workingset:fat", "there is no such level"},
		{"workingset:", "there is no such level"},
		{"workingset:default", "the default has no name of its own"},
	} {
		p, err := engine.ParsePolicy(tt.in)
		if (err == nil) != (tt.reason == "") {
			t.Errorf("%q: %v, %s", tt.in, err, tt.reason)
		}
		if err == nil && p.String() != tt.in {
			t.Errorf("%q reads back as %q", tt.in, p)
		}
	}
	if p, err := engine.ParsePolicy("bm25"); err != nil || p != engine.BM25(5, 5) {
		t.Errorf("bm25 alone is %s, %v", p, err)
	}
	_, err := engine.ParsePolicy("nonsense")
	for _, form := range []string{"full", "window:5", "polling:5/20", "paper:3/5", "paper-tail:3/5", "summary:5", "bm25:5/5"} {
		if !strings.Contains(err.Error(), form) {
			t.Errorf("%q does not name %s", err, form)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{"full", "window:5", "polling:5/20", "paper:3/5", ":", "paper:3/5/7", "paper-tail:3/5", "summary:5", "bm25", "workingset:lean"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := engine.ParsePolicy(s)
		if err != nil {
			return
		}
		if q, err := engine.ParsePolicy(p.String()); err != nil || q != p {
			t.Errorf("%q reads as %q, which reads as %q, %v", s, p, q, err)
		}
	})
}

// shown lists by step number which observations a Window has whole.
func shown(w *engine.Window) []int {
	var out []int
	for _, i := range w.Items {
		if i.Fate == engine.Whole {
			out = append(out, i.Seq)
		}
	}
	return out
}

// The paper's walk-through (§3.4), pytest-5262: from node 18 with parents 12 and 16, by 12→8→6 and
// 16→14→8→6, with W = 5 the ancestors are 6, 8, 12, 14 and 16; kept whole are they and 18.
func TestPaperWalkThrough(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{})
	parents := map[int][]int{8: {6}, 12: {8}, 14: {8}, 16: {14}, 18: {16, 12}}
	previous := graphstore.Root("pytest-5262")
	ids := map[int]engine.NodeID{}
	for i := range 19 {
		step := did(fmt.Sprintf("thought %d", i), "cmd", fmt.Sprintf("observation %d\nof two lines", i))
		n := engine.Node{ID: graphstore.Identify(previous, step), Previous: previous, Seq: i, Step: step, Lines: []int{2},
			Tokens: graphstore.Tokens{Calls: []int{1}, Observations: []int{9}}}
		for _, p := range parents[i] {
			n.Parents = append(n.Parents, graphstore.Parent{ID: ids[p], Kind: graphstore.Model, Score: 0.9 - float64(i-p)/100, Candidate: true, By: "m"})
		}
		if err := e.Store().Put(ctx, "pytest-5262", n); err != nil {
			t.Fatal(err)
		}
		ids[i], previous = n.ID, n.ID
	}
	s := e.Session("pytest-5262")
	w := weave(t, s, "paper:3/5")
	if diff := cmp.Diff([]int{6, 8, 12, 14, 16, 18}, shown(w)); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
	for _, i := range w.Items {
		if i.Reason == "" {
			t.Errorf("step %d: no reason", i.Seq)
		}
	}
	if got := w.Messages[1].Content; got != "Old environment output: (2 lines omitted)" {
		t.Errorf("placeholder %q", got)
	}
	if got := shown(weave(t, s, "paper:1/5")); !cmp.Equal(got, []int{6, 8, 14, 16, 18}) {
		t.Errorf("a tree (m = 1) keeps %v", got)
	}
	if got := shown(weave(t, s, "paper:3/2")); !cmp.Equal(got, []int{12, 16, 18}) {
		t.Errorf("W = 2 keeps %v", got)
	}
	// Warm-up: while |H| ≤ W the whole history is returned.
	w, err := s.Weave(ctx, engine.Request{Policy: engine.Paper(3, 5), At: ids[4]})
	if err != nil || len(shown(w)) != 5 {
		t.Errorf("after 5 steps %v are whole, %v; want all", shown(w), err)
	}
	w, err = s.Weave(ctx, engine.Request{Policy: engine.Paper(3, 5), At: ids[5]})
	if err != nil || !cmp.Equal(shown(w), []int{5}) {
		t.Errorf("after 6 steps %v are whole, %v; want the current one, which has no parents here", shown(w), err)
	}
}

func TestPaperShowsTestStatusAtTheTail(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	appendAll(t, s, did("test", "go test -v", "--- PASS: TestBasic (0.00s)\n--- FAIL: TestLogin (0.00s)\nFAIL\tx/y\t0.1s"), did("look", "cat x.go", "package x"))
	w := weave(t, s, "paper:3/5")
	last := w.Messages[len(w.Messages)-1].Content
	if !strings.HasPrefix(last, "package x\n\n") || !strings.Contains(last, "TEST STATUS: ✓ x/y TestBasic: PASSED, ✗ x/y TestLogin: FAILED") {
		t.Errorf("newest observation %q", last)
	}
	if first := w.Messages[1].Content; strings.Contains(first, "TEST STATUS") {
		t.Errorf("older observation %q", first)
	}
	if last := weave(t, s, "full").Messages[3].Content; last != "package x" {
		t.Errorf("policy full shows %q", last)
	}
}

// Windows count observations, not steps: a turn with three has three.
func TestWindowsCountObservations(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	for i := range 40 {
		step := did(fmt.Sprint(i), "ls", "x")
		if i%5 == 0 {
			step.Calls = append(step.Calls, engine.Call{Name: "more", Args: "1", Observation: &engine.Observation{Text: "y"}}, engine.Call{Name: "more", Args: "2"})
		}
		appendAll(t, s, step)
		var all []string
		w := weave(t, s, "full")
		for _, it := range w.Items {
			if it.Fate == engine.Whole {
				all = append(all, string(it.Handle))
			}
		}
		for _, tt := range []struct {
			policy string
			whole  int
		}{{"window:1", 1}, {"window:7", 7}, {"polling:5/20", 5 + len(all)%20}, {"polling:1/3", 1 + len(all)%3}} {
			var got []string
			for _, it := range weave(t, s, tt.policy).Items {
				if it.Fate == engine.Whole {
					got = append(got, string(it.Handle))
				}
			}
			if want := all[max(0, len(all)-tt.whole):]; !cmp.Equal(want, got) {
				t.Errorf("%s after %d observations keeps %v, want %v", tt.policy, len(all), got, want)
			}
		}
	}
}

// Clear and prune move in batches, and what has gone stays gone.
func TestBoundariesMoveInBatches(t *testing.T) {
	e := open(t, engine.Options{})
	s := e.Session("a")
	text := strings.Repeat("one two three four five\n", 20) // 120 tokens and a few
	want := map[string][]int{                               // observations gone after each step
		"clear:500/1/200": {0, 0, 0, 0, 4, 4, 4, 7, 7, 7},
		"prune:250/150":   {0, 0, 0, 2, 2, 4, 4, 6, 6, 8},
	}
	got := map[string][]int{}
	for i := range 10 {
		appendAll(t, s, did(fmt.Sprint(i), "cat", text))
		for p := range want {
			got[p] = append(got[p], i+1-len(shown(weave(t, s, p))))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}

// randomSteps makes a believable mess: parallel calls, open ones, messages in between, files that recur.
func randomSteps(rnd *rand.Rand, n int) []engine.Step {
	word := func() string { return fmt.Sprintf("pkg/file_%d.go", rnd.Intn(12)) }
	var steps []engine.Step
	for i := range n {
		s := engine.Step{Thought: fmt.Sprintf("thought %d about %s", i, word())}
		if rnd.Intn(6) == 0 {
			s.Before = append(s.Before, engine.Message{Role: graphstore.User, Text: fmt.Sprintf("user says %d <&> \u00e9", i)})
		}
		if rnd.Intn(9) == 0 {
			s.Before = append(s.Before, engine.Message{Role: graphstore.System, Text: fmt.Sprintf("reminder %d", i)})
		}
		for c := range rnd.Intn(4) {
			call := engine.Call{ID: fmt.Sprintf("c%d", c), Name: "bash", Args: fmt.Sprintf(`{"command":"cat %s"}`, word())}
			if rnd.Intn(8) > 0 {
				call.Observation = &engine.Observation{Text: fmt.Sprintf("step %d call %d\n%s\n%s", i, c, word(), strings.Repeat("x y\n", rnd.Intn(40)))}
			}
			s.Calls = append(s.Calls, call)
		}
		steps = append(steps, s)
	}
	return steps
}

// Whatever the policy: every user message, thought and call is there in order, each call is answered
// once and at once, what is whole is byte for byte, and every observation is accounted for.
func TestWeaveNeverBreaksARequest(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	for range 10 {
		e := open(t, engine.Options{NoSync: true})
		s := e.Session("a")
		steps := randomSteps(rnd, 1+rnd.Intn(40))
		if _, err := s.Sync(context.Background(), steps, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, policy := range []string{"full", "window:2", "polling:3/5", "paper:2/3", "paper:1/9", "clear:900/2/100", "prune:300/200", "workingset", "workingset:lean", "workingset:rich", "paper-tail:2/3", "bm25:3/2", "summary:1", "summary:4"} {
			w := weave(t, s, policy)
			if err := sound(steps, w); err != nil {
				t.Fatalf("seed %d: %s of %d steps: %v", seed, policy, len(steps), err)
			}
		}
	}
}

// sound reports what is wrong with a woven window.
func sound(steps []engine.Step, w *engine.Window) error {
	m, items := w.Messages, w.Items
	next := func() engine.Prompt { p := m[0]; m = m[1:]; return p }
	folded := 0 // items of steps that a running summary stands for
	for _, it := range items {
		folded += map[bool]int{true: 1}[it.Fate == engine.Summarised]
	}
	for i, s := range steps {
		if summary, _, found := strings.Cut(m[0].Content, " of the "); found && summary == "Summary" {
			next()
		}
		for _, b := range s.Before {
			if p := next(); p.Role != string(b.Role) || p.Content != b.Text {
				return fmt.Errorf("step %d: message %+v became %+v", i, b, p)
			}
		}
		if folded > 0 {
			for range max(1, len(s.Calls)) {
				if it := items[0]; it.Seq != i || it.Fate != engine.Summarised || it.Reason == "" {
					return fmt.Errorf("step %d: item %+v", i, it)
				}
				items, folded = items[1:], folded-1
			}
			continue
		}
		said := next()
		if said.Role != "assistant" || said.Content != s.Thought || len(said.Calls) != len(s.Calls) {
			return fmt.Errorf("step %d became %+v", i, said)
		}
		for c, call := range s.Calls {
			answer, item := next(), items[0]
			items = items[1:]
			if answer.Role != "tool" || answer.CallID != said.Calls[c].ID || answer.Content == "" {
				return fmt.Errorf("step %d call %d is answered by %+v", i, c, answer)
			}
			switch {
			case item.Seq != i || item.Call != c:
				return fmt.Errorf("step %d call %d: item %+v", i, c, item)
			case item.Fate == engine.Waiting && call.Observation != nil:
				return fmt.Errorf("step %d call %d: open, but it was answered", i, c)
			case item.Fate == engine.Whole && !strings.HasPrefix(answer.Content, call.Observation.Text):
				return fmt.Errorf("step %d call %d: changed", i, c)
			case item.Fate == engine.Omitted && !strings.HasPrefix(answer.Content, "Old environment output: (") && !strings.Contains(answer.Content, "paged out; recall "+string(item.Handle)):
				return fmt.Errorf("step %d call %d: placeholder %q", i, c, answer.Content)
			}
		}
		if len(s.Calls) == 0 {
			items = items[1:]
		}
	}
	if len(m) != 0 || len(items) != 0 {
		return fmt.Errorf("%d messages and %d items too many", len(m), len(items))
	}
	_, err := json.Marshal(w)
	return err
}

func TestReplayCountsLikeTheJudge(t *testing.T) {
	steps := []engine.Step{
		{Before: user("task")},
		did("one", "ls", "a"),
		did("one", "ls", "a"), // an agent may repeat itself
		{Thought: "only a thought"},
		{Before: []engine.Message{{Role: graphstore.User, Text: "summary", Compaction: true}}, Thought: "two at once", Calls: []engine.Call{
			{Name: "x", Args: "1", Observation: &engine.Observation{Text: "b"}}, {Name: "x", Args: "2", Observation: &engine.Observation{Text: "c"}}}},
		{Thought: "joint", Calls: []engine.Call{{Name: "y", Joined: true}, {Name: "y", Observation: &engine.Observation{Text: "d"}}}},
		did("last", "ls", "e"),
	}
	var lengths []int
	err := engine.Replay(context.Background(), steps, engine.Full, engine.ReplayOptions{}, func(call int, w *engine.Window) error {
		if call != len(lengths) {
			t.Errorf("call %d comes after %d", call, len(lengths)-1)
		}
		lengths = append(lengths, len(w.Messages))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The task; after that 2 messages a call; a thought 1; the two at once 3; the joint pair 3.
	if want := []int{1, 3, 6, 6, 9, 12}; !cmp.Equal(want, lengths) {
		t.Errorf("contexts of %v messages, want %v", lengths, want)
	}
	n := 0
	if err := engine.Replay(context.Background(), steps, engine.Full, engine.ReplayOptions{First: 2}, func(int, *engine.Window) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("first 2 gave %d, %v", n, err)
	}
}
