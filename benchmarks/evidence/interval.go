package evidence

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Interval is a figure with its 95 % confidence interval over sessions: another draw of sessions of the same
// kinds would give a figure between Low and High. With fewer than LeastSessions both are the figure
// itself, and say nothing.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	Resamples     = 1000 // draws of sessions that make an interval
	LeastSessions = 5    // that it takes for one
)

// NewInterval is that of a value and of what it would be in other draws. Without these it has no bounds.
func NewInterval(value float64, drawn []float64) Interval {
	out := Interval{value, value, value}
	if len(drawn) == 0 {
		return out
	}
	const tail = 0.025
	n := float64(len(drawn))
	sorted := slices.Sorted(slices.Values(drawn))
	out.Low, out.High = sorted[int(tail*n)], sorted[max(0, int((1-tail)*n)-1)]
	return out
}

// Text is the value with so many digits, and its bounds where it has some.
func (i Interval) Text(digits int) string { return i.text("%.*f", digits) }

// Signed is Text with a sign, for differences.
func (i Interval) Signed(digits int) string { return i.text("%+.*f", digits) }

func (i Interval) text(verb string, digits int) string {
	if i.Low == i.High {
		return fmt.Sprintf(verb, digits, i.Value)
	}
	return fmt.Sprintf(verb+" ["+verb+", "+verb+"]", digits, i.Value, digits, i.Low, digits, i.High)
}

// sample draws sessions with replacement, again and again, the same for every policy: so differences are
// paired. The scores of each draw are summed up by policy.
type sample struct {
	totals []Score   // by policy, of all sessions once
	draws  [][]Score // by draw and policy; none if there are too few sessions
}

// resample takes scores by session and policy.
func resample(scores [][]Score, seed uint64, name string) sample {
	policies := 0
	if len(scores) > 0 {
		policies = len(scores[0])
	}
	s := sample{totals: make([]Score, policies)}
	for _, session := range scores {
		for p, score := range session {
			s.totals[p].merge(score)
		}
	}
	if len(scores) < LeastSessions {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	for range Resamples {
		draw := make([]Score, policies)
		for range scores {
			for p, score := range scores[r.IntN(len(scores))] {
				draw[p].merge(score)
			}
		}
		s.draws = append(s.draws, draw)
	}
	return s
}

// interval is a figure of the policies' scores, over the draws that have any of what it is a share of, which is the same
// for all policies: of sessions that take nothing, there is no share that is held.
func (s sample) interval(of func(Score) int, figure func(scores []Score) float64) Interval {
	var drawn []float64
	for _, d := range s.draws {
		if of(d[0]) > 0 {
			drawn = append(drawn, figure(d))
		}
	}
	return NewInterval(figure(s.totals), drawn)
}
