package graphstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Repair makes anew what follows from the records: the quads, the list of nodes, the catalog's sums and,
// if a session was lost from the catalog, its entry. Deletions are finished. Opinions that cannot be read, or
// whose node or parents are lost, are dropped. What is left, lost records and bodies and what pointed to
// them, is in the report's Problems; nothing of it is thrown away but what cannot be read. Other calls may
// go on; those into a session under repair wait.
func (s *Store) Repair(ctx context.Context) (Report, error) {
	before, err := s.Check(ctx)
	if err != nil || len(before.Problems) == 0 {
		return before, err
	}
	if err := s.repair(ctx); err != nil {
		return before, fmt.Errorf("repair: %w", err)
	}
	after, err := s.Check(ctx)
	if err != nil {
		return before, err
	}
	for _, p := range before.Problems {
		switch {
		case slices.Contains(after.Problems, p):
		case p.Kind.Mendable():
			after.Repaired = append(after.Repaired, p)
		default:
			after.Lost = append(after.Lost, p)
		}
	}
	return after, nil
}

func (s *Store) repair(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.life.RUnlock()
	doomed, err := s.doomed()
	if err != nil {
		return err
	}
	for _, number := range doomed {
		if err := s.drop(number); err != nil {
			return err
		}
	}
	entries, err := s.repairCatalog()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.repairSession(ctx, e.Name); err != nil {
			return fmt.Errorf("session %q: %w", e.Name, err)
		}
	}
	return nil
}

// repairCatalog takes out of the catalog what cannot be read, and puts in the sessions that it lacks.
func (s *Store) repairCatalog() (entries []entry, err error) {
	err = s.db.Update(func(txn *badger.Txn) error {
		r, err := readRoster(txn)
		if err != nil {
			return err
		}
		if err := r.restore(txn); err != nil {
			return err
		}
		entries = r.entries
		return r.clear(txn)
	})
	return entries, err
}

// repairSession checks a session, and makes anew what follows from its records if anything is wrong.
func (s *Store) repairSession(ctx context.Context, session string) error {
	mu := s.writer(session)
	mu.Lock()
	defer mu.Unlock()
	var c checker
	var e entry
	var nodes map[NodeID]spot
	err := s.db.View(func(txn *badger.Txn) (err error) {
		if e, err = readEntry(txn, session); err != nil {
			return err
		}
		c.txn = txn
		if err := c.session(ctx, e); err != nil {
			return err
		}
		nodes = c.records(e)
		return nil
	})
	if errors.Is(err, ErrNotFound) || err == nil && len(c.Problems) == 0 {
		return nil // deleted meanwhile, or sound
	} else if err != nil {
		return err
	}
	if err := s.rebuild(ctx, e, inOrder(nodes)); err != nil {
		return err
	}
	return s.dropOpinions(e, nodes)
}

// rebuild writes the list of nodes and the quads of a session anew, beside the old, and then the catalog
// entry that points to them. If the process dies before, Repair does it again.
func (s *Store) rebuild(ctx context.Context, e entry, nodes []NodeID) error {
	stale := e.Graph
	if e.Graph = s.lastGraph(e.Number) + 1; e.Graph == 0 {
		return fmt.Errorf("%w: it was repaired too often", ErrDamaged)
	}
	if err := s.dropPrefix(kindKey(e.Number, kindOrder)); err != nil {
		return err
	}
	fresh := entry{Name: e.Name, Number: e.Number, Graph: e.Graph, Head: e.Head}
	ordinals := make(map[NodeID]uint64, len(nodes))
	for batch := range slices.Chunk(nodes, maxNodes/2) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.rebuildNodes(ctx, &fresh, batch, ordinals); err != nil {
			return err
		}
	}
	if _, ok := ordinals[fresh.Head]; !ok {
		fresh.Head = ""
		if len(nodes) > 0 {
			fresh.Head = nodes[len(nodes)-1]
		}
	}
	if !e.Created.IsZero() {
		fresh.Created, fresh.Updated = e.Created, e.Updated
	}
	err := s.db.Update(func(txn *badger.Txn) error {
		if err := txn.Set(kindKey(e.Number, kindName), []byte(e.Name)); err != nil { // it may be garbled
			return err
		}
		return writeEntry(txn, fresh)
	})
	if err != nil {
		return err
	}
	for g := stale; g < e.Graph; g++ {
		if err := s.dropPrefix(graphKey(e.Number, g)); err != nil {
			return err
		}
	}
	return nil
}

// lastGraph is the last generation of quads that a session has keys of, or 0.
func (s *Store) lastGraph(number uint64) uint32 {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	prefix := kindKey(number, kindGraph)
	if k, ok := lastKey(txn, prefix); ok && len(k) >= len(prefix)+4 {
		return binary.BigEndian.Uint32(k[len(prefix):])
	}
	return 0
}

func (s *Store) rebuildNodes(ctx context.Context, e *entry, nodes []NodeID, ordinals map[NodeID]uint64) error {
	return s.db.Update(func(txn *badger.Txn) error {
		label := sessionIRI(e.Name)
		g, err := openQuadsToWrite(txn, *e)
		if err != nil {
			return err
		}
		var c change
		seen := map[string]bool{}
		var files []string
		for _, id := range nodes {
			r, err := readRecord(txn, *e, id)
			if err != nil {
				return err
			}
			it := &item{node: r.Node, ordinal: uint64(e.Nodes)}
			if before, ok := ordinals[r.Node.Previous]; ok {
				it.before = before + 1
			}
			if err := txn.Set(orderKey(e.Number, it.ordinal), orderValue(id, it.before)); err != nil {
				return err
			}
			if r.Ordinal != it.ordinal {
				r.Ordinal = it.ordinal
				data, err := encodeRecord(r)
				if err != nil {
					return err
				}
				if err := txn.Set(recordKey(e.Number, id), data); err != nil {
					return err
				}
			}
			ordinals[id] = it.ordinal
			e.Nodes++
			e.Tokens += r.Node.Tokens.Total()
			e.touch(r.Node.Step.Time)
			c.add = append(c.add, diff(label, nil, r).add...)
			files = append(files, newFiles(seen, it)...)
		}
		names, err := g.unnamed(ctx, label, files)
		if err != nil {
			return err
		}
		c.add = append(c.add, names...)
		return g.apply(c)
	})
}
