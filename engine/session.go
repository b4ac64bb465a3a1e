package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Session is one agent's thread: the path of nodes from the root to the head. An edited history
// makes a branch in the store; the session is then the path to the newest head. It is safe for
// concurrent use. Weave never waits for an Append.
type Session struct {
	engine *Engine
	name   string

	appending sync.Mutex // held by whoever writes, never while a Selector thinks
	analyst   *analyst   // nil until the first write; guarded by appending

	weaving sync.Mutex // held while a working set decides
	desks   map[string]*desk
	index   *index // nil until it is needed

	// mu guards what follows, and is never held across a store or a model. Writers hold appending too,
	// so whoever holds appending may read without mu.
	mu     sync.Mutex
	loaded bool
	path   []kept // from the first to the head, by Seq; replaced, never changed
	at     map[NodeID]int
	held   int // bytes of observations that path holds
	oldest int // Seq of the first node in path that is not light

	fetched      map[NodeID]Node // light nodes that were read from the store, whole
	fetchedBytes int
}

// Name is the session's name.
func (s *Session) Name() string { return s.name }

// Describe sets what the catalog says of the session: title, agent, model, source and the like. It
// makes the session if there is none.
func (s *Session) Describe(ctx context.Context, info SessionInfo) error {
	info.Name = s.name
	return s.engine.store.Describe(ctx, info)
}

// Info is what the catalog says of the session.
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	return s.engine.store.Info(ctx, s.name)
}

// Append keeps one more step after the head, and returns when it is safe: on disk, unless the engine
// is NoSync. The step may come before the answers to its calls; see Answer.
//
// Handing in the head again, equal in all that names a step and in its call ids, changes nothing
// and returns the same node, with answers that were still missing filled in. So a failed or
// unacknowledged Append can be tried again. An agent that may repeat itself to the letter should give its
// calls ids.
//
// A failed store fails Append, and nothing is kept. A failing Selector or Summarizer does not: the step is kept
// as rules see it, and Append waits for what these add until Options.Deadline. What comes later is added
// to the node then.
func (s *Session) Append(ctx context.Context, step Step) (Node, error) {
	node, opinion, err := s.append(ctx, step)
	if err != nil || opinion == nil || s.engine.opts.Deadline < 0 {
		return node, err
	}
	late := time.NewTimer(s.engine.opts.Deadline)
	defer late.Stop()
	select {
	case <-opinion.done:
		if opinion.result != nil {
			return *opinion.result, nil
		}
	case <-late.C:
	case <-ctx.Done(): // the step is kept all the same
	}
	return node, nil
}

// append is Append by rules. It returns also the question that was asked about the node, if it may be answered soon.
func (s *Session) append(ctx context.Context, step Step) (Node, *asked, error) {
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.prepare(ctx); err != nil {
		return Node{}, nil, err
	}
	if n := len(s.path); n > 0 && again(s.path[n-1].Node, step) {
		node, err := s.fill(ctx, s.path[n-1], step)
		return node, nil, err
	}
	node, err := s.next(ctx, step)
	if err != nil {
		return Node{}, nil, err
	}
	opinion, alone := s.engine.counsel.ask(s, &node, true)
	if !alone {
		return node, nil, nil
	}
	return node, opinion, nil
}

// next keeps a step after the head, whatever the head is.
func (s *Session) next(ctx context.Context, step Step) (Node, error) {
	node, changed := s.study(ctx, step.Clone())
	if err := s.keep(ctx, append(changed, node)); err != nil {
		return Node{}, err
	}
	return *node, nil
}

// Answer fills in the observation of an open call, an index from 0. An observation that is already
// there stays as it is.
func (s *Session) Answer(ctx context.Context, id NodeID, call int, o Observation) (Node, error) {
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.prepare(ctx); err != nil {
		return Node{}, err
	}
	node, ok := s.find(id)
	if !ok {
		return Node{}, fmt.Errorf("session %s: step %s: %w", s.name, id, ErrNotFound)
	}
	if call < 0 || call >= len(node.Step.Calls) {
		return Node{}, fmt.Errorf("session %s: step %d has %d calls, none with index %d: %w", s.name, node.Seq, len(node.Step.Calls), call, ErrNotFound)
	}
	step := node.Step.Clone()
	step.Calls[call].Observation = &o
	return s.fill(ctx, node, step)
}

// prepare reads the session from the store, for writing to it.
func (s *Session) prepare(ctx context.Context) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	if s.analyst != nil {
		return nil
	}
	a := newAnalyst(s.engine)
	for _, k := range s.path {
		n, err := s.whole(ctx, k)
		if err != nil {
			return err
		}
		a.replay(&n)
	}
	s.analyst = a
	return nil
}

// fill adds to a kept node the answers that step has and the node lacks.
func (s *Session) fill(ctx context.Context, node kept, step Step) (Node, error) {
	if !fills(node.Node, step) {
		return s.whole(ctx, node)
	}
	whole, err := s.whole(ctx, node)
	if err != nil {
		return Node{}, err
	}
	filled, changed := s.answer(ctx, &whole, step)
	if err := s.keep(ctx, append(changed, filled)); err != nil {
		return Node{}, err
	}
	s.engine.counsel.ask(s, filled, false)
	return *filled, nil
}

// keep stores nodes in one transaction and then shows them to Weave.
func (s *Session) keep(ctx context.Context, nodes []*Node) error {
	if err := s.engine.store.Put(ctx, s.name, values(nodes)...); err != nil {
		s.forget() // what memory has may be ahead of the store
		return err
	}
	s.show(nodes)
	return nil
}

// again reports whether step is the node, handed in once more.
func again(node *Node, step Step) bool {
	if graphstore.Identify(node.Previous, step) != node.ID {
		return false
	}
	for i, c := range node.Step.Calls {
		if c.ID != step.Calls[i].ID {
			return false
		}
	}
	return true
}

// fills reports whether step answers a call that node has open.
func fills(node *Node, step Step) bool {
	for i, c := range node.Step.Calls {
		if c.Open() && (step.Calls[i].Observation != nil || step.Calls[i].Joined) {
			return true
		}
	}
	return false
}

func values(nodes []*Node) []Node {
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = *n
	}
	return out
}
