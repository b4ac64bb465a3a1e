package graphstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Get returns a node whole, or ErrNotFound.
func (s *Store) Get(ctx context.Context, session string, id NodeID) (Node, error) {
	var n Node
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) (err error) {
		n, err = readNode(txn, e, id)
		return err
	})
	return n, err
}

// Skeleton is a node without the bulk: the texts of its observations and its raw bytes are left out, also
// short ones. Everything else is there, thought and calls among it. Observation brings a text back.
type Skeleton struct {
	Node
	Lengths []int // of the observations' texts, in bytes, one a call; 0 while a call is open
}

// Skeleton returns a node's skeleton, or ErrNotFound.
func (s *Store) Skeleton(ctx context.Context, session string, id NodeID) (Skeleton, error) {
	var sk Skeleton
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) (err error) {
		sk, err = readSkeleton(txn, e, id)
		return err
	})
	return sk, err
}

// Observation returns the answer to one call of a node, with its text. It is ErrNotFound while the call is
// open, or if there is no such call.
func (s *Store) Observation(ctx context.Context, session string, id NodeID, call int) (Observation, error) {
	var out Observation
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		r, err := readRecord(txn, e, id)
		if err != nil {
			return err
		}
		calls := r.Node.Step.Calls
		if call < 0 || call >= len(calls) || calls[call].Observation == nil {
			return fmt.Errorf("session %q: node %s: observation of call %d: %w", session, id, call, ErrNotFound)
		}
		r.Bodies = slices.DeleteFunc(r.Bodies, func(b body) bool { return b.Part != partObservation || b.Index != call })
		if err := r.unfold(loader(txn, e), nil); err != nil {
			return err
		}
		out = *calls[call].Observation
		return nil
	})
	return out, err
}

// Session yields all nodes of a session in the order in which they were put, branches among them. After an
// error it ends. Nodes that are put meanwhile may be yielded or not.
func (s *Store) Session(ctx context.Context, session string) iter.Seq2[Node, error] {
	return each(s, ctx, session, readNode)
}

// Skeletons is Session with skeletons, which for long sessions is many times faster.
func (s *Store) Skeletons(ctx context.Context, session string) iter.Seq2[Skeleton, error] {
	return each(s, ctx, session, readSkeleton)
}

// each reads in pages, so that no transaction is open while the caller's code runs, which may well call
// the store.
func each[T any](s *Store, ctx context.Context, session string, read func(*badger.Txn, entry, NodeID) (T, error)) iter.Seq2[T, error] {
	const page = 64
	return func(yield func(T, error) bool) {
		var zero T
		for next := uint64(0); ; {
			var nodes []T
			err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
				places, err := readOrder(txn, e, next, page)
				for _, p := range places {
					n, err := read(txn, e, p.id)
					if err != nil {
						return err
					}
					nodes = append(nodes, n)
				}
				next += uint64(len(places))
				return err
			})
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
			if err != nil {
				yield(zero, err)
				return
			}
			if len(nodes) < page {
				return
			}
		}
	}
}

// Path returns the nodes from the session's first to head, in order: the branch that head ends. It reads
// no records but head's, so that long sessions are cheap.
func (s *Store) Path(ctx context.Context, session string, head NodeID) ([]NodeID, error) {
	var path []NodeID
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		r, err := readRecord(txn, e, head)
		if err != nil {
			return err
		}
		places, err := readOrder(txn, e, 0, int(r.Ordinal)+1)
		if err != nil {
			return err
		}
		if len(places) != int(r.Ordinal)+1 {
			return fmt.Errorf("session %q: %w: %d of its first %d nodes are listed; run repair", session, ErrDamaged, len(places), r.Ordinal+1)
		}
		path = make([]NodeID, r.Node.Seq+1)
		at := r.Ordinal
		for i := r.Node.Seq; i >= 0; i-- {
			p := places[at]
			path[i] = p.id
			if (p.before == 0) != (i == 0) || p.before > at {
				return fmt.Errorf("session %q: %w: its list of nodes leads from %s nowhere; run repair", session, ErrDamaged, p.id)
			}
			at = p.before - 1
		}
		return nil
	})
	return path, err
}

// Found is a node that Find found.
type Found struct {
	Session string
	ID      NodeID
}

// Find returns the nodes of all sessions whose id begins with prefix, which is hexadecimal, in either
// case, and not empty. Sessions come in the order of their making.
func (s *Store) Find(ctx context.Context, prefix string) ([]Found, error) {
	prefix = strings.ToLower(prefix)
	raw, err := hex.DecodeString(prefix[:len(prefix)&^1])
	if err != nil || prefix == "" || len(prefix) > 2*rawIDSize || strings.Trim(prefix, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%q is no beginning of a node's id: 1 to %d hexadecimal digits", prefix, 2*rawIDSize)
	}
	var out []Found
	err = s.view(ctx, func(txn *badger.Txn) error {
		entries, err := readEntries(txn)
		if err != nil {
			return err
		}
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.Number, b.Number) })
		for _, e := range entries {
			key := kindKey(e.Number, kindRecord)
			it := txn.NewIterator(badger.IteratorOptions{Prefix: append(key, raw...)})
			for it.Rewind(); it.Valid(); it.Next() {
				id := NodeID(hex.EncodeToString(it.Item().Key()[len(key):]))
				if strings.HasPrefix(string(id), prefix) {
					out = append(out, Found{e.Name, id})
				}
			}
			it.Close()
		}
		return ctx.Err()
	})
	return out, err
}

func readNode(txn *badger.Txn, e entry, id NodeID) (Node, error) {
	r, err := readRecord(txn, e, id)
	if err == nil {
		err = r.unfold(loader(txn, e), nil)
	}
	return r.Node, err
}

func readSkeleton(txn *badger.Txn, e entry, id NodeID) (Skeleton, error) {
	r, err := readRecord(txn, e, id)
	if err != nil {
		return Skeleton{}, err
	}
	lengths := r.lengths()
	bone := func(p part) bool { return p != partObservation && p != partRaw }
	if err := r.unfold(loader(txn, e), bone); err != nil {
		return Skeleton{}, err
	}
	r.Node.Step.Raw = nil
	for _, c := range r.Node.Step.Calls {
		if c.Observation != nil {
			c.Observation.Text = ""
		}
	}
	return Skeleton{Node: r.Node, Lengths: lengths}, nil
}

// place is an entry of a session's list of nodes.
type place struct {
	id     NodeID
	before uint64 // ordinal of the previous node, plus one; 0 at the root
}

// readOrder reads at most limit places from an ordinal on.
func readOrder(txn *badger.Txn, e entry, from uint64, limit int) ([]place, error) {
	out := make([]place, 0, min(limit, max(0, e.Nodes-int(from))))
	it := txn.NewIterator(badger.IteratorOptions{
		Prefix: kindKey(e.Number, kindOrder), PrefetchValues: true, PrefetchSize: min(limit, 100),
	})
	defer it.Close()
	for it.Seek(orderKey(e.Number, from)); it.Valid() && len(out) < limit; it.Next() {
		err := it.Item().Value(func(v []byte) error {
			p, err := parsePlace(v)
			out = append(out, p)
			return err
		})
		if err != nil {
			return out, fmt.Errorf("session %q: %w: list of nodes: %w; run repair", e.Name, ErrDamaged, err)
		}
	}
	return out, nil
}

func parsePlace(v []byte) (place, error) {
	if len(v) > rawIDSize {
		if before, n := binary.Uvarint(v[rawIDSize:]); n == len(v)-rawIDSize {
			return place{id(v), before}, nil
		}
	}
	return place{}, errors.New("entry is garbled")
}
