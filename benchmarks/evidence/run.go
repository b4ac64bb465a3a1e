package evidence

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Options say how to run. The zero value takes whole sessions, once, with the engine's own policies.
type Options struct {
	First int // calls of each session that count; 0 is all
	// Engine says how the engine's own policies are replayed; its First is not used.
	Engine engine.ReplayOptions
	// Naive are policies of the engine that are measured in one pass, for the frontier: far faster, and so
	// without a time of their own and without Stability.
	Naive []string
	Seed  uint64 // of resampling and of variations
	Folds int    // groups of sessions are spread over so many folds; below 2 there are none
	// Prepare fits what a policy is to learn, on the sessions of all other folds: no session is scored with
	// what it has taught. Without folds it is given no session. nil: there is nothing to fit.
	Prepare func(ctx context.Context, train []Session) (Fit, error)
	// Cache is a folder that keeps the result of each session and policy for the next run; "" is none.
	Cache string
	// Program names the build that replays. Results of another one are not taken from the Cache.
	Program string
	// Stability measures Result.Stability too, which takes several times as long.
	Stability bool
	// Misses keeps Result.Misses, but for the Naive.
	Misses bool
	// Done, if not nil, is told after each session and policy, from several goroutines.
	Done func()
}

// Result is how a policy did on a session.
type Result struct {
	Session   int        `json:"session"` // index in the list of sessions
	Policy    string     `json:"policy"`
	Score     Score      `json:"score"`
	Stability *Stability `json:"stability,omitempty"`
	Requests  []Request  `json:"requests,omitempty"`
	Misses    []Miss     `json:"misses,omitempty"`
}

// Run replays every session under every policy or Variant, and those of Options.Naive after them, on all processors.
// Results come by session and then by policy, in the order of the lists. Cancelled, it has kept in the Cache what
// was done.
func Run(ctx context.Context, sessions []Session, policies []string, o Options) ([]Result, error) {
	fits, err := prepare(ctx, sessions, o)
	if err != nil {
		return nil, err
	}
	var next []int
	if o.Stability {
		next = reruns(sessions)
	}
	n := len(policies) + len(o.Naive)
	out := make([]Result, len(sessions)*n)
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range sessions {
		group.Go(func() error {
			b := bench{options: o, session: s, fit: fits[s.Fold]}
			if o.Stability && next[i] >= 0 {
				other := sessions[next[i]]
				b.other = &bench{session: other, fit: fits[other.Fold]}
			}
			rs, err := b.results(working, policies)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			for k, r := range rs {
				r.Session = i
				out[i*n+k] = r
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return out, nil
}
