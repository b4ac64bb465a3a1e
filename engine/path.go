package engine

import (
	"context"
	"errors"
	"slices"
)

// kept is a node in memory. A light one has its observations' text in the store only.
type kept struct {
	*Node
	light bool
}

// maxHeld bounds the observation text that a session keeps in memory, in bytes. Older text is read
// from the store when it is wanted.
const maxHeld = 64 << 20

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
			s.held -= textSize(k.Node)
		}
	}
	s.path = slices.Clone(s.path[:n])
	s.oldest = min(s.oldest, n)
	s.analyst = nil
	s.mu.Unlock()
	return s.prepare(ctx)
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
			s.held += textSize(n)
		case s.path[i].light:
			s.path[i] = kept{light(n), true}
		default:
			s.held += textSize(n) - textSize(s.path[i].Node)
			s.path[i] = kept{Node: n}
		}
	}
	for s.held > maxHeld && s.oldest < len(s.path)-1 {
		n := s.path[s.oldest].Node
		s.held -= textSize(n)
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
	if s.fetchedBytes += textSize(&n); s.fetched == nil || s.fetchedBytes > maxHeld {
		s.fetched, s.fetchedBytes = map[NodeID]Node{}, textSize(&n)
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

// textSize is how much text of observations a node holds, in bytes.
func textSize(n *Node) int {
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
