package graphstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cayleygraph/cayley/graph/proto"
	"github.com/cayleygraph/quad"
	"github.com/dgraph-io/badger/v4"
)

// Walk bounds Ancestry. The zero Walk has no bounds.
type Walk struct {
	W     int // nodes reached, at most (§3.4: W counts ancestors, not the node itself); 0: no limit
	M     int // edges followed from each node, at most, the first in stored order; 0: all
	Depth int // edges from the start, at most; 0: no limit
	// Descendants follows edges the other way, to the nodes that depend on the start. Those of one node
	// come in the order in which their edges were made.
	Descendants bool
	// Facts also follows edges that are no Candidate.
	Facts bool
}

// Reached is a node that a walk came to.
type Reached struct {
	ID    NodeID
	Depth int    // edges from the start, at least 1
	Via   NodeID // the node one edge nearer to the start, from which it was first reached
}

// Ancestry walks the parent edges breadth-first from a node until the queue is empty or W nodes are
// reached (§3.4), and returns them in that order. Inside a level, parents come in stored order. It is
// ErrNotFound if the node is not there.
func (s *Store) Ancestry(ctx context.Context, session string, id NodeID, w Walk) ([]Reached, error) {
	var out []Reached
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		predicates := []quad.Value{iriDependsOn}
		if w.Facts {
			predicates = append(predicates, iriRefersTo)
		}
		g, refs, err := openAt(ctx, txn, e, id, predicates)
		if err != nil {
			return err
		}
		walker := &walker{Walk: w, g: g, predicates: refs[1:], seen: map[uint64]bool{}}
		if err := walker.run(ctx, refs[0]); err != nil {
			return fmt.Errorf("session %q: ancestry of %s: %w", session, id, err)
		}
		out, err = walker.reached(ctx, &s.names, e, id)
		return err
	})
	return out, err
}

// openAt opens the graph for reading and finds a node and predicates in it, all in one look.
func openAt(ctx context.Context, txn *badger.Txn, e entry, id NodeID, predicates []quad.Value) (quads, []uint64, error) {
	g, err := openQuads(txn, e)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return quads{}, nil, err
	}
	if err == nil {
		refs, err := g.refs(ctx, append([]quad.Value{nodeIRI(id)}, predicates...))
		if err != nil || refs[0] != 0 {
			return g, refs, err
		}
	}
	if _, err := readRecord(txn, e, id); err != nil {
		return quads{}, nil, err
	}
	return quads{}, nil, fmt.Errorf("session %q: %w: node %s is not in the graph; run repair", e.Name, ErrDamaged, id)
}

// walker walks by the numbers that Cayley gives to nodes; names are looked up at the end, at once.
type walker struct {
	Walk
	g          quads
	predicates []uint64
	seen       map[uint64]bool
	steps      []stepTo
	found      []*proto.Primitive // reused
}

type stepTo struct {
	ref   uint64
	depth int
	via   int // index in steps, or -1 for the start
}

func (k *walker) run(ctx context.Context, start uint64) error {
	k.seen[start] = true
	at := stepTo{ref: start, via: -1}
	for next := -1; ; {
		if k.Depth == 0 || at.depth < k.Depth {
			refs, err := k.neighbours(ctx, at.ref)
			if err != nil {
				return err
			}
			for _, ref := range refs {
				if k.seen[ref] {
					continue
				}
				k.seen[ref] = true
				k.steps = append(k.steps, stepTo{ref, at.depth + 1, next})
				if len(k.steps) == k.W {
					return nil
				}
			}
		}
		if next++; next == len(k.steps) {
			return nil
		}
		at = k.steps[next]
	}
}

// neighbours are the ends of a node's edges in stored order, which is the order of the quads' numbers.
func (k *walker) neighbours(ctx context.Context, ref uint64) ([]uint64, error) {
	k.found = k.found[:0]
	index, end := bySubject, quad.Object
	if k.Descendants {
		index, end = byObject, quad.Subject
	}
	for _, p := range k.predicates {
		err := k.g.match(ctx, index, []uint64{ref, p}, func(q *proto.Primitive) error {
			k.found = append(k.found, q)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if k.Descendants || len(k.predicates) > 1 {
		slices.SortFunc(k.found, func(a, b *proto.Primitive) int { return cmp.Compare(a.ID, b.ID) })
	}
	if k.M > 0 && len(k.found) > k.M {
		k.found = k.found[:k.M]
	}
	out := make([]uint64, len(k.found))
	for i, q := range k.found {
		out[i] = q.GetDirection(end)
	}
	return out, nil
}

func (k *walker) reached(ctx context.Context, names *names, e entry, start NodeID) ([]Reached, error) {
	refs := make([]uint64, len(k.steps))
	for i, s := range k.steps {
		refs[i] = s.ref
	}
	ids, err := names.of(ctx, k.g, e, refs)
	if err != nil {
		return nil, err
	}
	out := make([]Reached, len(k.steps))
	for i, s := range k.steps {
		out[i] = Reached{ID: ids[i], Depth: s.depth, Via: start}
		if s.via >= 0 {
			out[i].Via = ids[s.via]
		}
	}
	return out, nil
}

// names remembers which nodes Cayley's numbers stand for, which is a third of the work of a short walk. It
// cannot be wrong: as long as a graph exists its nodes keep their numbers, and no two graphs that a store
// ever opens have the same session number and generation.
type names struct {
	mu  sync.Mutex
	ids map[nameKey]NodeID
}

type nameKey struct {
	session uint64
	graph   uint32
	ref     uint64
}

// maxNames is how many are remembered, before all are forgotten; they take about 8 MB.
const maxNames = 1 << 16

func (n *names) of(ctx context.Context, g quads, e entry, refs []uint64) ([]NodeID, error) {
	ids := make([]NodeID, len(refs))
	var missing []uint64
	var at []int
	n.mu.Lock()
	for i, r := range refs {
		if ids[i] = n.ids[nameKey{e.Number, e.Graph, r}]; ids[i] == "" {
			missing, at = append(missing, r), append(at, i)
		}
	}
	n.mu.Unlock()
	if len(missing) == 0 {
		return ids, nil
	}
	values, err := g.values(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("%w: a node of the graph has no name: %w; run repair", ErrDamaged, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil || len(n.ids) > maxNames {
		n.ids = map[nameKey]NodeID{}
	}
	for k, v := range values {
		id := nodeOf(v)
		if id == "" {
			return nil, fmt.Errorf("%w: an edge ends at what is no node; run repair", ErrDamaged)
		}
		ids[at[k]], n.ids[nameKey{e.Number, e.Graph, missing[k]}] = id, id
	}
	return ids, nil
}
