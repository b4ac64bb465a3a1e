package graphstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/cayley/graph/iterator"
	ckv "github.com/cayleygraph/cayley/graph/kv"
	"github.com/cayleygraph/cayley/graph/proto"
	"github.com/cayleygraph/quad"
	"github.com/dgraph-io/badger/v4"
	"github.com/hidal-go/hidalgo/kv"
	"github.com/hidal-go/hidalgo/kv/flat"

	"github.com/ctxweaver/ctxweaver/graphstore/internal/badgerkv"
)

// The indexes of every graph. Cayley would take legacy ones if it found none.
var (
	bySubject = ckv.QuadIndex{Dirs: []quad.Direction{quad.Subject, quad.Predicate}}
	byObject  = ckv.QuadIndex{Dirs: []quad.Direction{quad.Object, quad.Predicate, quad.Subject}}
	indexList = must(json.Marshal([]ckv.QuadIndex{bySubject, byObject}))
)

// The bloom filter would take seconds and a gigabyte.
var noBloom = graph.Options{ckv.OptNoBloom: true}

var (
	keyVersion = flat.KeyEscape(kv.SKey("meta", "version"))
	keyIndexes = flat.KeyEscape(kv.SKey("meta", "indexes"))
)

const cayleyVersion = 2

// quads is a session's Cayley graph inside one transaction, and lives no longer. Cayley caches the numbers
// of names in its handle; after an error, beside a second handle, or when a reader meets a deletion, the
// cache is wrong, and the next write stores quads under wrong names. A handle that nobody else has and
// that ends with its transaction cannot be wrong, and making one costs two reads.
type quads struct{ qs *ckv.QuadStore }

// openQuads opens the graph of a session for reading. It is ErrNotFound if there is none yet.
func openQuads(txn *badger.Txn, e entry) (quads, error) {
	qs, err := ckv.New(flat.Upgrade(badgerkv.Bind(txn, graphKey(e.Number, e.Graph), false)), noBloom)
	if errors.Is(err, graph.ErrNotInitialized) {
		return quads{}, fmt.Errorf("graph: %w", ErrNotFound)
	} else if err != nil {
		return quads{}, fmt.Errorf("%w: open graph: %w; run repair", ErrDamaged, err)
	}
	return quads{qs.(*ckv.QuadStore)}, nil
}

// openQuadsToWrite makes the graph if there is none yet.
func openQuadsToWrite(txn *badger.Txn, e entry) (quads, error) {
	prefix := graphKey(e.Number, e.Graph)
	list, err := get(txn, slices.Concat(prefix, keyIndexes))
	if errors.Is(err, ErrNotFound) {
		_, err = get(txn, slices.Concat(prefix, keyVersion))
		if err == nil {
			return quads{}, fmt.Errorf("%w: the graph has lost its list of indexes; run repair", ErrDamaged)
		} else if errors.Is(err, ErrNotFound) {
			err = initQuads(txn, prefix)
		}
	} else if err == nil && !bytes.Equal(list, indexList) {
		return quads{}, fmt.Errorf("%w: the graph has other indexes: %.100q; run repair", ErrDamaged, list)
	}
	if err != nil {
		return quads{}, err
	}
	qs, err := ckv.New(flat.Upgrade(badgerkv.Bind(txn, prefix, true)), noBloom)
	if err != nil {
		return quads{}, fmt.Errorf("%w: open graph: %w; run repair", ErrDamaged, err)
	}
	return quads{qs.(*ckv.QuadStore)}, nil
}

// initQuads writes what Cayley's own Init would, which takes the indexes from the environment.
func initQuads(txn *badger.Txn, prefix []byte) error {
	if err := txn.Set(slices.Concat(prefix, keyIndexes), indexList); err != nil {
		return err
	}
	return txn.Set(slices.Concat(prefix, keyVersion), binary.LittleEndian.AppendUint64(nil, cayleyVersion))
}

// apply deletes quads, then adds quads. The deleted must be there and the added must not.
func (g quads) apply(c change) error {
	for _, step := range []struct {
		action graph.Procedure
		quads  []quad.Quad
	}{{graph.Delete, c.del}, {graph.Add, c.add}} {
		if len(step.quads) == 0 {
			continue
		}
		deltas := make([]graph.Delta, len(step.quads))
		for i, q := range step.quads {
			deltas[i] = graph.Delta{Quad: q, Action: step.action}
		}
		if err := g.qs.ApplyDeltas(deltas, graph.IgnoreOpts{}); err != nil {
			if graph.IsQuadExist(err) || graph.IsQuadNotExist(err) {
				return fmt.Errorf("%w: graph and records differ: %w; run repair", ErrDamaged, err)
			}
			return fmt.Errorf("write quads: %w", err)
		}
	}
	return nil
}

// refs are the numbers of values, 0 for those that the graph does not know.
func (g quads) refs(ctx context.Context, values []quad.Value) ([]uint64, error) {
	found, err := g.qs.RefsOf(ctx, values)
	if err != nil {
		return nil, err
	}
	out := make([]uint64, len(found))
	for i, r := range found {
		out[i] = uint64(r.(ckv.Int64Value))
	}
	return out, nil
}

// ref is the number of one value.
func (g quads) ref(ctx context.Context, v quad.Value) (uint64, error) {
	refs, err := g.refs(ctx, []quad.Value{v})
	if err != nil {
		return 0, err
	}
	return refs[0], nil
}

// values are the names of numbers.
func (g quads) values(ctx context.Context, refs []uint64) ([]quad.Value, error) {
	in := make([]graph.Ref, len(refs))
	for i, r := range refs {
		in[i] = ckv.Int64Value(r)
	}
	return g.qs.ValuesOf(ctx, in)
}

// unnamed are the name quads of those files that the graph does not know yet.
func (g quads) unnamed(ctx context.Context, session quad.IRI, files []string) ([]quad.Quad, error) {
	var out []quad.Quad
	for _, f := range files {
		q := fileName(session, f)
		known, err := g.ref(ctx, q.Subject)
		if err != nil {
			return nil, err
		}
		if known == 0 {
			out = append(out, q)
		}
	}
	return out, nil
}

// match calls fn with the living quads of an index that begin with vals, in the order of their making
// under one key.
func (g quads) match(ctx context.Context, index ckv.QuadIndex, vals []uint64, fn func(*proto.Primitive) error) (err error) {
	for _, v := range vals {
		if v == 0 {
			return nil // a value that the graph does not know is in no quad
		}
	}
	it := ckv.IndexScan{Index: index, Values: vals}.BuildIterator(g.qs).Iterate()
	defer func() { err = errors.Join(err, it.Close()) }()
	return drain(ctx, it, fn)
}

func drain(ctx context.Context, it iterator.Scanner, fn func(*proto.Primitive) error) error {
	for it.Next(ctx) {
		p, ok := it.Result().(*proto.Primitive)
		if !ok {
			return fmt.Errorf("%w: an index holds what is no quad; run repair", ErrDamaged)
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	return errors.Join(it.Err(), ctx.Err())
}
