package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxweaver/ctxweaver/compress"
)

// ReplayOptions say how to replay. The zero value replays all calls with the built-in weights.
type ReplayOptions struct {
	First   int               // stop after so many calls; 0: at the end
	Budget  int               // of each Window, in tokens; 0: none. A larger one is given all the same
	Prices  Prices            // as in Request
	Weights *compress.Weights // as in Options
	// Strategy is as in Request.
	Strategy Strategy
	// Ablation leaves parts of the method out.
	Ablation Ablation
	// Selector, if not nil, is asked about each step as soon as rules have studied it, and its answer is merged before
	// the next request, with Trust as in Options. An error of it ends the replay.
	Selector Selector
	Trust    bool
	// Each, if not nil, is told of every step as it is kept.
	Each func(Node)
}

// Replay runs a policy over a trajectory as if it were happening, and gives the context that the agent
// would have had before each of its calls. Calls are counted from 0, and every call of a turn gets the
// context before that turn; calls that one joint observation answers count once. The harness's own compactions
// are left out, and so is idle time.
//
// Nothing is stored. Replay ends with emit's error, if it returns one.
func Replay(ctx context.Context, steps []Step, p Policy, o ReplayOptions, emit func(call int, w *Window) error) error {
	return ReplayEach(ctx, steps, []Policy{p}, o, emit)
}

// ReplayEach is Replay for several policies in one pass, which takes far less time than one for each. Turn by turn
// it emits the contexts of one policy after the other; w.Policy says whose they are.
func ReplayEach(ctx context.Context, steps []Step, ps []Policy, o ReplayOptions, emit func(call int, w *Window) error) error {
	e, err := Open("", &Options{InMemory: true, NoSync: true, Weights: o.Weights})
	if err != nil {
		return err
	}
	defer e.Close()
	e.ablation = o.Ablation
	s := e.Session("replay")
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	call := 0
	for _, step := range steps {
		if n := step.Counted(); n > 0 {
			if o.First > 0 {
				n = min(n, o.First-call)
			}
			for _, p := range ps {
				w, err := s.Weave(ctx, Request{Policy: p, Pending: step.Before, Budget: o.Budget, Prices: o.Prices, Strategy: o.Strategy})
				if err != nil && !errors.Is(err, ErrBudget) {
					return err
				}
				for i := range n {
					if err := emit(call+i, w); err != nil {
						return err
					}
				}
			}
			if call += n; call == o.First {
				return nil
			}
		}
		// Not Append: a trace that says the same twice did so.
		n, err := s.next(ctx, step)
		if err == nil && o.Selector != nil {
			n, err = s.consult(ctx, n, o.Selector, o.Trust)
		}
		if err != nil {
			return err
		}
		if o.Each != nil {
			o.Each(n)
		}
	}
	return nil
}

// consult asks a Selector about the head, and merges what it says. appending is held.
func (s *Session) consult(ctx context.Context, n Node, selector Selector, trust bool) (Node, error) {
	if n.Seq == 0 || !wants(selector, &n) {
		return n, nil
	}
	q, err := s.question(ctx, s.path, n.Seq, "")
	if err != nil || len(q.choose.Candidates) == 0 {
		return n, err
	}
	answer, err := selector.Select(ctx, q.choose)
	if err != nil {
		return n, fmt.Errorf("step %d: %w", n.Seq, err)
	}
	var h heard
	if h.answered(answer, nil); h.silent() {
		return n, nil
	}
	return s.take(ctx, q, q.opinion(h, ""), belief{parents: trust})
}
