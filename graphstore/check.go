package graphstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Kind says which promise of the store is broken.
type Kind string

const (
	KindTables  Kind = "tables"  // a file's checksum is wrong
	KindCatalog Kind = "catalog" // the catalog differs from the nodes, or an entry is unreadable or lost
	KindDeleted Kind = "deleted" // a session's deletion was not finished
	KindOrder   Kind = "order"   // the list of nodes differs from the records
	KindRecord  Kind = "record"  // a record is unreadable or lost
	KindBody    Kind = "body"    // a long text is lost, or not what its hash says
	KindName    Kind = "name"    // a node's id is not what its content says
	KindLink    Kind = "link"    // a previous node, parent or fix is lost, or a parent is no earlier node, which may be a cycle
	KindGraph   Kind = "graph"   // the quads differ from the records
	KindOpinion Kind = "opinion" // what a controller said of a node is unreadable, or its node or parents are lost
)

// Mendable reports whether Repair makes good what is broken: it follows from the records. Else something is lost.
func (k Kind) Mendable() bool {
	return slices.Contains([]Kind{KindCatalog, KindDeleted, KindOrder, KindGraph, KindOpinion}, k)
}

// Problem is one broken promise.
type Problem struct {
	Session string // "" for the store as a whole
	Node    NodeID // "" for the session as a whole
	Kind    Kind
	Detail  string // for people
}

func (p Problem) String() string {
	s := string(p.Kind) + ": " + p.Detail
	if p.Node != "" {
		s = "node " + string(p.Node) + ": " + s
	}
	if p.Session != "" {
		s = fmt.Sprintf("session %q: %s", p.Session, s)
	}
	return s
}

// Report is what Check and Repair found.
type Report struct {
	Sessions, Nodes, Bodies, Quads int       // looked at
	Problems                       []Problem // still there
	Repaired                       []Problem // were there before Repair
	Lost                           []Problem // were there before Repair, which could but strike what is lost off the lists
}

// Check reads the whole store and reports every promise that it finds broken; with none, Problems is
// empty. The error is for a store that could not be read through, or a cancelled ctx. It looks at one
// moment of the store, which may be in use meanwhile.
func (s *Store) Check(ctx context.Context) (Report, error) {
	var c checker
	err := s.view(ctx, func(txn *badger.Txn) error {
		if err := verifyTables(s.db); err != nil {
			c.found("", "", KindTables, "%v", err)
		}
		c.txn = txn
		entries, err := c.catalog()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := c.session(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return c.Report, err
}

// errTable is told instead of what Badger says, which is of its own insides.
var errTable = errors.New("a part of a table file (.sst) was changed, and what was in it is lost")

// verifyTables reads all tables through. Badger panics over a block that fails its checksum.
func verifyTables(db *badger.DB) (err error) {
	defer func() {
		if recover() != nil {
			err = errTable
		}
	}()
	if db.VerifyChecksum() != nil {
		err = errTable
	}
	return err
}

// checker looks at one snapshot.
type checker struct {
	Report
	txn *badger.Txn
}

func (c *checker) found(session string, id NodeID, kind Kind, format string, args ...any) {
	c.Problems = append(c.Problems, Problem{session, id, kind, fmt.Sprintf(format, args...)})
}

// catalog checks the catalog against the sessions whose keys are there, and returns what is readable.
func (c *checker) catalog() ([]entry, error) {
	r, err := readRoster(c.txn)
	if err != nil {
		return nil, err
	}
	for _, it := range r.garbled {
		c.found(it.name, "", KindCatalog, "entry %x is garbled: %v", it.root(), it.err)
	}
	for _, it := range r.infos {
		if !r.roots[it.root()] {
			c.found("", "", KindCatalog, "description %x is of no session", it.root())
		}
	}
	for _, n := range sessionNumbers(c.txn) {
		if r.numbers[n] {
			continue
		}
		if _, err := get(c.txn, doomedKey(n)); err == nil {
			c.found("", "", KindDeleted, "keys of deleted session %d are left", n)
			continue
		}
		name, err := get(c.txn, kindKey(n, kindName))
		switch {
		case err != nil:
			c.found("", "", KindRecord, "the name of session number %d is lost", n)
		case r.roots[string(rawID(Root(string(name))))]:
			c.found("", "", KindRecord, "session number %d has the name of another, %q", n, name)
		default:
			c.found(string(name), "", KindCatalog, "the session is not in it")
		}
	}
	return r.entries, nil
}

// sessionNumbers lists the sessions that have keys, by jumping from one to the next.
func sessionNumbers(txn *badger.Txn) []uint64 {
	var out []uint64
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{spaceSession}})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Seek(sessionKey(out[len(out)-1] + 1)) {
		if k := it.Item().Key(); len(k) < 9 {
			break
		} else {
			out = append(out, binary.BigEndian.Uint64(k[1:]))
		}
	}
	return out
}

// session checks one session.
func (c *checker) session(ctx context.Context, e entry) error {
	c.Sessions++
	if name, err := get(c.txn, kindKey(e.Number, kindName)); err != nil || string(name) != e.Name {
		c.found(e.Name, "", KindCatalog, "its keys are those of %q", name)
	}
	if _, err := readInfo(c.txn, e); err != nil {
		c.found(e.Name, "", KindCatalog, "%v", err)
	}
	nodes := c.records(e)
	c.order(e, nodes)
	tokens := 0
	graph, err := c.openGraph(e, len(nodes))
	if err != nil {
		return err
	}
	for _, id := range inOrder(nodes) {
		r, err := readRecord(c.txn, e, id)
		if err != nil {
			return err // it was read a moment ago
		}
		tokens += r.Node.Tokens.Total()
		c.links(e, nodes, r)
		if graph != nil {
			if err := graph.node(ctx, r); err != nil {
				return err
			}
		}
		c.content(e, r)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if graph != nil {
		if err := graph.rest(ctx); err != nil {
			return err
		}
	}
	c.opinions(e, nodes)
	c.Nodes += len(nodes)
	if _, ok := nodes[e.Head]; !ok && (e.Head != "" || len(nodes) > 0) {
		c.found(e.Name, e.Head, KindCatalog, "the head is not there")
	}
	if e.Nodes != len(nodes) || e.Tokens != tokens {
		c.found(e.Name, "", KindCatalog, "%d nodes with %d tokens are there, it says %d with %d", len(nodes), tokens, e.Nodes, e.Tokens)
	}
	return nil
}

// spot is where a node stands.
type spot struct {
	ordinal uint64
	seq     int
}

// inOrder lists nodes as their records say they were put.
func inOrder(nodes map[NodeID]spot) []NodeID {
	return slices.SortedFunc(maps.Keys(nodes), func(a, b NodeID) int {
		return cmp.Or(cmp.Compare(nodes[a].ordinal, nodes[b].ordinal), cmp.Compare(a, b))
	})
}

// records reads all records through and returns those that are readable.
func (c *checker) records(e entry) map[NodeID]spot {
	nodes := map[NodeID]spot{}
	prefix := kindKey(e.Number, kindRecord)
	err := scan(c.txn, prefix, func(k, v []byte) error {
		id := NodeID(hex.EncodeToString(k[len(prefix):]))
		r, err := decodeRecord(v)
		if err != nil {
			c.found(e.Name, id, KindRecord, "it is garbled: %v", err)
		} else if r.Node.ID != id {
			c.found(e.Name, id, KindRecord, "it is that of %s", r.Node.ID)
		} else {
			nodes[id] = spot{r.Ordinal, r.Node.Seq}
		}
		return nil
	})
	if err != nil {
		c.found(e.Name, "", KindRecord, "%v", err)
	}
	c.listed(e, nodes)
	return nodes
}

// listed adds the nodes that the list has and a scan does not come to: Badger ends one at the first block that it cannot
// read, and what follows can still be got.
func (c *checker) listed(e entry, nodes map[NodeID]spot) {
	_ = scan(c.txn, kindKey(e.Number, kindOrder), func(_, v []byte) error { // order tells of what is wrong with the list
		p, err := parsePlace(v)
		if _, known := nodes[p.id]; err != nil || known {
			return nil
		}
		if r, err := readRecord(c.txn, e, p.id); err == nil && r.Node.ID == p.id {
			nodes[p.id] = spot{r.Ordinal, r.Node.Seq}
		}
		return nil
	})
}

// order checks the list of nodes.
func (c *checker) order(e entry, nodes map[NodeID]spot) {
	listed := map[NodeID]bool{}
	next := uint64(0)
	prefix := kindKey(e.Number, kindOrder)
	err := scan(c.txn, prefix, func(k, v []byte) error {
		p, err := parsePlace(v)
		if len(k) != len(prefix)+8 {
			err = errors.New("its key is no ordinal")
		}
		if err != nil {
			c.found(e.Name, "", KindOrder, "entry %x is garbled: %v", k, err)
			return nil
		}
		ordinal := binary.BigEndian.Uint64(k[len(prefix):])
		if at, ok := nodes[p.id]; !ok {
			c.found(e.Name, p.id, KindRecord, "it is lost; the node was put as number %d", ordinal)
		} else if at.ordinal != ordinal || ordinal != next || listed[p.id] {
			c.found(e.Name, p.id, KindOrder, "it is listed as number %d, after %d others, and its record says %d", ordinal, next, at.ordinal)
		} else if want := c.before(e, nodes, p.id); p.before != want {
			c.found(e.Name, p.id, KindOrder, "it is listed after number %d, and follows %d", int64(p.before)-1, int64(want)-1)
		}
		listed[p.id] = true
		next = ordinal + 1
		return nil
	})
	if err != nil {
		c.found(e.Name, "", KindOrder, "%v", err)
	}
	for _, id := range inOrder(nodes) {
		if !listed[id] {
			c.found(e.Name, id, KindOrder, "it is not listed")
		}
	}
}

// before is what a node's place must say of the node before it.
func (c *checker) before(e entry, nodes map[NodeID]spot, id NodeID) uint64 {
	r, err := readRecord(c.txn, e, id)
	if err != nil || r.Node.Previous == Root(e.Name) {
		return 0
	}
	if p, ok := nodes[r.Node.Previous]; ok {
		return p.ordinal + 1
	}
	return 0
}

// links checks what a node points to.
func (c *checker) links(e entry, nodes map[NodeID]spot, r record) {
	n := r.Node
	if n.Previous == Root(e.Name) {
		if n.Seq != 0 {
			c.found(e.Name, n.ID, KindLink, "it is a first node with seq %d", n.Seq)
		}
	} else if p, ok := nodes[n.Previous]; !ok {
		c.found(e.Name, n.ID, KindLink, "the node before it, %s, is lost", n.Previous)
	} else if p.ordinal >= r.Ordinal || p.seq+1 != n.Seq {
		c.found(e.Name, n.ID, KindLink, "its seq is %d, that of the node before it %d", n.Seq, p.seq)
	}
	for _, p := range n.Parents {
		if at, ok := nodes[p.ID]; !ok {
			c.found(e.Name, n.ID, KindLink, "its parent %s is lost", p.ID)
		} else if at.ordinal >= r.Ordinal {
			c.found(e.Name, n.ID, KindLink, "its parent %s is no earlier node", p.ID)
		}
	}
	for _, f := range n.Fixes {
		if _, ok := nodes[f.By]; !ok {
			c.found(e.Name, n.ID, KindLink, "%s, which fixed %q, is lost", f.By, f.Test)
		}
	}
}

// content checks a node's bodies against their hashes and its id against its step.
func (c *checker) content(e entry, r record) {
	whole := true
	for _, b := range r.Bodies {
		c.Bodies++
		text, err := readBody(c.txn, e.Number, b)
		if err != nil {
			c.found(e.Name, r.Node.ID, KindBody, "%s: %v", b, err)
			whole = false
			continue
		}
		r.set(b, text)
	}
	if !whole {
		return
	}
	if want := Identify(r.Node.Previous, r.Node.Step); want != r.Node.ID {
		c.found(e.Name, r.Node.ID, KindName, "its content is that of %s", want)
	}
}
