package evidence

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
)

// TestRoots: the scale goes from 0 to 1, keeps the order, and gives a few more room than many.
func TestRoots(t *testing.T) {
	low, high := -20.0, 100.0
	at := func(v float64) float64 { return roots{}.Normalize(low, high, v) }
	if at(low) != 0 || at(high) != 1 {
		t.Errorf("from %g to %g", at(low), at(high))
	}
	before := math.Inf(-1)
	for v := low; v <= high; v++ {
		if at(v) <= before {
			t.Errorf("%g is not above what is less", v)
		}
		before = at(v)
	}
	if at(4)-at(0) <= at(100)-at(80) {
		t.Error("4 beside 0 are not to be seen")
	}
	var labels []string
	for _, tick := range (counts{}).Ticks(low, high) {
		labels = append(labels, tick.Label)
	}
	if got, want := strings.Join(labels, " "), "20 5 0 5 20 50 100"; got != want {
		t.Errorf("marked at %s, want %s", got, want)
	}
}

// TestDrawsAll: whatever was measured can be drawn.
func TestDrawsAll(t *testing.T) {
	many := []string{"full"}
	for n := range 24 {
		many = append(many, fmt.Sprintf("window:%d", n+1))
	}
	for _, test := range []struct {
		reason   string
		policies []string
		steps    int
		budget   int
	}{
		{"only the baseline", []string{"full"}, 8, 0},
		{"no call", []string{"full", "window:1"}, 0, 0},
		{"no request that fits", []string{"full", "window:1"}, 8, 1},
		{"more policies than colours", many, 8, 0},
	} {
		s, err := NewSession("a", "made", "", made(1, 2, max(1, test.steps))[:test.steps])
		if err != nil {
			t.Fatal(err)
		}
		results, err := Run(t.Context(), []Session{s}, test.policies, Options{Engine: engine.ReplayOptions{Budget: test.budget}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReport([]Session{s}, test.policies, len(test.policies), results, InMoney(engine.PricePresets()[0]), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Manifest = NewManifest([]Session{s}, test.policies, len(test.policies), Options{})
		if err := r.plots(t.TempDir(), results); err != nil {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
}

// Of contexts that another program wrote nobody knows what became of observations, and what an earlier run drew is gone.
func TestPagingIsDrawnForOwnContexts(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSession("a", "made", "", made(1, 2, 12))
	if err != nil {
		t.Fatal(err)
	}
	policies := []string{"full", "window:1"}
	for _, theirs := range []bool{false, true} {
		results, err := Run(t.Context(), []Session{s}, policies, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if theirs {
			for i := range results[1].Requests {
				results[1].Requests[i].Tokens = 0
			}
		}
		r, err := NewReport([]Session{s}, policies, len(policies), results, InMoney(engine.PricePresets()[0]), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Manifest = NewManifest([]Session{s}, policies, len(policies), Options{})
		if err := r.plots(dir, results); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"paging.png", "paging.svg"} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) == theirs {
				t.Errorf("another program's: %t; %s: %v", theirs, name, err)
			}
		}
	}
}
