package engine

import (
	"math"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// What the current step rests on is paged in more readily: what a step was made from, the next one is mostly made
// from too, also where the words alone do not say so. A parent's runs score 1 + kinship times as much, and those
// of each step further on half of that more.
const (
	kinship      = 3
	kinAncestors = 10
	kinParents   = 3 // of a step, that are walked
)

// kin are the current step's ancestors, by how near they are: 1 for a parent, and half for each step on.
func kin(reached []graphstore.Reached) map[NodeID]float64 {
	out := make(map[NodeID]float64, len(reached))
	for _, r := range reached {
		out[r.ID] = math.Pow(0.5, float64(r.Depth-1))
	}
	return out
}

// predicted is the pager of a working set: the runs that the next call probably takes something from.
func predicted(near map[NodeID]float64) pager {
	return func(after *desk, l level, room int) []clip {
		choice := l.choice
		choice.Overhead = clipOverhead
		choice.Cap = max(0, min(choice.Cap, room))
		remaining := max(1, epoch-after.since())
		choice.Threshold *= (1 + l.remaining*float64(remaining)/epoch) * math.Pow(after.waste(), l.learning)
		if after.since() == 0 {
			choice.Threshold *= l.carry
		}
		choice.Threshold /= after.callsPerTurn() // a turn that makes several calls needs more at once
		scores := after.ranker.Scores()
		for _, o := range after.seen {
			for r := o.from; r < o.to; r++ {
				scores[r] = min(1, scores[r]*(1+kinship*near[o.ID]))
			}
		}
		return after.clips(after.ranker.Choose(after.sight(), scores, choice)) // runs come in order
	}
}

// callsPerTurn is how many calls a turn has had so far.
func (d *desk) callsPerTurn() float64 {
	calls, turns := 1, 1
	for _, k := range d.fed {
		if n := len(k.Step.Calls); n > 0 {
			calls += n
			turns++
		}
	}
	return float64(calls) / float64(turns)
}

// waste is 1 while a tenth of what is paged in gets used, and more the less is.
func (d *desk) waste() float64 {
	return 0.1 * float64(d.pagedIn+3000) / float64(d.used+300)
}
