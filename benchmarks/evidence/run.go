package evidence

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Replay plays a policy over a run, as engine.Replay does.
type Replay func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error

// Fit is what the sessions of one fold are replayed with.
type Fit struct {
	ID     string // names what was fitted, such as a hash of the weights
	Replay Replay
}

// Options say how to run. The zero value takes whole sessions, once, with the engine's own policies.
type Options struct {
	First int    // calls of each session that count; 0 is all
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
}

// Run replays every session under every policy, on all processors. Results come by session and then by policy,
// in the order of the lists. Cancelled, it has kept in the Cache what was done.
func Run(ctx context.Context, sessions []Session, policies []string, o Options) ([]Result, error) {
	for i := range sessions {
		sessions[i].Fold = fold(sessions[i].Group, o.Folds)
	}
	fits, err := prepare(ctx, sessions, o)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(sessions)*len(policies))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range sessions {
		group.Go(func() error {
			b := bench{options: o, session: s, fit: fits[s.Fold]}
			for k, p := range policies {
				r, err := b.result(working, p)
				if err != nil {
					return fmt.Errorf("%s under %s: %w", s.Name, p, err)
				}
				r.Session = i
				out[i*len(policies)+k] = r
				if o.Done != nil {
					o.Done()
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return out, nil
}

// prepare fits one Fit a fold.
func prepare(ctx context.Context, sessions []Session, o Options) ([]Fit, error) {
	fits := make([]Fit, max(1, o.Folds))
	for f := range fits {
		fits[f].Replay = replay
		if o.Prepare == nil {
			continue
		}
		var train []Session
		for _, s := range sessions {
			if s.Fold != f {
				train = append(train, s)
			}
		}
		fit, err := o.Prepare(ctx, train)
		if err != nil {
			return nil, fmt.Errorf("fitting for fold %d: %w", f, err)
		}
		fits[f] = fit
	}
	return fits, nil
}

func replay(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error {
	p, err := engine.ParsePolicy(policy)
	if err != nil {
		return err
	}
	return engine.Replay(ctx, steps, p, engine.ReplayOptions{First: first}, emit)
}

// bench measures policies on one session.
type bench struct {
	options Options
	session Session
	fit     Fit
	judge   *Judge // nil until it is needed
}

// result measures a policy, or takes from the cache what was measured before.
func (b *bench) result(ctx context.Context, policy string) (Result, error) {
	at := b.cached(policy)
	if r, ok := readCached(at); ok {
		return r, nil
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if b.judge == nil {
		b.judge = NewJudge(b.session.Steps)
	}
	r, err := b.measure(ctx, policy)
	if err != nil {
		return Result{}, err
	}
	if b.options.Stability {
		s, err := b.stability(ctx, policy)
		if err != nil {
			return Result{}, err
		}
		r.Stability = &s
	}
	return r, writeCached(at, r)
}

func (b *bench) measure(ctx context.Context, policy string) (Result, error) {
	r := Result{Policy: policy}
	trial := b.judge.Trial()
	start, judging := time.Now(), time.Duration(0)
	err := b.fit.Replay(ctx, b.session.Steps, policy, b.options.First, func(call int, w *engine.Window) error {
		begun := time.Now()
		request := trial.AddWindow(call, w)
		request.Missing = nil
		r.Requests = append(r.Requests, request)
		r.Score.Add(request)
		judging += time.Since(begun)
		return ctx.Err()
	})
	r.Score.Seconds = (time.Since(start) - judging).Seconds()
	return r, err
}
