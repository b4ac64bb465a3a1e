package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxweaver/ctxweaver/compress"
)

// index is the observations of a path, to be searched by their words.
type index struct {
	fed   trail
	texts *compress.BM25
}

// lexical keeps the newest observations and those older ones that share most with the newest step, by BM25 and by the
// rare identifiers in what that finds. It chooses anew at each request.
func (s *Session) lexical(ctx context.Context, p Policy, path []kept) (judge, error) {
	s.weaving.Lock()
	defer s.weaving.Unlock()
	x, err := s.indexed(ctx, path)
	if err != nil {
		return nil, err
	}
	older := max(0, x.texts.Len()-p.a)
	found := map[int]bool{}
	if older > 0 {
		newest, _ := current(path)
		query, err := s.said(ctx, kept{newest, path[newest.Seq].light})
		if err != nil {
			return nil, err
		}
		for _, i := range x.texts.Best(query, older, p.b, true) {
			found[i] = true
		}
	}
	i := -1
	return func(NodeID) verdict {
		i++
		switch {
		case i >= older:
			return verdict{fate: Whole, reason: fmt.Sprintf("among the newest %d observations", p.a)}
		case found[i]:
			return verdict{fate: Whole, reason: fmt.Sprintf("among the %d older ones that share most with the newest step", p.b)}
		}
		return verdict{fate: Omitted, reason: "shares less with the newest step than others"}
	}, nil
}

// indexed gives the index of a path's observations.
func (s *Session) indexed(ctx context.Context, path []kept) (*index, error) {
	x := s.index
	if x == nil || !x.fed.begins(path) {
		x = &index{texts: compress.NewBM25()}
		s.index = x
	}
	for _, k := range path[len(x.fed):] {
		n, err := s.whole(ctx, k)
		if err != nil {
			s.index = nil
			return nil, err
		}
		for _, c := range n.Step.Calls {
			if c.Observation != nil {
				x.texts.Add(c.Observation.Text)
			}
		}
		x.fed = append(x.fed, k)
	}
	return x, nil
}

// said is all that a step says: thought, actions and observations.
func (s *Session) said(ctx context.Context, k kept) (string, error) {
	n, err := s.whole(ctx, k)
	if err != nil {
		return "", err
	}
	text := []string{n.Step.Thinking, n.Step.Thought}
	for _, c := range n.Step.Calls {
		text = append(text, c.Name, c.Args)
		if c.Observation != nil {
			text = append(text, c.Observation.Text)
		}
	}
	return strings.Join(text, "\n"), nil
}
