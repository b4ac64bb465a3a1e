package compress

import (
	"cmp"
	"math"
	"slices"
)

// Choice says what is worth paging in. The value of a run is its score × (the share of it that is hidden)^Dup /
// (its tokens + 15)^Alpha.
type Choice struct {
	Threshold float64 // least value
	Alpha     float64 // how much size counts against a run: 0 not at all
	Dup       float64 // how much it counts that its words and lines are before the agent already: 0 not at all
	Cap       int     // most tokens in all
	Overhead  int     // tokens that a run costs beside its text
}

// smallestRun keeps the value per token of tiny runs within bounds.
const smallestRun = 15

// Choose picks hidden runs by value, the best first and of two alike the newer, until the cap is reached or none is left
// that is worth it. What was picked counts as visible for the rest. A run with score 0 is never picked. visible and
// scores are by the number of a run. The numbers picked come in order.
func (r *Ranker) Choose(visible []bool, scores []float64, c Choice) []int {
	shown := r.shown(visible)
	type candidate struct {
		run   int
		value float64
	}
	var candidates []candidate
	for i, score := range scores {
		if visible[i] || score <= 0 || score*c.size(r.runs[i].Tokens) < c.Threshold {
			continue
		}
		candidates = append(candidates, candidate{i, score * c.size(r.runs[i].Tokens) * shown.hidden(i, c.Dup)})
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.run, a.run))
	})
	var out []int
	left := c.Cap
	for _, x := range candidates {
		if x.value <= 0 || x.value < c.Threshold {
			break
		}
		cost := r.runs[x.run].Tokens + c.Overhead
		if cost > left || scores[x.run]*c.size(r.runs[x.run].Tokens)*shown.hidden(x.run, c.Dup) < max(c.Threshold, math.SmallestNonzeroFloat64) {
			continue
		}
		left -= cost
		shown.add(x.run)
		out = append(out, x.run)
	}
	slices.Sort(out)
	return out
}

func (c Choice) size(tokens int) float64 { return math.Pow(float64(tokens+smallestRun), -c.Alpha) }

// shown counts what the visible runs show.
type shown struct {
	ranker           *Ranker
	specifics, lines []int32
}

func (r *Ranker) shown(visible []bool) *shown {
	s := &shown{r, make([]int32, len(r.words.specifics)), make([]int32, len(r.lines))}
	for i, v := range visible {
		if v {
			s.add(i)
		}
	}
	return s
}

func (s *shown) add(i int) {
	for _, w := range s.ranker.specifics.of(i) {
		s.specifics[w]++
	}
	for _, l := range s.ranker.lineIDs.of(i) {
		s.lines[l]++
	}
}

// hidden is the share of a run's lines and unsaid specific words that no visible run shows, to a power; 0 for a run
// that has none.
func (s *shown) hidden(i int, power float64) float64 {
	const lineWeight = 0.3
	var all, gone float64
	for _, w := range s.ranker.specifics.of(i) {
		if !s.ranker.words.specifics[w].said {
			all++
			gone += float64(indicator(s.specifics[w] == 0))
		}
	}
	for _, l := range s.ranker.lineIDs.of(i) {
		all += lineWeight
		if s.lines[l] == 0 {
			gone += lineWeight
		}
	}
	if all == 0 {
		return 0
	}
	return math.Pow(gone/all, power)
}
