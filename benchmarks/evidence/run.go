package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// Replay plays a policy, or a Variant by its name, over a run, as engine.Replay does.
type Replay func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error

// Fit is what the sessions of one fold are replayed with.
type Fit struct {
	ID     string // names what was fitted, such as a hash of the weights
	Replay Replay // nil is the engine's own
}

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
	for i := range sessions {
		sessions[i].Fold = fold(sessions[i].Group, o.Folds)
	}
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

// prepare fits one Fit a fold.
func prepare(ctx context.Context, sessions []Session, o Options) ([]Fit, error) {
	fits := make([]Fit, max(1, o.Folds))
	for f := range fits {
		fit, err := FitWeights(o.Engine, o.Engine.Weights, nil)
		if err != nil {
			return nil, err
		}
		fits[f] = fit
		if o.Prepare == nil {
			continue
		}
		var train []Session
		for _, s := range sessions {
			if s.Fold != f {
				train = append(train, s)
			}
		}
		if fit, err = o.Prepare(ctx, train); err != nil {
			return nil, fmt.Errorf("fitting for fold %d: %w", f, err)
		}
		if fit.Replay == nil {
			fit.Replay = fits[f].Replay
		}
		fits[f] = fit
	}
	return fits, nil
}

// FitWeights replays the engine's policies with these weights, and variants without the graph with those that were
// fitted without it; nil are the built-in ones.
func FitWeights(o engine.ReplayOptions, w, noGraph *compress.Weights) (Fit, error) {
	o.Weights = nil
	f := Fit{ID: fmt.Sprintf("%+v", o)}
	for _, w := range []*compress.Weights{w, noGraph} {
		if w == nil {
			continue
		}
		var b bytes.Buffer
		if err := w.Write(&b); err != nil {
			return Fit{}, err
		}
		f.ID += sum(b.Bytes())
	}
	f.Replay = func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error {
		v, err := ParseVariant(policy)
		if err != nil {
			return err
		}
		options := o
		options.Weights = w
		if v.Ablation.NoGraph && noGraph != nil {
			options.Weights = noGraph
		}
		options.First, options.Ablation, options.Strategy = first, v.Ablation, cmp.Or(v.Strategy, o.Strategy)
		return engine.Replay(ctx, steps, v.Policy, options, emit)
	}
	return f, nil
}

// bench measures policies on one session.
type bench struct {
	options Options
	session Session
	fit     Fit
	other   *bench // another run of the same task; nil if there is none
	judge   *Judge // nil until it is needed
	stay    []int  // tokens of what must stay, by call; nil without a budget
}

// results measures policies, and then the naive ones.
func (b *bench) results(ctx context.Context, policies []string) ([]Result, error) {
	var out []Result
	for _, p := range policies {
		r, err := b.result(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out = append(out, r)
		b.done()
	}
	naive, err := b.together(ctx, b.options.Naive)
	return append(out, naive...), err
}

func (b *bench) done() {
	if b.options.Done != nil {
		b.options.Done()
	}
}

// result measures a policy, or takes from the cache what was measured before.
func (b *bench) result(ctx context.Context, policy string) (Result, error) {
	at := b.cached(policy)
	if r, ok := readCached(at); ok {
		return r, nil
	}
	r, err := b.begin(ctx, policy)
	if err != nil {
		return Result{}, err
	}
	r.explain = b.options.Misses
	start := time.Now()
	err = b.fit.Replay(ctx, b.session.Steps, policy, b.options.First, func(call int, w *engine.Window) error {
		r.take(call, w)
		return ctx.Err()
	})
	if err != nil {
		return Result{}, err
	}
	r.Score.Seconds = (time.Since(start) - r.judging).Seconds()
	if b.options.Stability {
		s, err := b.stability(ctx, policy)
		if err != nil {
			return Result{}, err
		}
		r.Stability = &s
	}
	return r.Result, writeCached(at, r.Result)
}

// together measures policies in one pass over the session, as far as they are not in the cache.
func (b *bench) together(ctx context.Context, names []string) ([]Result, error) {
	out := make([]Result, len(names))
	running := map[engine.Policy]*measurement{}
	var policies []engine.Policy
	for i, name := range names {
		if r, ok := readCached(b.naive(name)); ok {
			out[i] = r
			b.done()
			continue
		}
		p, err := engine.ParsePolicy(name)
		if err != nil {
			return nil, err
		}
		if running[p] == nil {
			if running[p], err = b.begin(ctx, name); err != nil {
				return nil, err
			}
			policies = append(policies, p)
		}
	}
	if len(policies) == 0 {
		return out, nil
	}
	o := b.options.Engine
	o.First = b.options.First
	err := engine.ReplayEach(ctx, b.session.Steps, policies, o, func(call int, w *engine.Window) error {
		running[w.Policy].take(call, w)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		p, err := engine.ParsePolicy(name)
		if err != nil {
			return nil, err
		}
		if m := running[p]; m != nil {
			out[i] = m.Result
			if err := writeCached(b.naive(name), m.Result); err != nil {
				return nil, err
			}
			b.done()
		}
	}
	return out, nil
}

// measurement is a Result that grows request by request.
type measurement struct {
	*bench
	Result
	trial   *Trial
	explain bool          // keep what is missed
	judging time.Duration // the measure's own, which is not the policy's
}

func (b *bench) begin(ctx context.Context, policy string) (m *measurement, err error) {
	if b.judge == nil {
		b.judge = NewJudge(b.session.Steps)
	}
	if b.stay == nil && b.options.Engine.Budget > 0 {
		b.stay, err = mustStay(ctx, b.session.Steps, b.options.First)
	}
	return &measurement{bench: b, Result: Result{Policy: policy}, trial: b.judge.Trial()}, err
}

func (m *measurement) take(call int, w *engine.Window) {
	start := time.Now()
	r := m.trial.AddWindow(call, w)
	if budget := m.options.Engine.Budget; budget > 0 {
		r.Over, r.Unfit = w.Tokens > budget, m.stay[call] > budget
	}
	if m.explain && !r.Unfit {
		m.Miss(m.bench.judge.Misses(r, w), m.session)
	}
	r.Missing = nil
	m.Requests = append(m.Requests, r)
	m.Score.Add(r)
	m.judging += time.Since(start)
}
