// Package query answers questions about the graph of a session that people ask often: what a step rests on
// and what rests on it, how one step led to another, what failed and what fixed it, who touched a file, who
// used a word.
package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Step is a node as an answer shows it.
type Step struct {
	ID         graphstore.NodeID     `json:"id"`
	Seq        int                   `json:"seq"`
	Summary    string                `json:"summary,omitempty"`
	Action     string                `json:"action,omitempty"`
	Validation graphstore.Validation `json:"validation,omitempty"`
}

func newStep(n graphstore.Node) Step { return Step{n.ID, n.Seq, n.Summary, n.Action, n.Validation} }

func byPlace(a, b Step) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) }

// Relative is a step that another rests on, or that rests on it.
type Relative struct {
	Step
	Depth int                 `json:"depth"` // edges between the two, at least 1
	Via   graphstore.NodeID   `json:"via"`   // the step before it on the way
	Edges []graphstore.Parent `json:"edges"` // those between it and Via, more than one if of several kinds
}

// Ancestors are the steps that a step rests on, nearest first, as far as w walks.
func Ancestors(ctx context.Context, s *graphstore.Store, session string, id graphstore.NodeID, w graphstore.Walk) ([]Relative, error) {
	w.Descendants = false
	return relatives(ctx, s, session, id, w)
}

// Descendants are the steps that rest on a step, nearest first, as far as w walks.
func Descendants(ctx context.Context, s *graphstore.Store, session string, id graphstore.NodeID, w graphstore.Walk) ([]Relative, error) {
	w.Descendants = true
	return relatives(ctx, s, session, id, w)
}

func relatives(ctx context.Context, s *graphstore.Store, session string, id graphstore.NodeID, w graphstore.Walk) ([]Relative, error) {
	reached, err := s.Ancestry(ctx, session, id, w)
	if err != nil {
		return nil, err
	}
	out := make([]Relative, len(reached))
	for i, r := range reached {
		n, err := s.Skeleton(ctx, session, r.ID)
		if err != nil {
			return nil, err
		}
		later, earlier := r.Via, r.ID
		if w.Descendants {
			later, earlier = r.ID, r.Via
		}
		out[i] = Relative{Step: newStep(n.Node), Depth: r.Depth, Via: r.Via}
		if out[i].Edges, err = edges(ctx, s, session, later, earlier); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// edges are those of a node to one of its parents.
func edges(ctx context.Context, s *graphstore.Store, session string, later, earlier graphstore.NodeID) ([]graphstore.Parent, error) {
	n, err := s.Skeleton(ctx, session, later)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(n.Parents, func(p graphstore.Parent) bool { return p.ID != earlier }), nil
}

// PathBetween is a shortest way along edges between two steps, from the one that rests on the other, which is
// the first of the answer; the Edges of each are those that lead to it. Which of the two is which does not
// matter. Without a way, the answer is empty.
func PathBetween(ctx context.Context, s *graphstore.Store, session string, a, b graphstore.NodeID) ([]Relative, error) {
	for _, ends := range [][2]graphstore.NodeID{{a, b}, {b, a}} {
		reached, err := s.Ancestry(ctx, session, ends[0], graphstore.Walk{Facts: true})
		if err != nil {
			return nil, err
		}
		via := make(map[graphstore.NodeID]graphstore.NodeID, len(reached))
		for _, r := range reached {
			via[r.ID] = r.Via
		}
		if _, ok := via[ends[1]]; ok {
			return along(ctx, s, session, ends[0], ends[1], via)
		}
	}
	return nil, nil
}

func along(ctx context.Context, s *graphstore.Store, session string, from, to graphstore.NodeID, via map[graphstore.NodeID]graphstore.NodeID) ([]Relative, error) {
	var out []Relative
	for id := to; ; id = via[id] {
		n, err := s.Skeleton(ctx, session, id)
		if err != nil {
			return nil, err
		}
		r := Relative{Step: newStep(n.Node)}
		if id != from {
			r.Via = via[id]
			if r.Edges, err = edges(ctx, s, session, via[id], id); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
		if id == from {
			break
		}
	}
	slices.Reverse(out)
	for i := range out {
		out[i].Depth = i
	}
	return out, nil
}

// Failure is a step whose tests failed.
type Failure struct {
	Step
	Tests []Fate `json:"tests"`
}

// Fate is what became of a test that failed.
type Fate struct {
	Test    string            `json:"test"`
	FixedBy graphstore.NodeID `json:"fixed_by,omitempty"` // empty while it still fails
}

// Failed are the steps labelled failed or superseded, in order.
func Failed(ctx context.Context, s *graphstore.Store, session string) ([]Failure, error) {
	ids, err := s.Labelled(ctx, session, graphstore.Failed, graphstore.Superseded)
	if err != nil {
		return nil, err
	}
	out := make([]Failure, len(ids))
	for i, id := range ids {
		n, err := s.Skeleton(ctx, session, id)
		if err != nil {
			return nil, err
		}
		out[i].Step = newStep(n.Node)
		for _, test := range n.Failures() {
			fate := Fate{Test: test}
			for _, f := range n.Fixes {
				if f.Test == test {
					fate.FixedBy = f.By
				}
			}
			out[i].Tests = append(out[i].Tests, fate)
		}
	}
	slices.SortFunc(out, func(a, b Failure) int { return byPlace(a.Step, b.Step) })
	return out, nil
}

// Toucher is a step that touches a file, under the names it has for it.
type Toucher struct {
	Step
	Files []string `json:"files"`
}

// Touching are the steps that touch a file, which is named by its path or the last elements of it, in order.
func Touching(ctx context.Context, s *graphstore.Store, session, file string) ([]Toucher, error) {
	touches, err := s.Touching(ctx, session, file)
	if err != nil {
		return nil, err
	}
	files := map[graphstore.NodeID][]string{}
	for _, t := range touches {
		files[t.ID] = append(files[t.ID], t.File)
	}
	out := make([]Toucher, 0, len(files))
	for id, names := range files {
		n, err := s.Skeleton(ctx, session, id)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		out = append(out, Toucher{newStep(n.Node), names})
	}
	slices.SortFunc(out, func(a, b Toucher) int { return byPlace(a.Step, b.Step) })
	return out, nil
}

// User is a step in which a word stands.
type User struct {
	Step
	Places []Place `json:"places"`
}

// Place is where in a step a word stands.
type Place struct {
	Part string `json:"part"` // the role of a message, "thinking", "thought", "call" or "observation"
	Call int    `json:"call"` // of a call or an observation, which, counted from 0
	Line string `json:"line"` // the first line that has it
}

// Using are the steps in whose messages, thoughts, calls or observations a word stands, in the order in
// which they were put. It reads the whole session.
func Using(ctx context.Context, s *graphstore.Store, session, word string) ([]User, error) {
	if word == "" {
		return nil, errors.New("no word to look for")
	}
	var out []User
	for n, err := range s.Session(ctx, session) {
		if err != nil {
			return nil, err
		}
		if places := places(n.Step, word); len(places) > 0 {
			out = append(out, User{newStep(n), places})
		}
	}
	return out, nil
}

func places(step graphstore.Step, word string) []Place {
	var out []Place
	look := func(part string, call int, text string) {
		at := strings.Index(text, word)
		if at < 0 {
			return
		}
		line := text[strings.LastIndexByte(text[:at], '\n')+1:]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		out = append(out, Place{part, call, line})
	}
	for _, m := range step.Before {
		look(string(m.Role), 0, m.Text)
	}
	look("thinking", 0, step.Thinking)
	look("thought", 0, step.Thought)
	for i, c := range step.Calls {
		look("call", i, c.Name+" "+c.Args)
		if c.Observation != nil {
			look("observation", i, c.Observation.Text)
		}
	}
	return out
}
