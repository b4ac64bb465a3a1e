package evidence

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Stability is how much what is shown changes when a run goes a little differently: the mean Jaccard distance,
// from 0 (the same observations are whole) to 1 (none is whole in both), over the requests after the change.
// Observations that only one of the runs has do not count.
type Stability struct {
	Drop  Distance `json:"drop"`  // a step is left out
	Swap  Distance `json:"swap"`  // the calls of a turn change places
	Noise Distance `json:"noise"` // steps that have nothing to do with the task come between
	// Rerun is the distance to another run of the same task, of which there were so many Pairs: that of the files that
	// something is in sight of, at the same progress, of those that both runs have seen. It is not in the Mean.
	Rerun Distance `json:"rerun"`
	Pairs int      `json:"rerun_pairs"`
}

// Distance is a sum over requests, for means over sessions.
type Distance struct {
	Sum      float64 `json:"sum"`
	Requests int     `json:"requests"`
}

// Mean is the distance of a request; 0 where nothing was compared.
func (d Distance) Mean() float64 { return d.Sum / float64(max(1, d.Requests)) }

func (d *Distance) merge(o Distance) {
	d.Sum += o.Sum
	d.Requests += o.Requests
}

// Mean is the distance over all variations of a run.
func (s Stability) Mean() float64 {
	var all Distance
	for _, d := range []Distance{s.Drop, s.Swap, s.Noise} {
		all.merge(d)
	}
	return all.Mean()
}

func (s *Stability) merge(o Stability) {
	s.Drop.merge(o.Drop)
	s.Swap.merge(o.Swap)
	s.Noise.merge(o.Noise)
	s.Rerun.merge(o.Rerun)
	s.Pairs += o.Pairs
}

// variation is a run that went a little differently.
type variation struct {
	steps  []engine.Step
	origin [][]place // of the calls of each step
	from   int       // the first step of the unvaried run that comes after the change
}

func plainly(steps []engine.Step) variation {
	v := variation{steps: steps}
	for i, s := range steps {
		v.origin = append(v.origin, make([]place, len(s.Calls)))
		for k := range s.Calls {
			v.origin[i][k] = place{i, k}
		}
	}
	return v
}

// The change comes in the first half of a run, so that there is something after it.
func early(r *rand.Rand, n int) int { return r.IntN(max(1, n/2)) }

// drop leaves out one step that has calls and that no user message comes before.
func drop(r *rand.Rand, v variation) (variation, bool) {
	at := early(r, len(v.steps))
	for at < len(v.steps) && (len(v.steps[at].Calls) == 0 || len(v.steps[at].Before) > 0) {
		at++
	}
	if at >= len(v.steps)-1 {
		return v, false
	}
	v.steps = slices.Delete(slices.Clone(v.steps), at, at+1)
	v.origin = slices.Delete(slices.Clone(v.origin), at, at+1)
	v.from = at + 1
	return v, true
}

// swap turns round the calls of the first turn that has several, each with an answer of its own, after some
// point.
func swap(r *rand.Rand, v variation) (variation, bool) {
	start := early(r, len(v.steps))
	for at := start; at < len(v.steps)-1; at++ {
		s := v.steps[at].Clone()
		if s.Answered() < 2 || s.Answered() != len(s.Calls) {
			continue
		}
		v.steps, v.origin = slices.Clone(v.steps), slices.Clone(v.origin)
		slices.Reverse(s.Calls)
		v.steps[at], v.origin[at] = s, slices.Clone(v.origin[at])
		slices.Reverse(v.origin[at])
		v.from = at + 1
		return v, true
	}
	return v, false
}

// noiseSteps is how many steps are put in.
const noiseSteps = 3

// noise puts in a few steps of no consequence.
func noise(r *rand.Rand, v variation) (variation, bool) {
	at := early(r, len(v.steps)) + 1
	if at >= len(v.steps) {
		return v, false
	}
	var steps []engine.Step
	var origins [][]place
	for i := range noiseSteps {
		steps = append(steps, engine.Step{Thought: "I look at the clock.", Calls: []graphstore.Call{
			{ID: fmt.Sprintf("noise_%d", i), Name: "date", Args: "{}", Observation: &graphstore.Observation{Text: fmt.Sprintf("Mon Jan  %d 12:0%d:00 UTC 2024", 1+r.IntN(9), i)}},
		}})
		origins = append(origins, []place{{-1, i}})
	}
	v.steps = slices.Insert(slices.Clone(v.steps), at, steps...)
	v.origin = slices.Insert(slices.Clone(v.origin), at, origins...)
	v.from = at
	return v, true
}

// stability varies the session once in each way. The variations are the same for all policies.
func (b *bench) stability(ctx context.Context, policy string) (Stability, error) {
	var out Stability
	whole := plainly(b.session.Steps)
	if b.options.First > 0 { // what comes later is not shown to anyone
		whole.steps = whole.steps[:stepsOf(whole.steps, b.options.First)]
		whole.origin = whole.origin[:len(whole.steps)]
	}
	before, err := b.shown(ctx, policy, whole)
	if err != nil {
		return out, err
	}
	h := fnv.New64a()
	h.Write([]byte(b.session.Hash))
	r := rand.New(rand.NewPCG(b.options.Seed, h.Sum64()))
	for _, kind := range []struct {
		vary func(*rand.Rand, variation) (variation, bool)
		sum  *Distance
	}{{drop, &out.Drop}, {swap, &out.Swap}, {noise, &out.Noise}} {
		v, ok := kind.vary(r, whole)
		if !ok {
			continue
		}
		after, err := b.shown(ctx, policy, v)
		if err != nil {
			return out, err
		}
		kind.sum.merge(distance(whole, before, v, after))
	}
	if b.other != nil {
		out.Pairs = 1
		out.Rerun, err = b.rerun(ctx, policy)
	}
	return out, err
}

// stepsOf is how many steps hold so many counted calls.
func stepsOf(steps []engine.Step, calls int) int {
	for i, s := range steps {
		if calls -= s.Counted(); calls <= 0 {
			return i + 1
		}
	}
	return len(steps)
}

// shown lists by step of the unvaried run which of its observations the context before that step holds.
func (b *bench) shown(ctx context.Context, policy string, v variation) (map[int]map[place]bool, error) {
	var step []int // of each counted call
	for i, s := range v.steps {
		for range s.Counted() {
			step = append(step, i)
		}
	}
	out := map[int]map[place]bool{}
	err := b.fit.Replay(ctx, v.steps, policy, 0, func(call int, w *engine.Window) error {
		at := v.origin[step[call]][0].step
		if at < v.from || out[at] != nil {
			return ctx.Err()
		}
		whole := map[place]bool{}
		for _, item := range w.Items {
			if item.Fate == engine.Whole {
				if o := v.origin[item.Seq][item.Call]; o.step >= 0 {
					whole[o] = true
				}
			}
		}
		out[at] = whole
		return ctx.Err()
	})
	return out, err
}

// distance compares what was shown before the steps that both runs have after the change.
func distance(a variation, before map[int]map[place]bool, b variation, after map[int]map[place]bool) Distance {
	both := map[place]bool{}
	for _, os := range b.origin {
		for _, o := range os {
			both[o] = true
		}
	}
	var out Distance
	for at := b.from; at < len(a.steps); at++ {
		x, y := before[at], after[at]
		if x == nil || y == nil {
			continue
		}
		common, union := 0, len(y)
		for o := range x {
			common += boolean(y[o])
			union += boolean(both[o] && !y[o])
		}
		out.Requests++
		if union > 0 {
			out.Sum += 1 - float64(common)/float64(union)
		}
	}
	return out
}
