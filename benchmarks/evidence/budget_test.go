package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

// TestMustStay: what must stay is what the smallest window has that a working set can give, but for what a mark takes
// less than it is reckoned with, and for the third newest observation, which a working set can do without.
func TestMustStay(t *testing.T) {
	for _, s := range bundled(t) {
		const first = 60
		stay, err := mustStay(t.Context(), s.Steps, first)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		err = engine.Replay(t.Context(), s.Steps, engine.WorkingSet, engine.ReplayOptions{First: first, Budget: 1}, func(call int, w *engine.Window) error {
			calls++
			if slack := stay[call] - w.Tokens; slack < 0 || slack > markTokens*len(w.Items)+thirdNewest(w) {
				return fmt.Errorf("call %d: %d tokens must stay, the smallest window has %d", call, stay[call], w.Tokens)
			}
			return nil
		})
		if err != nil || calls != len(stay) {
			t.Errorf("%s: %d calls, %d with what must stay: %v", s.Name, calls, len(stay), err)
		}
	}
}

func thirdNewest(w *engine.Window) int {
	newer := 0
	for _, item := range slices.Backward(w.Items) {
		if item.Fate != engine.Whole && item.Fate != engine.Omitted {
			continue // there is no observation
		}
		if newer++; newer == newestKept {
			return item.Full
		}
	}
	return 0
}

// TestBudget: all policies are scored on the same requests, and a working set exceeds no budget on them.
func TestBudget(t *testing.T) {
	policies := []string{"full", "workingset", "clear:3000/3/500", "summary:1", "paper:3/5"}
	for _, budget := range []int{500, 3000, 6000} {
		o := Options{First: 50, Engine: engine.ReplayOptions{Budget: budget}, Naive: []string{"polling:1/5"}}
		sessions := bundled(t)[:3]
		results, err := Run(t.Context(), sessions, policies, o)
		if err != nil {
			t.Fatal(err)
		}
		n := len(policies) + len(o.Naive)
		for i, r := range results {
			full := results[i/n*n]
			var fit Score
			for k, q := range r.Requests {
				if q.Unfit != full.Requests[k].Unfit || q.Over != (q.Tokens > budget) {
					t.Fatalf("%d tokens: call %d of %s: %+v, under full %+v", budget, q.Call, r.Policy, q, full.Requests[k])
				}
				if !q.Unfit {
					fit.Add(q)
				}
			}
			if fit.Unfit, fit.Over, fit.Seconds = r.Score.Unfit, r.Score.Over, r.Score.Seconds; fit != r.Score {
				t.Errorf("%d tokens, %s: the sum is over others than the requests that fit: %s", budget, r.Policy, cmp.Diff(fit, r.Score))
			}
			if r.Policy == "workingset" && r.Score.Exceeded > 0 {
				t.Errorf("%d tokens: %d requests of %s are over the budget though what must stay fits", budget, r.Score.Exceeded, sessions[r.Session].Name)
			}
		}
	}
}

// TestBudgetTold: tables say what figures under a budget are over, and what was over the budget.
func TestBudgetTold(t *testing.T) {
	sessions, policies := short(t), []string{"full", "workingset"}
	o := Options{Engine: engine.ReplayOptions{Budget: 4000}}
	results, err := Run(t.Context(), sessions, policies, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(sessions, policies, len(policies), results, InMoney(engine.PricePresets()[0]), 1)
	if err != nil {
		t.Fatal(err)
	}
	r.Manifest = NewManifest(sessions, policies, len(policies), o)
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	full := r.Groups[0].Rows[0].Score
	if full.Unfit == 0 || full.Requests == 0 || full.Exceeded == 0 {
		t.Fatalf("a budget of no consequence: %+v", full)
	}
	for _, want := range []string{", a budget of 4000 tokens", fmt.Sprintf("what must stay fits in %d of %d requests", full.Requests, full.Requests+full.Unfit), "EXCEEDED"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
