package graphstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// A Put is one transaction up to these bounds, which keep it below Badger's (10 MB, 104,857 entries).
const (
	maxNodes = 500
	maxBytes = 8 << 20
	maxAhead = 4 << 20 // bodies of a node with more than this are written before it
)

// Put keeps nodes, in the order given, and makes the session if it is absent. All of them are kept or
// none; only a call of more than 500 nodes or 8 MB is several transactions, each a beginning of the list.
//
// A node that is new must be named by Identify, follow the session's root or a node that is kept or
// stands earlier in the call, with the Seq that follows, and depend only on such nodes. It becomes the
// session's head. Of a node that is kept already, what was found out about it is set as given: summaries,
// files, action, parents, validation, tests, evidence, fixes and tokens. Of its step, only what was still
// missing is taken: the observation of an open call, hidden reasoning, raw bytes, model, time. An
// observation that is there is never replaced, for harnesses shorten old ones; so a node without its
// observation texts, as from Skeleton, may be put to change its label. What is as it was writes nothing.
//
// It fails with ErrFull before the disk is, so that what is there can still be read and deleted.
func (s *Store) Put(ctx context.Context, session string, nodes ...Node) error {
	if err := checkName(session); err != nil {
		return err
	}
	if len(nodes) == 0 {
		return nil
	}
	leave, err := s.enterToWrite(ctx, session)
	if err != nil {
		return err
	}
	defer leave()
	batches := split(nodes)
	late, err := s.holdBack(session, batches)
	if err != nil {
		return fmt.Errorf("put into session %q: %w", session, err)
	}
	batches = append(batches, split(late)...)
	for _, batch := range batches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.putBatch(ctx, session, batch); err != nil {
			return fmt.Errorf("put into session %q: %w", session, err)
		}
	}
	return nil
}

// split cuts a call into transactions.
func split(nodes []Node) [][]Node {
	var out [][]Node
	start, size := 0, 0
	for i, n := range nodes {
		if b := bulk(n); i > start && (size+b > maxBytes || i-start == maxNodes) {
			out = append(out, nodes[start:i])
			start, size = i, b
		} else {
			size += b
		}
	}
	if start < len(nodes) {
		out = append(out, nodes[start:])
	}
	return out
}

// bulk estimates what a node takes in a transaction, in bytes.
func bulk(n Node) int {
	return 6<<10 + textBytes(n.Step) + 400*(len(n.Parents)+len(n.Files)+len(n.Fixes)) + 150*len(n.Tests)
}

func textBytes(s Step) int {
	size := len(s.Thinking) + len(s.Thought) + len(s.Raw)
	for _, m := range s.Before {
		size += len(m.Text)
	}
	for _, c := range s.Calls {
		size += len(c.Args)
		if c.Observation != nil {
			size += len(c.Observation.Text)
		}
	}
	return size
}

// holdBack takes out of the batches the fixes by nodes that only later ones bring, which would point
// nowhere if the process died in between. It returns the nodes to be put once more, whole, when all are
// there.
func (s *Store) holdBack(session string, batches [][]Node) ([]Node, error) {
	if len(batches) < 2 {
		return nil, nil
	}
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	e, err := readEntry(txn, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	at := map[NodeID]int{} // the first batch that brings a node
	for i, batch := range batches {
		for _, n := range batch {
			if _, ok := at[n.ID]; !ok {
				at[n.ID] = i
			}
		}
	}
	var late []Node
	for i, batch := range batches {
		isLate := func(f Fix) bool {
			if at[f.By] <= i {
				return false
			}
			_, err := txn.Get(recordKey(e.Number, f.By))
			return err != nil
		}
		batches[i] = slices.Clone(batch) // the caller's nodes stay as they are
		for j, n := range batch {
			if slices.ContainsFunc(n.Fixes, isLate) {
				late = append(late, n)
				batches[i][j].Fixes = slices.DeleteFunc(slices.Clone(n.Fixes), isLate)
			}
		}
	}
	return late, nil
}

// item is a node about to be written.
type item struct {
	node    Node
	ordinal uint64
	before  uint64  // ordinal of the previous node, plus one; 0 at the root
	old     *record // as it is stored; nil for a new node
}

// putBatch plans, writes ahead what is too much for one transaction, and writes the rest in one. The
// session's lock keeps the plan true.
func (s *Store) putBatch(ctx context.Context, session string, nodes []Node) error {
	size := 0
	for _, n := range nodes {
		size += bulk(n)
	}
	if err := s.roomFor(size); err != nil {
		return err
	}
	e, items, err := s.plan(session, nodes)
	if err != nil {
		return err
	}
	if err := s.writeAhead(e, items); err != nil {
		return err
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	changed, err := writeItems(ctx, txn, &e, items)
	if err != nil || !changed {
		return err
	}
	if err := writeEntry(txn, e); err != nil {
		return err
	}
	return commit(txn)
}

// plan checks nodes against what is stored, and returns what is to be written and the session's entry.
func (s *Store) plan(session string, nodes []Node) (entry, []*item, error) {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	e, err := readEntry(txn, session)
	if errors.Is(err, ErrNotFound) {
		e, err = s.newEntry(session), nil
	}
	if err != nil {
		return e, nil, err
	}
	items, err := planNodes(txn, e, nodes)
	return e, items, err
}

// planNodes finds everything that can be wrong with nodes, before anything is written.
func planNodes(txn *badger.Txn, e entry, nodes []Node) ([]*item, error) {
	known := map[NodeID]*item{}
	var items []*item
	next := uint64(e.Nodes)
	for _, n := range nodes {
		if want := Identify(n.Previous, n.Step); n.ID != want {
			return nil, fmt.Errorf("node %q: its step and previous node are named %s", n.ID, want)
		}
		if it := known[n.ID]; it != nil {
			it.node = merge(it.node, n)
			continue
		}
		it, err := planNode(txn, e, known, n)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.ID, err)
		}
		if it.old == nil {
			it.ordinal = next
			next++
		}
		known[n.ID] = it
		items = append(items, it)
	}
	for _, it := range items {
		if err := checkLinks(txn, e, known, it); err != nil {
			return nil, fmt.Errorf("node %s: %w", it.node.ID, err)
		}
	}
	return items, nil
}

func planNode(txn *badger.Txn, e entry, known map[NodeID]*item, n Node) (*item, error) {
	old, err := readRecord(txn, e, n.ID)
	if err == nil {
		if n.Seq != old.Node.Seq {
			return nil, fmt.Errorf("its seq is %d, not %d", old.Node.Seq, n.Seq)
		}
		whole := old
		whole.Node.Step = old.Node.Step.Clone()
		if err := whole.unfold(loader(txn, e), nil); err != nil {
			return nil, err
		}
		return &item{node: merge(whole.Node, n), ordinal: old.Ordinal, old: &old}, nil
	} else if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	it := &item{node: n}
	seq := 0
	if n.Previous != Root(e.Name) {
		seq, it.before, err = position(txn, e, known, n.Previous)
		if err != nil {
			return nil, fmt.Errorf("previous node: %w", err)
		}
		seq, it.before = seq+1, it.before+1
	}
	if n.Seq != seq {
		return nil, fmt.Errorf("its seq is %d, not %d", seq, n.Seq)
	}
	return it, nil
}

// position is the seq and ordinal of a node that is stored or about to be.
func position(txn *badger.Txn, e entry, known map[NodeID]*item, id NodeID) (int, uint64, error) {
	if it := known[id]; it != nil {
		return it.node.Seq, it.ordinal, nil
	}
	r, err := readRecord(txn, e, id)
	return r.Node.Seq, r.Ordinal, err
}

// checkLinks makes sure that parents and fixes are there, and parents earlier, so that no cycle can be.
func checkLinks(txn *badger.Txn, e entry, known map[NodeID]*item, it *item) error {
	for _, p := range it.node.Parents {
		_, ordinal, err := position(txn, e, known, p.ID)
		if err != nil {
			return fmt.Errorf("parent: %w", err)
		}
		if ordinal >= it.ordinal {
			return fmt.Errorf("parent %s is no earlier node", p.ID)
		}
	}
	for _, f := range it.node.Fixes {
		if _, _, err := position(txn, e, known, f.By); err != nil {
			return fmt.Errorf("fix of %q: %w", f.Test, err)
		}
	}
	return nil
}

// writeAhead writes the bodies of nodes that would not fit into one transaction. A body is named by its
// hash and found only through a record, so that a crash in between leaves nothing half-written.
func (s *Store) writeAhead(e entry, items []*item) error {
	large := func(it *item) bool { return textBytes(it.node.Step) > maxAhead }
	if !slices.ContainsFunc(items, large) {
		return nil
	}
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, it := range items {
		if !large(it) {
			continue
		}
		for _, b := range fold(it.node).Bodies {
			if err := writeBody(txn, batch.Set, e.Number, b); err != nil {
				return fmt.Errorf("write body: %w", err)
			}
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("write bodies: %w", err)
	}
	return nil
}

// writeItems puts records, bodies and quads into txn and keeps the entry's sums. It reports whether there
// was anything to write.
func writeItems(ctx context.Context, txn *badger.Txn, e *entry, items []*item) (bool, error) {
	var c change
	label := sessionIRI(e.Name)
	seen := map[string]bool{}
	var files []string
	changed := false
	for _, it := range items {
		r := fold(it.node)
		r.Ordinal = it.ordinal
		same, err := writeRecord(txn, *e, it, r)
		if err != nil {
			return false, fmt.Errorf("node %s: %w", it.node.ID, err)
		}
		if same {
			continue
		}
		d := diff(label, it.old, r)
		c.del, c.add = append(c.del, d.del...), append(c.add, d.add...)
		files = append(files, newFiles(seen, it)...)
		changed = true
		e.Tokens += it.node.Tokens.Total()
		if it.old != nil {
			e.Tokens -= it.old.Node.Tokens.Total()
		} else {
			e.Nodes++
			e.Head = it.node.ID
		}
		e.touch(it.node.Step.Time)
	}
	if !changed {
		return false, nil
	}
	g, err := openQuadsToWrite(txn, *e)
	if err != nil {
		return false, err
	}
	names, err := g.unnamed(ctx, label, files)
	if err != nil {
		return false, err
	}
	c.add = append(c.add, names...)
	return true, g.apply(c)
}

// newFiles are the files that a node touches, its record does not, and no node before it in the call does.
func newFiles(seen map[string]bool, it *item) []string {
	var out []string
	for _, f := range it.node.listed() {
		if !seen[f] && (it.old == nil || !slices.Contains(it.old.Node.Files, f)) {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// writeRecord puts a record and the bodies that are not there yet, unless the same record is there.
func writeRecord(txn *badger.Txn, e entry, it *item, r record) (same bool, err error) {
	data, err := encodeRecord(r)
	if err != nil {
		return false, err
	}
	key := recordKey(e.Number, it.node.ID)
	if it.old != nil {
		stored, err := get(txn, key)
		if err != nil || bytes.Equal(stored, data) {
			return err == nil, err
		}
	} else if err := writeOrder(txn, e, it); err != nil {
		return false, err
	}
	for _, b := range r.Bodies {
		if err := writeBody(txn, txn.Set, e.Number, b); err != nil {
			return false, err
		}
	}
	return false, txn.Set(key, data)
}

func writeOrder(txn *badger.Txn, e entry, it *item) error {
	key := orderKey(e.Number, it.ordinal)
	if _, err := txn.Get(key); err == nil {
		return fmt.Errorf("%w: the catalog's count of nodes is wrong; run repair", ErrDamaged)
	}
	return txn.Set(key, orderValue(it.node.ID, it.before))
}

// orderValue is a node's place in the session: its id, and the ordinal of the node before it plus one.
func orderValue(id NodeID, before uint64) []byte { return binary.AppendUvarint(rawID(id), before) }
