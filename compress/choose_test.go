package compress

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	r := NewRanker(nil)
	for _, text := range []string{
		strings.Repeat("alpha_one beta_two\n", 10),                      // 0
		strings.Repeat("alpha_one beta_two\n", 10),                      // 1: a copy
		strings.Repeat("gamma_three delta_four\n", 10),                  // 2
		strings.Repeat("plain\n", 30),                                   // 3: nothing in it to look for
		"epsilon_five\n",                                                // 4: short
		strings.Repeat("zeta_six eta_seven theta_eight iota_nine\n", 7), // 5
	} {
		r.Act(Act{Action: "cat"})
		r.See(text)
	}
	if r.Len() != 6 {
		t.Fatalf("%d runs, want one an observation", r.Len())
	}
	scores := []float64{0.5, 0.5, 0.4, 0.9, 0.3, 0.2}
	tests := []struct {
		name    string
		visible []int
		scores  []float64
		choice  Choice
		want    []int
	}{
		{"all that is worth it; of two that show the same, the newer", nil, scores, Choice{Cap: 1000, Dup: 1, Threshold: 0.01}, []int{1, 2, 4, 5}},
		{"without regard for copies", nil, scores, Choice{Cap: 1000, Threshold: 0.01}, []int{0, 1, 2, 4, 5}},
		{"a copy of what is before the agent is worth nothing", []int{0}, scores, Choice{Cap: 1000, Dup: 1, Threshold: 0.01}, []int{2, 4, 5}},
		{"the threshold", nil, scores, Choice{Cap: 1000, Dup: 1, Threshold: 0.35}, []int{1, 2}},
		{"the best first, and what still fits after", nil, scores, Choice{Cap: 56, Dup: 1, Threshold: 0.01}, []int{1, 4}},
		{"by tokens, a short run is the best", nil, scores, Choice{Cap: 60, Alpha: 1, Dup: 1, Threshold: 0.0001}, []int{1, 4}},
		{"overhead counts", nil, scores, Choice{Cap: 60, Overhead: 20, Dup: 1, Threshold: 0.01}, []int{4}},
		{"no room", nil, scores, Choice{Dup: 1, Threshold: 0.01}, nil},
		{"without a threshold, still nothing that cannot be wanted", nil, []float64{0, 0, 0, 0, 0.1, 0}, Choice{Cap: 1000, Dup: 1}, []int{4}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			visible := make([]bool, r.Len())
			for _, i := range test.visible {
				visible[i] = true
			}
			if got := r.Choose(visible, test.scores, test.choice); !slices.Equal(got, test.want) {
				var sizes []int
				for i := range r.Len() {
					sizes = append(sizes, r.Run(i).Tokens)
				}
				t.Errorf("chose %v, want %v; runs have %v tokens", got, test.want, sizes)
			}
		})
	}
}

// TestChooseKeepsItsBounds proves that no choice passes its cap, shows what is visible, or is out of order.
func TestChooseKeepsItsBounds(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := fed(session(seed, 30))
		scores := r.Scores()
		visible := make([]bool, r.Len())
		for i := range visible {
			visible[i] = random.IntN(3) == 0
		}
		before := slices.Clone(visible)
		c := Choice{Threshold: random.Float64() * 1e-3, Alpha: random.Float64(), Dup: random.Float64() * 2, Cap: random.IntN(3000), Overhead: random.IntN(30)}
		chosen := r.Choose(visible, scores, c)
		used := 0
		for _, i := range chosen {
			used += r.Run(i).Tokens + c.Overhead
			if visible[i] || scores[i] <= 0 {
				t.Errorf("seed %d: run %d is visible already, or cannot be wanted", seed, i)
			}
		}
		if used > c.Cap {
			t.Errorf("seed %d: %d tokens, cap %d", seed, used, c.Cap)
		}
		if !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			t.Errorf("seed %d: out of order or twice: %v", seed, chosen)
		}
		if !slices.Equal(visible, before) || !slices.Equal(chosen, r.Choose(visible, scores, c)) {
			t.Errorf("seed %d: the second time it is another choice", seed)
		}
	}
}
