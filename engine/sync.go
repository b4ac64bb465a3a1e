package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Sync appends what a whole history has and the session lacks, for a client that sends everything
// each time or a file that is imported again. Steps that are there already are left alone, but for answers
// that have come since. A history that was edited becomes a branch from the last common node, and
// the session goes on from there; one that is only shorter changes nothing. each, if not nil, is called
// with every node that is new or was filled in, once it is safe. Sync returns how many were
// appended to the path; cancelled, it keeps what it has studied.
func (s *Session) Sync(ctx context.Context, history []Step, each func(Node)) (added int, err error) {
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.prepare(ctx); err != nil {
		return 0, err
	}
	if each == nil {
		each = func(Node) {}
	}
	common, err := s.refill(ctx, history, each)
	if err != nil {
		return 0, err
	}
	if common == len(history) {
		return 0, nil
	}
	if err := s.rewind(ctx, common); err != nil {
		return 0, err
	}
	known, err := s.revisit(ctx, history[common:])
	if err == nil && known > 0 {
		_, err = s.refill(ctx, history, each)
	}
	if err != nil {
		s.forget() // memory may be on another branch than the store
		return 0, err
	}
	added, err = s.extend(ctx, history[common+known:], each)
	return known + added, err
}

// revisit goes on along a branch that the store has, as far as steps follow it, and counts its nodes. They stay as they
// are: what a client sends of them now may be shortened, and what was decided about them is kept beside them.
func (s *Session) revisit(ctx context.Context, steps []Step) (known int, err error) {
	previous := graphstore.Root(s.name)
	if n := len(s.path); n > 0 {
		previous = s.path[n-1].ID
	}
	for _, step := range steps {
		node, err := s.engine.store.Get(ctx, s.name, graphstore.Identify(previous, step))
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return known, err
		}
		s.analyst.replay(&node)
		s.show([]*Node{&node})
		previous = node.ID
		known++
	}
	if known == 0 {
		return 0, nil
	}
	return known, s.engine.store.SetHead(ctx, s.name, previous)
}

// refill walks the nodes that history and the session have in common, fills in answers that have
// come since, and counts them.
func (s *Session) refill(ctx context.Context, history []Step, each func(Node)) (int, error) {
	previous := graphstore.Root(s.name)
	for i, node := range slices.Clone(s.path) {
		if i == len(history) || graphstore.Identify(previous, history[i]) != node.ID {
			return i, nil
		}
		previous = node.ID
		if !fills(node.Node, history[i]) {
			continue
		}
		filled, err := s.fill(ctx, node, history[i])
		if err != nil {
			return i, err
		}
		each(filled)
	}
	return min(len(history), len(s.path)), nil
}

// A batch of an import is one transaction of the store.
const (
	batchNodes = 200
	batchBytes = 4 << 20
)

// batch gathers nodes for one transaction; a node changed twice is in it once.
type batch struct {
	nodes []Node
	at    map[NodeID]int
	added []Node
	bytes int
}

func (b *batch) put(n *Node) {
	if i, ok := b.at[n.ID]; ok {
		b.nodes[i] = *n
		return
	}
	b.at[n.ID] = len(b.nodes)
	b.nodes = append(b.nodes, *n)
	b.bytes += textSize(n)
}

func (b *batch) full() bool { return len(b.nodes) >= batchNodes || b.bytes >= batchBytes }

// extend appends steps in batches.
func (s *Session) extend(ctx context.Context, steps []Step, each func(Node)) (added int, err error) {
	b := &batch{at: map[NodeID]int{}}
	flush := func(ctx context.Context) error {
		if err := s.engine.store.Put(ctx, s.name, b.nodes...); err != nil {
			s.forget() // memory is ahead of the store
			return err
		}
		for _, n := range b.added {
			s.engine.counsel.ask(s, &n, true)
			each(n)
		}
		added += len(b.added)
		b = &batch{at: map[NodeID]int{}}
		return nil
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil { // what was studied is worth keeping
			return added, errors.Join(err, flush(context.WithoutCancel(ctx)))
		}
		node, changed := s.study(ctx, step.Clone())
		s.show(append(changed, node))
		for _, n := range changed {
			b.put(n)
		}
		b.put(node)
		b.added = append(b.added, *node)
		if b.full() {
			if err := flush(ctx); err != nil {
				return added, err
			}
		}
	}
	err = flush(context.WithoutCancel(ctx))
	return added, err
}
