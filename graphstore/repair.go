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
		if !slices.Contains(after.Problems, p) {
			after.Repaired = append(after.Repaired, p)
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
	if err := s.repairCatalog(); err != nil {
		return err
	}
	var entries []entry
	if err := s.db.View(func(txn *badger.Txn) (err error) {
		entries, err = readEntries(txn)
		return err
	}); err != nil {
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
func (s *Store) repairCatalog() error {
	return s.db.Update(func(txn *badger.Txn) error {
		numbers := map[uint64]bool{}
		roots := map[string]bool{}
		var bad, infos [][]byte
		err := scan(txn, []byte{spaceCatalog}, func(k, v []byte) error {
			k = slices.Clone(k)
			root := string(k[1 : len(k)-1])
			var e entry
			if k[len(k)-1] == kindInfo {
				if decode(v, &SessionInfo{}) != nil {
					bad = append(bad, k)
				} else {
					infos = append(infos, k)
				}
			} else if decode(v, &e) != nil || string(rawID(Root(e.Name))) != root || numbers[e.Number] {
				bad = append(bad, k)
			} else {
				numbers[e.Number], roots[root] = true, true
			}
			return nil
		})
		if err != nil {
			return err
		}
		lost := sessionNumbers(txn)
		slices.Reverse(lost) // of two with one name, the newer is the session
		for _, n := range lost {
			name, err := get(txn, kindKey(n, kindName))
			root := string(rawID(Root(string(name))))
			if numbers[n] || err != nil || roots[root] {
				continue
			}
			roots[root] = true
			bad = slices.DeleteFunc(bad, func(k []byte) bool { return string(k) == string(catalogKey(string(name), kindEntry)) })
			if err := write(txn, catalogKey(string(name), kindEntry), entry{Name: string(name), Number: n}); err != nil {
				return err
			}
		}
		for _, k := range infos {
			if !roots[string(k[1:len(k)-1])] {
				bad = append(bad, k)
			}
		}
		for _, k := range bad {
			if err := txn.Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
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
		g, err := writeQuads(txn, *e)
		if err != nil {
			return err
		}
		var c change
		named := map[string]bool{}
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
			for _, q := range fileNames(label, Node{Files: newFiles(named, it)}) {
				if known, err := g.ref(ctx, q.Subject); err != nil {
					return err
				} else if known == 0 {
					c.add = append(c.add, q)
				}
			}
		}
		return g.apply(c)
	})
}
