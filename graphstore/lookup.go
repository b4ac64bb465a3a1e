package graphstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cayleygraph/cayley/graph/proto"
	"github.com/cayleygraph/quad"
	"github.com/dgraph-io/badger/v4"
)

// Labelled returns the nodes of a session with one of the labels, in no order worth relying on.
func (s *Store) Labelled(ctx context.Context, session string, labels ...Validation) ([]NodeID, error) {
	var out []NodeID
	err := s.viewQuads(ctx, session, func(g quads) error {
		for _, v := range labels {
			subjects, err := g.subjects(ctx, iriStatus, statusIRI(v))
			if err != nil {
				return err
			}
			out = append(out, nodesOf(subjects)...)
		}
		return nil
	})
	return out, err
}

// Touch is a node and one of the files that it touches.
type Touch struct {
	ID   NodeID
	File string
}

// Touching returns the nodes of a session that touch a file, which is named by its path or by the last
// elements of it, in no order worth relying on. Files are found by their last element, so that the
// session's length does not matter.
func (s *Store) Touching(ctx context.Context, session, file string) ([]Touch, error) {
	var out []Touch
	err := s.viewQuads(ctx, session, func(g quads) error {
		files, err := g.subjects(ctx, iriName, text(baseName(file)))
		if err != nil {
			return err
		}
		for _, f := range files {
			path, ok := fileOf(f)
			if !ok || !endsIn(path, file) {
				continue
			}
			nodes, err := g.subjects(ctx, iriTouches, f)
			if err != nil {
				return err
			}
			for _, id := range nodesOf(nodes) {
				out = append(out, Touch{id, path})
			}
		}
		return nil
	})
	return out, err
}

// endsIn reports whether the last elements of path are those of file.
func endsIn(path, file string) bool {
	path, file = strings.ReplaceAll(path, `\`, "/"), strings.ReplaceAll(file, `\`, "/")
	rest, ok := strings.CutSuffix(path, file)
	return ok && (rest == "" || strings.HasSuffix(rest, "/") || strings.HasPrefix(file, "/"))
}

// viewQuads runs fn over the graph of a session, or not at all if it has none yet.
func (s *Store) viewQuads(ctx context.Context, session string, fn func(quads) error) error {
	return s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		g, err := openQuads(txn, e)
		if errors.Is(err, ErrNotFound) && e.Nodes == 0 {
			return nil
		} else if errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("%w: its graph is lost; run repair", ErrDamaged)
		}
		if err == nil {
			err = fn(g)
		}
		if err != nil {
			return fmt.Errorf("session %q: %w", session, err)
		}
		return nil
	})
}

// subjects are the subjects of the quads with a predicate and an object.
func (g quads) subjects(ctx context.Context, predicate quad.IRI, object quad.Value) ([]quad.Value, error) {
	p, err := g.ref(ctx, predicate)
	if err != nil {
		return nil, err
	}
	o, err := g.ref(ctx, object)
	if err != nil {
		return nil, err
	}
	var refs []uint64
	err = g.match(ctx, byObject, []uint64{o, p}, func(q *proto.Primitive) error {
		refs = append(refs, q.Subject)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return g.values(ctx, refs)
}

func nodesOf(values []quad.Value) []NodeID {
	out := make([]NodeID, 0, len(values))
	for _, v := range values {
		if id := nodeOf(v); id != "" {
			out = append(out, id)
		}
	}
	return out
}
