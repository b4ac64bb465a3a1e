package controllers

import (
	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

// Pair is how far two controllers agree on the questions that both answered.
type Pair struct {
	A         string            `json:"a"`
	B         string            `json:"b"`
	Questions int               `json:"questions"`
	First     evidence.Interval `json:"same_first"` // share with the same first choice, or none by both
	Third     float64           `json:"jaccard_3"`  // of the first three, on average
}

// agreement compares all controllers with each other.
func (r *run) agreement() []Pair {
	var out []Pair
	for i, a := range r.speakers {
		for _, b := range r.speakers[i+1:] {
			out = append(out, r.pair(a, b))
		}
	}
	return out
}

func (r *run) pair(a, b *speaker) Pair {
	p := Pair{A: a.name, B: b.name}
	var same []tally
	for i, picked := range r.picked {
		var t tally
		for _, k := range picked {
			x, y := a.said[i][k], b.said[i][k]
			if x.Wrong != "" || y.Wrong != "" {
				continue
			}
			one, other := x.ids(), y.ids()
			t.add(len(one) == 0 && len(other) == 0 || len(one) > 0 && len(other) > 0 && one[0] == other[0])
			p.Third += jaccard(one, other)
			p.Questions++
		}
		same = append(same, t)
	}
	p.First = shareOf(same, r.Seed).Interval
	p.Third /= float64(max(1, p.Questions))
	return p
}

// ids are the choices that count.
func (a answer) ids() []string {
	var out []string
	for _, c := range a.Choices[:min(most, len(a.Choices))] {
		out = append(out, c.ID)
	}
	return out
}

// jaccard is the share of what is in either list that is in both; of two empty ones it is 1.
func jaccard(a, b []string) float64 {
	in := map[string]int{}
	for _, id := range a {
		in[id] |= 1
	}
	for _, id := range b {
		in[id] |= 2
	}
	both := 0
	for _, where := range in {
		if where == 3 {
			both++
		}
	}
	if len(in) == 0 {
		return 1
	}
	return float64(both) / float64(len(in))
}
