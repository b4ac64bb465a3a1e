package graphstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cayleygraph/cayley/graph/proto"
	"github.com/cayleygraph/quad"
	"github.com/hidal-go/hidalgo/kv/flat"
)

// graphChecker compares a session's quads with its records.
type graphChecker struct {
	*checker
	e     entry
	g     quads
	names map[uint64]quad.Value // of predicates, statuses and the like, which come again and again
	files map[string]bool       // whose name quads were looked for
	count int                   // of the quads that records account for
}

// openGraph returns nil where there is no graph to check.
func (c *checker) openGraph(e entry, nodes int) (*graphChecker, error) {
	g, err := openQuads(c.txn, e)
	switch {
	case errors.Is(err, ErrNotFound) && nodes == 0:
		return nil, nil
	case errors.Is(err, ErrNotFound) || errors.Is(err, ErrDamaged):
		c.found(e.Name, "", KindGraph, "%v", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	prefix := graphKey(e.Number, e.Graph)
	if list, err := get(c.txn, slices.Concat(prefix, keyIndexes)); err != nil || string(list) != string(indexList) {
		c.found(e.Name, "", KindGraph, "its list of indexes is %.100q", list)
		return nil, nil
	}
	return &graphChecker{checker: c, e: e, g: g, names: map[uint64]quad.Value{}, files: map[string]bool{}}, nil
}

func (c *graphChecker) wrong(id NodeID, format string, args ...any) {
	c.found(c.e.Name, id, KindGraph, format, args...)
}

// node compares a node's quads with its record.
func (c *graphChecker) node(ctx context.Context, r record) error {
	label, id := sessionIRI(c.e.Name), r.Node.ID
	have, err := c.about(ctx, id, nodeIRI(id))
	if err != nil {
		return err
	}
	c.count += len(have)
	c.Quads += len(have)
	wantEdges := edges(label, r)
	for _, q := range subtract(append(facts(label, r), wantEdges...), have) {
		c.wrong(id, "it has no quad %v", q)
	}
	for _, q := range subtract(have, append(facts(label, r), wantEdges...)) {
		c.wrong(id, "its record does not account for quad %v", q)
	}
	haveEdges := slices.DeleteFunc(have, func(q quad.Quad) bool {
		return q.Predicate != iriDependsOn && q.Predicate != iriRefersTo
	})
	if len(haveEdges) == len(wantEdges) && !slices.Equal(haveEdges, wantEdges) {
		c.wrong(id, "its edges are in another order")
	}
	for _, file := range r.Node.listed() {
		if c.files[file] {
			continue
		}
		c.files[file] = true
		q := fileName(label, file)
		have, err := c.about(ctx, id, q.Subject)
		if err != nil {
			return err
		}
		if !slices.Contains(have, q) {
			c.wrong(id, "it touches a file without a quad %v", q)
		}
	}
	return nil
}

// about returns the quads with a subject, in the order of their making. Each must be found by its object too.
func (c *graphChecker) about(ctx context.Context, id NodeID, subject quad.Value) ([]quad.Quad, error) {
	ref, err := c.g.ref(ctx, subject)
	if err != nil {
		c.wrong(id, "%v", err)
		return nil, nil
	}
	var found []*proto.Primitive
	err = c.g.match(ctx, bySubject, []uint64{ref}, func(p *proto.Primitive) error {
		found = append(found, p)
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		c.wrong(id, "%v", err)
	}
	slices.SortFunc(found, func(a, b *proto.Primitive) int { return cmp.Compare(a.ID, b.ID) })
	out := make([]quad.Quad, 0, len(found))
	for _, p := range found {
		q, err := c.resolve(ctx, p)
		if err != nil {
			c.wrong(id, "quad %d: %v", p.ID, err)
			continue
		}
		if q.Subject = subject; p.Subject != ref {
			c.wrong(id, "quad %d is listed under it and is of another", p.ID)
		}
		if !c.indexed(p) {
			c.wrong(id, "quad %v is not found by its object", q)
		}
		out = append(out, q)
	}
	return out, nil
}

// resolve names what a quad says, but for its subject.
func (c *graphChecker) resolve(ctx context.Context, p *proto.Primitive) (quad.Quad, error) {
	refs := []uint64{p.Predicate, p.Object, p.Label}
	values := make([]quad.Value, len(refs))
	var missing []uint64
	for i, r := range refs {
		if values[i] = c.names[r]; values[i] == nil {
			missing = append(missing, r)
		}
	}
	if len(missing) > 0 {
		named, err := c.g.values(ctx, missing)
		if err != nil {
			return quad.Quad{}, err
		}
		if len(c.names) > 1<<16 {
			clear(c.names)
		}
		for i, r := range missing {
			if named[i] == nil {
				return quad.Quad{}, errors.New("a value has no name")
			}
			c.names[r] = named[i]
		}
		return c.resolve(ctx, p)
	}
	return quad.Quad{Predicate: values[0], Object: values[1], Label: values[2]}, nil
}

// indexed reports whether the index by object lists the quad.
func (c *graphChecker) indexed(p *proto.Primitive) bool {
	key := flat.KeyEscape(byObject.KeyFor(p))
	list, err := get(c.txn, slices.Concat(graphKey(c.e.Number, c.e.Graph), key))
	if err != nil {
		return false
	}
	for len(list) > 0 {
		id, n := binary.Uvarint(list)
		if n <= 0 {
			return false
		}
		if id == p.ID {
			return true
		}
		list = list[n:]
	}
	return false
}

// rest counts all quads, for those of nodes that have no record. File names may be of files that no
// record has any more.
func (c *graphChecker) rest(ctx context.Context) error {
	name, err := c.g.ref(ctx, iriName)
	if err != nil {
		return err
	}
	total, living := 0, 0
	it := c.g.qs.QuadsAllIterator().Iterate()
	err = errors.Join(drain(ctx, it, func(p *proto.Primitive) error {
		total++
		if p.Predicate != name {
			living++
		}
		return nil
	}), it.Close())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.wrong("", "%v", err)
	}
	if living != c.count || c.g.qs.Size() != int64(total) {
		c.wrong("", "it has %d quads, counts %d, and the records account for %d", living, c.g.qs.Size()-int64(total-living), c.count)
	}
	return nil
}
