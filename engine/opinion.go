package engine

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// shownCandidates bounds how many candidates a Selector is shown, newest first.
const shownCandidates = 50

// opinion merges what the Selector chooses into the parents that rules found. Only candidates that it
// was shown count, so no choice can close a cycle. If it fails, rules stand.
func (s *Session) opinion(ctx context.Context, turn controller.Turn, parents []graphstore.Parent) []graphstore.Parent {
	a := s.analyst
	question := controller.Question{Turn: turn, Candidates: a.trace.Newest(shownCandidates)}
	shown := map[string]bool{}
	for _, c := range question.Candidates {
		shown[c.ID] = true
	}
	answer, err := bounded(ctx, a.engine.opts.Deadline, func(ctx context.Context) (controller.Answer, error) {
		return a.engine.opts.Selector.Select(ctx, question)
	})
	if err != nil {
		return parents
	}
	at := map[graphstore.NodeID]int{}
	for i, p := range parents {
		at[p.ID] = i
	}
	for _, c := range answer.Choices {
		if !shown[c.ID] || !(c.Score >= 0 && c.Score <= 1) {
			continue
		}
		i, known := at[NodeID(c.ID)]
		switch {
		case !known:
			at[NodeID(c.ID)] = len(parents)
			parents = append(parents, a.parent(c, answer.By))
		case parents[i].Kind == graphstore.Previous: // a guess gives way to an opinion
			parents[i] = a.parent(c, answer.By)
		}
	}
	sort.SliceStable(parents, func(i, j int) bool {
		p, q := parents[i], parents[j]
		if p.Score != q.Score {
			return p.Score > q.Score
		}
		return s.at[p.ID] > s.at[q.ID] // newest first
	})
	return parents
}

// bounded runs f for at most d. A panic in f is an error. If f does not heed its context it is left
// behind: the caller goes on without it.
func bounded[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("controller panicked: %v", p)
			}
			done <- r
		}()
		r.value, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
