package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// decision is one thing that was decided about the requests that follow a node, as it is kept. A node has a list of
// them, for they add up: a request, something recalled for it, a page-out taken back.
type decision struct {
	Kind kind     `json:"kind,omitempty"`
	Out  *pageOut `json:"out,omitempty"`
	In   []clip   `json:"in,omitempty"` // paged in behind Behind
	// Behind is the newest observation at that time.
	Behind place     `json:"behind"`
	Held   float64   `json:"held,omitempty"` // what has been paid, in tokens, for holding what could go
	At     time.Time `json:"at,omitzero"`
	// Strategy is what a working set went by.
	Strategy Strategy `json:"strategy,omitempty"`
	Because  string   `json:"because,omitempty"`
}

// kind is what led to a decision.
type kind string

const (
	request  kind = ""         // the first request that followed the node
	recalled kind = "recalled" // something to be added to a request that was decided already
	undone   kind = "undone"   // the newest page-out taken back; what is paged in then leaves with it
)

// pageOut says what is paged out from now on: all observations before a place but the short ones and those that
// stay. What was paged in before leaves with it.
type pageOut struct {
	Before place  `json:"before"`
	Small  int    `json:"small,omitempty"` // observations up to so many tokens, or as short as their marker, are the short ones
	Stay   []stay `json:"stay,omitempty"`
	Why    string `json:"why"`
	Freed  int    `json:"freed"` // tokens
}

// stay is an exception from a page-out.
type stay struct {
	place
	Why string `json:"why"`
}

// place names an observation on a path, by its step and call: counting observations would not do, since a call may
// be answered late.
type place struct {
	Seq  int `json:"s"`
	Call int `json:"c,omitempty"`
}

func (p place) before(q place) bool { return p.Seq < q.Seq || p.Seq == q.Seq && p.Call < q.Call }

// clip is a stretch of an observation, in bytes.
type clip struct {
	place
	From int `json:"f"`
	To   int `json:"t"`
}

// decide keeps a decision before anything is woven by it.
func (s *Session) decide(ctx context.Context, p Policy, after NodeID, all []decision) error {
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return s.engine.store.Decide(ctx, s.name, p.String(), after, b)
}

// decisions gives what was decided under a policy, by the node that it followed.
func (s *Session) decisions(ctx context.Context, p Policy) (map[NodeID][]decision, error) {
	stored, err := s.engine.store.Decisions(ctx, s.name, p.String())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	out := make(map[NodeID][]decision, len(stored))
	for id, b := range stored {
		var all []decision
		if err := json.Unmarshal(b, &all); err != nil {
			return nil, fmt.Errorf("session %s: what %s decided after step %s: %w", s.name, p, id, err)
		}
		out[id] = all
	}
	return out, nil
}
