package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func step(said, name, args, seen string) engine.Step {
	return engine.Step{Thought: said, Calls: []engine.Call{{Name: name, Args: args, Observation: &engine.Observation{Text: seen}}}}
}

// made is a run whose calls take words from what they saw.
func made(t testing.TB, seed uint64, calls int) evidence.Session {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	steps := []engine.Step{{Before: []graphstore.Message{{Role: graphstore.User, Text: "Repair parse_item."}}}}
	words := []string{"parse_item"}
	for range calls {
		var b strings.Builder
		asked := words[random.IntN(len(words))]
		for range random.IntN(40) {
			w := fmt.Sprintf("name_%04d", random.IntN(10000))
			words = append(words, w)
			fmt.Fprintf(&b, "the value of %s is set here\n", w)
		}
		s := step("I look for "+asked+".", "grep", fmt.Sprintf(`{"pattern":%q}`, words[random.IntN(len(words))]), b.String())
		if random.IntN(5) == 0 { // a turn of two calls, one of them never answered
			s.Calls = append(s.Calls, engine.Call{Name: "cat", Args: `{"path":"a.go"}`})
		}
		steps = append(steps, s)
	}
	s, err := evidence.NewSession(fmt.Sprint("made ", seed), "made", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func collect(t testing.TB, sessions ...evidence.Session) *Set {
	t.Helper()
	set, err := Collect(t.Context(), sessions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func studied(t testing.TB, s evidence.Session) []engine.Node {
	t.Helper()
	nodes, err := study(t.Context(), s.Steps)
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// TestTaken proves what a run is said to be worth that is surely away: most just before it is used, less before that,
// and nothing when the use is further away or past.
func TestTaken(t *testing.T) {
	steps := []engine.Step{step("", "cat", "a.go", "a line about only_here\n")}
	for range 60 {
		steps = append(steps, step("", "ls", "", "nothing\n"))
	}
	steps = append(steps, step("", "grep", "only_here", "one hit\n"), step("", "ls", "", "nothing\n"))
	s, err := evidence.NewSession("a", "made", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, e := range collect(t, s).examples[s.Hash] {
		if e.Taken > 0 {
			got = append(got, e.Taken)
		}
	}
	var want []float64
	for n := horizon - 1; n >= 0; n-- {
		want = append(want, math.Pow(later, float64(n)))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("before the calls (-want +got):\n%s", diff)
	}
}

// TestAway proves that an example counts as often as its run is away, whenever the page-outs come.
func TestAway(t *testing.T) {
	for observed := range 100 {
		for observation := range observed {
			taken := 0
			for first := epoch + kept; first < 2*epoch+kept; first++ {
				if newest := observed - (observed-first)%epoch; observed >= first && observation < newest-kept {
					taken++
				}
			}
			want := here + (1-here)*float64(taken)/epoch
			if got := away(observation, observed); math.Abs(got-want) > 1e-9 {
				t.Fatalf("after %d observations, of observation %d: %v, want %v", observed, observation, got, want)
			}
		}
	}
}

// TestTakenIsMeasured proves that what is learned is what the measure counts: each call takes as many things by
// the ranker as it has references by the judge.
func TestTakenIsMeasured(t *testing.T) {
	for seed := range uint64(8) {
		s := made(t, seed, 60)
		judge := evidence.NewJudge(s.Steps)
		call, total := 0, 0
		err := follow(t.Context(), studied(t, s), func(r *compress.Ranker) {
			references := judge.References(call)
			if len(r.Took()) != len(references) {
				t.Errorf("seed %d, call %d: took %d things, the measure counts %v", seed, call, len(r.Took()), references)
			}
			total += len(references)
			call++
		}, func(*compress.Ranker, int, int) {})
		if err != nil || call != judge.Calls() || total == 0 {
			t.Fatalf("seed %d: %d calls of %d, %d references: %v", seed, call, judge.Calls(), total, err)
		}
	}
}

func TestWeights(t *testing.T) {
	sessions := []evidence.Session{made(t, 1, 60), made(t, 2, 60), made(t, 3, 60)}
	set := collect(t, sessions...)
	if diff := cmp.Diff(set.examples, collect(t, sessions...).examples); diff != "" {
		t.Fatalf("the second time there are other examples:\n%s", diff)
	}
	w, err := set.Weights(sessions[:2], "2026-01-02", compress.FitOptions{Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(set.examples[sessions[0].Hash]) + len(set.examples[sessions[1].Hash]); w.Rows != want {
		t.Errorf("fitted to %d examples, the two runs have %d", w.Rows, want)
	}
	if w.Date != "2026-01-02" || !strings.HasPrefix(w.FittedOn, "2 runs of agents, ") || !strings.HasSuffix(w.FittedOn, " calls; formats: made") {
		t.Errorf("fitted at %s on %q", w.Date, w.FittedOn)
	}
	if _, err := set.Weights(nil, "2026-01-02", compress.FitOptions{}); !errors.Is(err, compress.ErrExamples) {
		t.Errorf("fitted to nothing: %v", err)
	}
}

// TestLearns proves that a fit ranks runs that it has not seen better than chance: what the calls take is, of all
// that could be, in the upper part.
func TestLearns(t *testing.T) {
	var sessions []evidence.Session
	for seed := range uint64(12) {
		sessions = append(sessions, made(t, seed, 60))
	}
	w, err := collect(t, sessions...).Weights(sessions, "2026-01-02", compress.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var above, all float64
	for seed := range uint64(6) {
		test := made(t, 100+seed, 60)
		var before []float64
		if err := followWith(t.Context(), compress.NewRanker(w), studied(t, test), func(r *compress.Ranker) {
			for _, i := range r.Took() {
				if i >= len(before) || before[i] == 0 {
					continue
				}
				for _, s := range before {
					if s > 0 {
						all++
						if s < before[i] {
							above++
						}
					}
				}
			}
			before = slices.Clone(r.Scores())
		}, func(*compress.Ranker, int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	if above < 0.55*all {
		t.Errorf("what is taken next ranks above %.0f%% of all", 100*above/all)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Collect(ctx, []evidence.Session{made(t, 1, 20)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
}
