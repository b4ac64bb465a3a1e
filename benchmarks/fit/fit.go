// Package fit learns the weights of compress.Ranker from trajectories: what the next calls really took, told from
// what was known before them.
package fit

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// What an example is. After each call, every run that is older than the newest fresh observations is one: what do the
// next horizon calls take from it? Each thing they take is credited to the newest run that has it. What is paged in
// stays for the rest of an epoch, so the horizon is long.
//
// A ranker chooses among what is paged out, which is mostly old, and most of what calls take is new. So an example
// counts by how likely its run is away: a page-out comes after every epoch, the first when there is one to leave, and
// leaves the newest kept observations.
const (
	warmUp  = 4    // calls before the first example
	last    = 400  // calls of one session; a session of thousands would be most of what there is to learn
	fresh   = 3    // newest observations, which nobody pages out
	horizon = 8    // calls
	later   = 0.8  // what the next call after counts, and so on
	untaken = 0.12 // share of the runs that nothing was taken from which become examples, as there are so many

	kept  = 4   // observations
	epoch = 20  // observations
	here  = 0.1 // what an example counts of which it is certain that its run is not away
)

// away is what an example counts after so many observations, if its run is of that one.
func away(observation, observed int) float64 {
	moments := min(observed-observation-kept, observed-epoch-kept+1, epoch) // since when a page-out would have taken it
	return here + (1-here)*float64(max(0, moments))/epoch
}

// Set holds examples by session.
type Set struct{ examples map[string][]compress.Example }

// Collect replays sessions and gathers their examples, on all processors. done, if not nil, is told after each session,
// from several goroutines.
func Collect(ctx context.Context, sessions []evidence.Session, done func()) (*Set, error) {
	found := make([][]compress.Example, len(sessions))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range sessions {
		group.Go(func() (err error) {
			found[i], err = examples(working, s)
			if done != nil {
				done()
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	set := &Set{map[string][]compress.Example{}}
	for i, s := range sessions {
		set.examples[s.Hash] = found[i]
	}
	return set, nil
}

// Weights fits to the examples of some of the sessions. The date is when: 2006-01-02.
func (s *Set) Weights(sessions []evidence.Session, date string, o compress.FitOptions) (*compress.Weights, error) {
	var all []compress.Example
	var formats []string
	calls := 0
	for _, session := range sessions {
		all = append(all, s.examples[session.Hash]...)
		calls += session.Calls
		if !slices.Contains(formats, session.Format) {
			formats = append(formats, session.Format)
		}
	}
	w, err := compress.Fit(all, o)
	if err != nil {
		return nil, fmt.Errorf("%d runs of an agent: %w", len(sessions), err)
	}
	slices.Sort(formats)
	w.Date, w.FittedOn = date, fmt.Sprintf("%d runs of agents, %d calls; formats: %s", len(sessions), calls, strings.Join(formats, ", "))
	return w, nil
}

// examples are those of one session, the same at every time.
func examples(ctx context.Context, s evidence.Session) ([]compress.Example, error) {
	nodes, err := study(ctx, s.Steps)
	if err != nil {
		return nil, err
	}
	var took [][]int // by turn
	var taken []int  // so far in this turn
	collect := func(r *compress.Ranker) { taken = append(taken, r.Took()...) }
	err = follow(ctx, nodes, collect, func(*compress.Ranker, int, int) {
		took, taken = append(took, taken), nil
	})
	if err != nil {
		return nil, err
	}
	var out []compress.Example
	random := rand.New(rand.NewPCG(seed(s.Hash), 0))
	turn := 0
	err = follow(ctx, nodes, func(*compress.Ranker) {}, func(r *compress.Ranker, calls, observed int) {
		turn++
		if calls < warmUp || calls > last || turn == len(took) {
			return
		}
		taken := ahead(took[turn:min(len(took), turn+horizon)])
		for i := 0; i < r.Len() && r.Run(i).Observation < observed-fresh; i++ {
			count := away(r.Run(i).Observation, observed)
			e := compress.Example{Taken: count * taken[i]}
			if e.Taken == 0 {
				if random.Float64() > untaken {
					continue
				}
				e.Weight = count / untaken
			}
			if e.Features = r.Features(i); e.Features != nil {
				out = append(out, e)
			}
		}
	})
	return out, err
}

// ahead sums up what the coming turns take, by run.
func ahead(took [][]int) map[int]float64 {
	out := map[int]float64{}
	weight := 1.0
	for _, runs := range took {
		for _, i := range runs {
			out[i] += weight
		}
		weight *= later
	}
	return out
}

func seed(hash string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(hash))
	return h.Sum64()
}

// study gives the nodes that steps make, as each was when it was new.
func study(ctx context.Context, steps []engine.Step) (nodes []engine.Node, err error) {
	e, err := engine.Open("", &engine.Options{InMemory: true, NoSync: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	_, err = e.Session("run").Sync(ctx, steps, func(n engine.Node) { nodes = append(nodes, n) })
	return nodes, err
}

// follow lets a ranker see a run as the engine does. It calls call after each call, and turn after each turn
// that has calls, with how many calls and observations there were so far.
func follow(ctx context.Context, nodes []engine.Node, call func(r *compress.Ranker), turn func(r *compress.Ranker, calls, observed int)) error {
	return followWith(ctx, compress.NewRanker(&compress.Weights{}), nodes, call, turn) // what it says does not matter
}

func followWith(ctx context.Context, r *compress.Ranker, nodes []engine.Node, call func(r *compress.Ranker), turn func(r *compress.Ranker, calls, observed int)) error {
	calls, observed := 0, 0
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		engine.Feed(r, n, func(_, from, to int) {
			calls++
			if to > from {
				observed++
			}
			call(r)
		})
		if len(n.Step.Calls) > 0 {
			turn(r, calls, observed)
		}
	}
	return nil
}
