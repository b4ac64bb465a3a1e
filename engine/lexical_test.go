package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// The older observations that share most with the newest step are whole, and what their rare identifiers lead to; branches
// and restarts choose alike.
func TestBM25(t *testing.T) {
	steps := []engine.Step{
		0: did("start", "ls", "README.md\nMakefile"),
		1: did("read", "cat a.go", "func handle_login() { return check_token_age() }"),
		2: did("read", "cat b.go", "func check_token_age() { return clock.Now() }"),
		3: did("read", "cat c.go", "func paint() {}\nfunc erase() {}"),
		4: did("build", "make", "ok"),
		5: did("I must see handle_login again.", "true", "done"),
	}
	k := newKeeper(t)
	appendAll(t, k.Session, steps...)
	for _, tt := range []struct {
		policy string
		want   []int
	}{
		{"bm25:1/1", []int{1, 5}},
		{"bm25:1/2", []int{1, 2, 5}},
		{"bm25:2/1", []int{1, 4, 5}},
		{"bm25:9/1", []int{0, 1, 2, 3, 4, 5}},
	} {
		for _, when := range []string{"at once", "after a restart"} {
			if diff := cmp.Diff(tt.want, shown(weave(t, k.Session, tt.policy))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.policy, when, diff)
			}
			k.restart()
		}
	}
	edited := append(append([]engine.Step{}, steps[:2]...), did("on", "cat d.go", "nothing"), did("handle_login?", "true", "done"))
	if _, err := k.Sync(t.Context(), edited, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 3}, shown(weave(t, k.Session, "bm25:1/1"))); diff != "" {
		t.Errorf("on a branch (-want +got):\n%s", diff)
	}
}

// A session that comes again after it was deleted, with other answers to the same calls, is another one.
func TestBM25ForgetsWhatIsDeleted(t *testing.T) {
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	for _, at := range []int{1, 3} {
		for i := range 6 {
			answer := "nothing"
			if i == at {
				answer = "func handle_login()"
			}
			appendAll(t, s, did("Where is handle_login?", fmt.Sprint("look ", i), answer))
		}
		if diff := cmp.Diff([]int{at, 5}, shown(weave(t, s, "bm25:1/1"))); diff != "" {
			t.Errorf("with the answer in step %d (-want +got):\n%s", at, diff)
		}
		if err := e.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSummary(t *testing.T) {
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	var nodes []engine.Node
	for i := range 400 {
		step := did(fmt.Sprintf("I look at part %d.", i), fmt.Sprintf("cat part_%d.go", i), fmt.Sprintf("content %d", i))
		if i == 0 || i == 7 {
			step.Before = user(fmt.Sprint("task ", i))
		}
		nodes = append(nodes, appendAll(t, s, step)...)
		w := weave(t, s, "summary:3")
		if i < 3 {
			if w.Tokens != w.Full {
				t.Fatalf("step %d: %d tokens of %d", i, w.Tokens, w.Full)
			}
			continue
		}
		folded := i - 2
		at := 1 // the task
		if folded > 7 {
			at++ // the other one stays where it was
		}
		m := w.Messages[at]
		lines := strings.Split(m.Content, "\n")
		if m.Role != "user" || !strings.HasPrefix(lines[0], "Summary of the ") || len(w.Messages) != at+1+6+map[bool]int{true: 1}[folded <= 7 && i >= 7] {
			t.Fatalf("step %d: message %d of %d: %+v", i, at, len(w.Messages), m)
		}
		if want := fmt.Sprintf("step %d: %s", folded-1, nodes[folded-1].Summary); lines[len(lines)-1] != want {
			t.Fatalf("step %d: the newest line is %q, want %q", i, lines[len(lines)-1], want)
		}
		if tokens := tokensOf(t, m.Content); tokens > 2000 || folded < 50 && len(lines) != folded+1 {
			t.Fatalf("step %d: %d lines, %d tokens", i, len(lines), tokens)
		}
		if left := folded - (len(lines) - 1); left > 0 && !strings.HasSuffix(lines[0], fmt.Sprintf("; %d older ones are left out:", left)) {
			t.Fatalf("step %d: %q, though %d are left out", i, lines[0], left)
		}
		if full := weave(t, s, "full"); i%50 == 0 && w.Full != full.Tokens {
			t.Fatalf("step %d: full would be %d, not %d", i, full.Tokens, w.Full)
		}
	}
	w := weave(t, s, "summary:3")
	if a, b := w.Items[0], w.Items[396]; a.Fate != engine.Summarised || a.Reason == b.Reason || !strings.Contains(a.Reason, "no line") || w.Items[397].Fate != engine.Whole {
		t.Errorf("items %+v, %+v, %+v", a, b, w.Items[397])
	}
	if left := strings.Count(w.Messages[2].Content, "\n"); left >= 397 {
		t.Errorf("%d lines: none gave way", left)
	}
}

func tokensOf(t *testing.T, text string) int {
	t.Helper()
	c, err := compress.NewCounter("")
	if err != nil {
		t.Fatal(err)
	}
	return c.Count(text)
}
