package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// pins is the name under which a session keeps what is pinned, node by node, beside the decisions of policies.
const pins = "pins"

// byPin is why a pinned observation is whole.
const byPin = "pinned"

// Pin keeps an observation before the agent: no page-out takes it, and if it is away already it is paged in, whole,
// by the next request. A handle without a call's number pins all observations of its step. It is
// ErrNotFound if the way to the head has no such observation. A pin counts on all branches that have the step.
func (s *Session) Pin(ctx context.Context, h Handle) error { return s.pin(ctx, h, true) }

// Unpin takes a pin back: the next page-out may take the observation. It is no error if there was no pin.
func (s *Session) Unpin(ctx context.Context, h Handle) error { return s.pin(ctx, h, false) }

// Pins lists what is pinned on the way to the head, in order.
func (s *Session) Pins(ctx context.Context) ([]Handle, error) {
	path, err := s.history(ctx, "")
	if err != nil {
		return nil, err
	}
	stored, err := s.storedPins(ctx)
	if err != nil {
		return nil, err
	}
	var out []Handle
	for _, k := range path {
		for _, c := range stored[k.ID] {
			out = append(out, NewHandle(k.ID, c))
		}
	}
	return out, nil
}

func (s *Session) pin(ctx context.Context, h Handle, want bool) error {
	path, err := s.history(ctx, "")
	if err != nil {
		return err
	}
	n, calls, err := locate(path, h)
	if err != nil {
		return fmt.Errorf("session %s: %w", s.name, err)
	}
	s.weaving.Lock()
	defer s.weaving.Unlock()
	stored, err := s.storedPins(ctx)
	if err != nil {
		return err
	}
	now := slices.DeleteFunc(stored[n.ID], func(c int) bool { return slices.Contains(calls, c) })
	if want {
		now = append(now, calls...)
		slices.Sort(now)
	}
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return s.engine.store.Decide(ctx, s.name, pins, n.ID, b)
}

// storedPins are the indexes of pinned calls, by node.
func (s *Session) storedPins(ctx context.Context) (map[NodeID][]int, error) {
	stored, err := s.engine.store.Decisions(ctx, s.name, pins)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	out := make(map[NodeID][]int, len(stored))
	for id, b := range stored {
		var calls []int
		if err := json.Unmarshal(b, &calls); err != nil {
			return nil, fmt.Errorf("session %s: what is pinned of step %s: %w", s.name, id, err)
		}
		out[id] = calls
	}
	return out, nil
}

// pinned lets the desk know what is pinned, and lists it by number.
func (s *Session) pinned(ctx context.Context, d *desk) ([]int, error) {
	stored, err := s.storedPins(ctx)
	if err != nil {
		return nil, err
	}
	d.pins = map[place]bool{}
	if len(stored) == 0 {
		return nil, nil
	}
	var out []int
	for i, o := range d.seen {
		if slices.Contains(stored[o.ID], o.place.Call) {
			d.pins[o.place] = true
			out = append(out, i)
		}
	}
	return out, nil
}
