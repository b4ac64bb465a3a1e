package controllers

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

// tally counts how many of so many.
type tally struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

func (t *tally) add(yes bool) {
	t.Of++
	if yes {
		t.N++
	}
}

func (t *tally) merge(u tally) { t.N, t.Of = t.N+u.N, t.Of+u.Of }

func (t tally) share() float64 { return float64(t.N) / float64(max(1, t.Of)) }

// Share is a part of a whole with its 95 % confidence interval.
type Share struct {
	tally
	evidence.Interval
}

// found is the share of cases that are made independently of each other (Wilson).
func found(t tally) Share {
	const z = 1.96
	p, n := t.share(), float64(max(1, t.Of))
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	out := Share{t, evidence.Interval{Value: p, Low: max(0, (middle-half)/(1+z*z/n)), High: min(1, (middle+half)/(1+z*z/n))}}
	if t.Of == 0 {
		out.Interval = evidence.Interval{}
	}
	return out
}

// shareOf is the share over all sessions, with its interval by session: steps of one session are alike.
func shareOf(sessions []tally, seed uint64) Share {
	out := Share{}
	for _, t := range sessions {
		out.merge(t)
	}
	out.Interval = resampled([][]tally{sessions}, seed, func(of []tally) float64 { return of[0].share() })
	return out
}

// differenceOf is the share of a without that of b, paired by session.
func differenceOf(a, b []tally, seed uint64) evidence.Interval {
	return resampled([][]tally{a, b}, seed, func(of []tally) float64 { return of[0].share() - of[1].share() })
}

// resampled is a figure of sums over sessions, of each of some lists; with few sessions there is no interval.
func resampled(lists [][]tally, seed uint64, figure func(sums []tally) float64) evidence.Interval {
	n := len(lists[0])
	sums := func(pick func(i int) int) []tally {
		out := make([]tally, len(lists))
		for i := range n {
			s := pick(i)
			for l := range lists {
				out[l].merge(lists[l][s])
			}
		}
		return out
	}
	value := figure(sums(func(i int) int { return i }))
	if n < evidence.LeastSessions {
		return evidence.NewInterval(value, nil)
	}
	h := fnv.New64a()
	h.Write([]byte("controllers"))
	random := rand.New(rand.NewPCG(seed, h.Sum64()))
	drawn := make([]float64, evidence.Resamples)
	for d := range drawn {
		drawn[d] = figure(sums(func(int) int { return random.IntN(n) }))
	}
	return evidence.NewInterval(value, drawn)
}
