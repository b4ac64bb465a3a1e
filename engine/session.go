package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// kept is a node in memory. A light one has its observations' text in the store only.
type kept struct {
	*Node
	light bool
}

// maxHeld bounds the observation text that a session keeps in memory, in bytes. Older text is read
// from the store when it is wanted.
const maxHeld = 64 << 20

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
	b.bytes += bytes(n)
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

// load reads the session's path from the store if memory does not have it. Observations stay there
// until they are wanted.
func (s *Session) load(ctx context.Context) error {
	s.mu.Lock()
	loaded := s.loaded
	s.mu.Unlock()
	if loaded {
		return nil
	}
	info, err := s.engine.store.Info(ctx, s.name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	nodes, err := s.read(ctx, info.Head)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	s.loaded, s.path, s.at, s.held, s.oldest = true, nil, map[NodeID]int{}, 0, len(nodes)
	for i := range nodes {
		s.at[nodes[i].ID] = i
		s.path = append(s.path, kept{&nodes[i], true})
	}
	return nil
}

// read gives the path to head from the store, without observations' texts.
func (s *Session) read(ctx context.Context, head NodeID) ([]Node, error) {
	if head == "" {
		return nil, nil
	}
	ids, err := s.engine.store.Path(ctx, s.name, head)
	if err != nil {
		return nil, err
	}
	place := make(map[NodeID]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	nodes := make([]Node, len(ids))
	for n, err := range s.engine.store.Skeletons(ctx, s.name) {
		if err != nil {
			return nil, err
		}
		if i, ok := place[n.ID]; ok { // others are on abandoned branches
			nodes[i] = n.Node
		}
	}
	return nodes, nil
}

// rewind makes memory end before Seq n, so that the next step branches from there.
func (s *Session) rewind(ctx context.Context, n int) error {
	if n == len(s.path) {
		return nil
	}
	s.mu.Lock()
	for _, k := range s.path[n:] {
		delete(s.at, k.ID)
		if !k.light {
			s.held -= bytes(k.Node)
		}
	}
	s.path = slices.Clone(s.path[:n])
	s.oldest = min(s.oldest, n)
	s.analyst = nil
	s.mu.Unlock()
	return s.prepare(ctx)
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

// show puts nodes into the path: at their place, or at its end.
func (s *Session) show(nodes []*Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range nodes {
		delete(s.fetched, n.ID)
		i, ok := s.at[n.ID]
		switch {
		case !ok:
			s.at[n.ID] = len(s.path)
			s.path = append(s.path, kept{Node: n})
			s.held += bytes(n)
		case s.path[i].light:
			s.path[i] = kept{light(n), true}
		default:
			s.held += bytes(n) - bytes(s.path[i].Node)
			s.path[i] = kept{Node: n}
		}
	}
	for s.held > maxHeld && s.oldest < len(s.path)-1 {
		n := s.path[s.oldest].Node
		s.held -= bytes(n)
		s.path[s.oldest] = kept{light(n), true}
		s.oldest++
	}
}

// whole gives the node with the text of its observations. What it reads from the store stays at hand.
func (s *Session) whole(ctx context.Context, k kept) (Node, error) {
	if !k.light {
		return *k.Node, nil
	}
	s.mu.Lock()
	n, ok := s.fetched[k.ID]
	s.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := s.engine.store.Get(ctx, s.name, k.ID)
	if err != nil {
		return Node{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fetchedBytes += bytes(&n); s.fetched == nil || s.fetchedBytes > maxHeld {
		s.fetched, s.fetchedBytes = map[NodeID]Node{}, bytes(&n)
	}
	s.fetched[n.ID] = n
	return n, nil
}

// snapshot is the path as it is now. Its nodes are not to be changed.
func (s *Session) snapshot() []kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.path)
}

func (s *Session) find(id NodeID) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[id]
	if !ok {
		return kept{}, false
	}
	return s.path[i], true
}

// forget drops what memory holds, so that it is read from the store again.
func (s *Session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded, s.path, s.at, s.held, s.oldest = false, nil, nil, 0, 0
	s.fetched, s.fetchedBytes = nil, 0
	s.analyst = nil
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

// bytes is the observation text that a node holds.
func bytes(n *Node) int {
	size := 0
	for _, c := range n.Step.Calls {
		if c.Observation != nil {
			size += len(c.Observation.Text)
		}
	}
	return size
}

// light is the node without the text of its observations.
func light(n *Node) *Node {
	out := *n
	out.Step = n.Step.Clone()
	for _, c := range out.Step.Calls {
		if c.Observation != nil {
			c.Observation.Text = ""
		}
	}
	return &out
}
