package engine

import (
	"context"
	"errors"

	"github.com/ctxweaver/ctxweaver/compress"
)

// ReplayOptions say how to replay. The zero value replays all calls with the built-in weights.
type ReplayOptions struct {
	First   int               // stop after so many calls; 0: at the end
	Budget  int               // of each Window, in tokens; 0: none. A larger one is given all the same
	Prices  Prices            // as in Request
	Weights *compress.Weights // as in Options
}

// Replay runs a policy over a trajectory as if it were happening, and gives the context that the agent
// would have had before each of its calls. Calls are counted from 0, and every call of a turn gets the
// context before that turn; calls that one joint observation answers count once. The harness's own compactions
// are left out, and so is idle time.
//
// Nothing is stored. Replay ends with emit's error, if it returns one.
func Replay(ctx context.Context, steps []Step, p Policy, o ReplayOptions, emit func(call int, w *Window) error) error {
	e, err := Open("", &Options{InMemory: true, NoSync: true, Weights: o.Weights})
	if err != nil {
		return err
	}
	defer e.Close()
	s := e.Session("replay")
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	call := 0
	for _, step := range steps {
		if n := step.Counted(); n > 0 {
			w, err := s.Weave(ctx, Request{Policy: p, Pending: step.Before, Budget: o.Budget, Prices: o.Prices})
			if err != nil && !errors.Is(err, ErrBudget) {
				return err
			}
			for ; n > 0; n-- {
				if o.First > 0 && call == o.First {
					return nil
				}
				if err := emit(call, w); err != nil {
					return err
				}
				call++
			}
		}
		// Not Append: a trace that says the same twice did so.
		if _, err := s.next(ctx, step); err != nil {
			return err
		}
	}
	return nil
}
