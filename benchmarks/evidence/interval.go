package evidence

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Interval is a figure with its 95 % confidence interval over sessions: another draw of sessions of the same
// kinds would give a figure between Low and High. With fewer than leastSessions both are the figure
// itself, and say nothing.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	resamples     = 1000
	leastSessions = 5
)

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
	if len(scores) < leastSessions {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	for range resamples {
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

// interval is a figure of the policies' scores.
func (s sample) interval(figure func(scores []Score) float64) Interval {
	v := figure(s.totals)
	out := Interval{v, v, v}
	if len(s.draws) == 0 {
		return out
	}
	all := make([]float64, len(s.draws))
	for i, d := range s.draws {
		all[i] = figure(d)
	}
	slices.Sort(all)
	const tail = 0.025
	out.Low, out.High = all[int(tail*float64(len(all)))], all[int((1-tail)*float64(len(all)))-1]
	return out
}
