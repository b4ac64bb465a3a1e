package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxweaver/ctxweaver/engine"
)

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
