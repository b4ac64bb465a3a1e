package engine

import "context"

// Replay runs a policy over a trajectory as if it were happening, and gives the context that the agent
// would have had before each of its calls. Calls are counted from 0, and every call of a turn gets the
// context before that turn; calls that one joint observation answers count once. The harness's own compactions
// are left out. It stops after first calls, or at the end where first is 0.
//
// Nothing is stored. Replay ends with emit's error, if it returns one.
func Replay(ctx context.Context, steps []Step, p Policy, first int, emit func(call int, w *Window) error) error {
	e, err := Open("", &Options{InMemory: true, NoSync: true})
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
			w, err := s.Weave(ctx, Request{Policy: p, Pending: step.Before})
			if err != nil {
				return err
			}
			for ; n > 0; n-- {
				if first > 0 && call == first {
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
