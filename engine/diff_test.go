package engine_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

func TestDiff(t *testing.T) {
	message := func(text string) engine.Prompt {
		return engine.Prompt{Role: "user", Content: text, Tokens: len(text)}
	}
	whole := func(seq int) engine.Item {
		return engine.Item{Seq: seq, Fate: engine.Whole, Tokens: 100, Reason: fmt.Sprint("whole ", seq)}
	}
	away := func(seq int, in ...engine.Part) engine.Item {
		return engine.Item{Seq: seq, Fate: engine.Omitted, Tokens: 9, In: in}
	}
	elsewhere := func(i engine.Item) engine.Item { i.Node = "another"; return i }
	part := engine.Part{Seq: 4, FromLine: 1, ToLine: 9, Tokens: 40}
	for _, tt := range []struct {
		reason string
		a, b   []engine.Item
		want   []string
	}{
		{"nothing differs", []engine.Item{whole(0), away(1, part)}, []engine.Item{whole(0), away(1, part)}, nil},
		{"paged out", []engine.Item{whole(0), whole(1)}, []engine.Item{away(0), whole(1)}, []string{"0: whole 100 → omitted 9"}},
		{"paged in at the tail", []engine.Item{away(0)}, []engine.Item{away(0, part)}, []string{"0: omitted 9 → omitted 49"}},
		{"new", []engine.Item{whole(0)}, []engine.Item{whole(0), whole(1)}, []string{"1:  0 → whole 100"}},
		{"not there yet", []engine.Item{whole(0), whole(1)}, nil, []string{"0: whole 100 →  0", "1: whole 100 →  0"}},
		{"in between", []engine.Item{whole(0), whole(2)}, []engine.Item{whole(1), away(2)}, []string{"0: whole 100 →  0", "1:  0 → whole 100", "2: whole 100 → omitted 9"}},
		{"two branches", []engine.Item{whole(0)}, []engine.Item{elsewhere(whole(0))}, []string{"0: whole 100 →  0", "0:  0 → whole 100"}},
	} {
		d := engine.Diff(&engine.Window{Items: tt.a}, &engine.Window{Items: tt.b})
		var got []string
		for _, c := range d.Changes {
			got = append(got, fmt.Sprintf("%d: %s %d → %s %d", c.Seq, c.A.Fate, c.A.Tokens, c.B.Fate, c.B.Tokens))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
	a := &engine.Window{Messages: []engine.Prompt{message("one"), message("three"), message("x")}}
	b := &engine.Window{Messages: []engine.Prompt{message("one"), message("three"), message("y"), message("x")}}
	if d := engine.Diff(a, b); d.Messages != 2 || d.Tokens != 8 {
		t.Errorf("%d messages and %d tokens in common, want 2 and 8", d.Messages, d.Tokens)
	}
}

// What a diff says is what became of the prompt: its tokens are those of the messages, and it costs what changed.
func TestDiffAddsUp(t *testing.T) {
	const seed = 21
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	var before *engine.Window
	for i, step := range work(rand.New(rand.NewSource(seed)), 60) {
		appendAll(t, s, step)
		w, err := s.Weave(context.Background(), byWorkingSet)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, m := range w.Messages {
			sum += m.Tokens
		}
		if sum != w.Tokens {
			t.Fatalf("seed %d: step %d: messages of %d tokens in a window of %d", seed, i, sum, w.Tokens)
		}
		if before != nil {
			d := engine.Diff(before, w)
			n, _ := prefix(t, before.Messages, w.Messages)
			if d.Messages != n {
				t.Errorf("seed %d: step %d: %d messages in common, want %d", seed, i, d.Messages, n)
			}
			back := engine.Diff(w, before)
			if len(back.Changes) != len(d.Changes) || back.Tokens != d.Tokens {
				t.Errorf("seed %d: step %d: forth and back differ", seed, i)
			}
			if out := w.Epoch.PageOuts > before.Epoch.PageOuts; !out {
				for _, c := range d.Changes {
					if c.A.Fate == engine.Whole || strings.Contains(string(c.B.Fate), "omitted") && len(c.B.In) <= len(c.A.In) {
						t.Errorf("seed %d: step %d: step %d was %s and is %s within an epoch", seed, i, c.Seq, c.A.Fate, c.B.Fate)
					}
				}
			}
		}
		before = w
	}
}
