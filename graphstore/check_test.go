package graphstore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cayleygraph/quad"
	"github.com/dgraph-io/badger/v4"
	gocmp "github.com/google/go-cmp/cmp"
)

// rot is a way in which a sound session of six nodes may rot.
type rot struct {
	why   string
	harm  func(t *testing.T, txn *badger.Txn, e entry, nodes []Node) error
	finds []Kind // by Check, among others
	left  []Kind // after Repair, and no others
}

var rots = []rot{
	{"a record is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Delete(recordKey(e.Number, n[2].ID))
	}, []Kind{KindRecord, KindLink, KindCatalog, KindGraph}, []Kind{KindLink}},
	{"a record is garbled", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(recordKey(e.Number, n[5].ID), []byte{plain, 0xff, 1})
	}, []Kind{KindRecord, KindCatalog}, []Kind{KindRecord}},
	{"a record says something else", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alter(txn, e, n[3].ID, func(r *record) { r.Node.Step.Thought = "other" })
	}, []Kind{KindName}, []Kind{KindName}},
	{"a record is another's", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		v, err := get(txn, recordKey(e.Number, n[1].ID))
		if err != nil {
			return err
		}
		return txn.Set(recordKey(e.Number, n[5].ID), v)
	}, []Kind{KindRecord}, []Kind{KindRecord}},
	{"a parent is later: a cycle", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alter(txn, e, n[1].ID, func(r *record) { r.Node.Parents = []Parent{{ID: n[4].ID, Candidate: true}} })
	}, []Kind{KindLink, KindGraph}, []Kind{KindLink}},
	{"a parent was never there", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alter(txn, e, n[1].ID, func(r *record) { r.Node.Parents = []Parent{{ID: Root("x"), Candidate: true}} })
	}, []Kind{KindLink, KindGraph}, []Kind{KindLink}},
	{"a fix was never there", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alter(txn, e, n[1].ID, func(r *record) { r.Node.Fixes = []Fix{{By: Root("x")}} })
	}, []Kind{KindLink, KindGraph}, []Kind{KindLink}},
	{"a label in the record alone", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alter(txn, e, n[1].ID, func(r *record) { r.Node.Validation = Failed })
	}, []Kind{KindGraph}, nil},
	{"a body is lost", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Delete(bodyKey(e.Number, bodyOf(t, n[3]), 0))
	}, []Kind{KindBody}, []Kind{KindBody}},
	{"a body is another's", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(bodyKey(e.Number, bodyOf(t, n[3]), 0), chunks([]byte(strings.Repeat("x", 700)))[0])
	}, []Kind{KindBody}, []Kind{KindBody}},
	{"a body is packed wrongly", func(t *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(bodyKey(e.Number, bodyOf(t, n[3]), 0), []byte{packed, 1, 2, 3})
	}, []Kind{KindBody}, []Kind{KindBody}},
	{"a place in the list is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Delete(orderKey(e.Number, 2))
	}, []Kind{KindOrder}, nil},
	{"two places are swapped", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		if err := txn.Set(orderKey(e.Number, 2), orderValue(n[3].ID, 2)); err != nil {
			return err
		}
		return txn.Set(orderKey(e.Number, 3), orderValue(n[2].ID, 3))
	}, []Kind{KindOrder}, nil},
	{"a place is garbled", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(orderKey(e.Number, 2), []byte("x"))
	}, []Kind{KindOrder}, nil},
	{"the key of a place is cut", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(orderKey(e.Number, 2)[:12], orderValue(n[2].ID, 2))
	}, []Kind{KindOrder}, nil},
	{"a place follows another node", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(orderKey(e.Number, 3), orderValue(n[3].ID, 1))
	}, []Kind{KindOrder}, nil},
	{"the catalog counts wrongly", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		e.Nodes, e.Tokens = 2, 1
		return writeEntry(txn, e)
	}, []Kind{KindCatalog}, nil},
	{"the head is nowhere", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		e.Head = Root("x")
		return writeEntry(txn, e)
	}, []Kind{KindCatalog}, nil},
	{"the catalog entry is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Delete(catalogKey(e.Name, kindEntry))
	}, []Kind{KindCatalog}, nil},
	{"the catalog entry is garbled", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(catalogKey(e.Name, kindEntry), []byte("x"))
	}, []Kind{KindCatalog}, nil},
	{"the catalog entry is another's", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		v, err := get(txn, catalogKey("sound", kindEntry))
		if err != nil {
			return err
		}
		return txn.Set(catalogKey(e.Name, kindEntry), v)
	}, []Kind{KindCatalog}, nil},
	{"a description is of nobody", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return write(txn, catalogKey("nobody", kindInfo), SessionInfo{Title: "t"})
	}, []Kind{KindCatalog}, nil},
	{"the description is garbled", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(catalogKey(e.Name, kindInfo), []byte("x"))
	}, []Kind{KindCatalog}, nil},
	{"a quad is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alterQuads(txn, e, change{del: edges(sessionIRI(e.Name), record{Node: n[3]})})
	}, []Kind{KindGraph}, nil},
	{"a quad is too many", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alterQuads(txn, e, change{add: []quad.Quad{{Subject: nodeIRI(n[5].ID), Predicate: iriDependsOn, Object: nodeIRI(n[0].ID), Label: sessionIRI(e.Name)}}})
	}, []Kind{KindGraph}, nil},
	{"a quad of nobody", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alterQuads(txn, e, change{add: []quad.Quad{{Subject: quad.IRI("x:y"), Predicate: iriStatus, Object: quad.String("z")}}})
	}, []Kind{KindGraph}, nil},
	{"the name of a file is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return alterQuads(txn, e, change{del: []quad.Quad{fileName(sessionIRI(e.Name), n[0].Files[0])}})
	}, []Kind{KindGraph}, nil},
	{"edges are in another order", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		first := edges(sessionIRI(e.Name), record{Node: n[5]})[:1]
		return alterQuads(txn, e, change{del: first, add: first})
	}, []Kind{KindGraph}, nil},
	{"the list of indexes is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Delete(slices.Concat(graphKey(e.Number, e.Graph), keyIndexes))
	}, []Kind{KindGraph}, nil},
	{"the graph is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return deleteSome(txn, graphKey(e.Number, e.Graph), 1)
	}, []Kind{KindGraph}, nil},
	{"every third key of the graph is lost", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return deleteSome(txn, graphKey(e.Number, e.Graph), 3)
	}, []Kind{KindGraph}, nil},
	{"an opinion is garbled", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(append(namedKey(e.Number, kindOpinion, "m"), rawID(n[3].ID)...), []byte{plain, 0xff})
	}, []Kind{KindOpinion}, nil},
	{"an opinion is another's", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		v, err := get(txn, append(namedKey(e.Number, kindOpinion, "m"), rawID(n[3].ID)...))
		if err != nil {
			return err
		}
		return txn.Set(append(namedKey(e.Number, kindOpinion, "other"), rawID(n[3].ID)...), v)
	}, []Kind{KindOpinion}, nil},
	{"an opinion is of nobody", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		v, err := encode(Opinion{Node: Root("x"), By: "m"})
		if err != nil {
			return err
		}
		return txn.Set(append(namedKey(e.Number, kindOpinion, "m"), rawID(Root("x"))...), append([]byte{plain}, v...))
	}, []Kind{KindOpinion}, nil},
	{"an opinion's parent is later", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		v, err := encode(Opinion{Node: n[3].ID, By: "m", Parents: []Parent{{ID: n[4].ID}}})
		if err != nil {
			return err
		}
		return txn.Set(append(namedKey(e.Number, kindOpinion, "m"), rawID(n[3].ID)...), append([]byte{plain}, v...))
	}, []Kind{KindOpinion}, nil},
	{"the name of an opinion is cut", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(append(kindKey(e.Number, kindOpinion), 40, 'm'), nil)
	}, []Kind{KindOpinion}, nil},
	{"a vector is cut", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(append(namedKey(e.Number, kindVector, "d"), rawID(n[3].ID)...), []byte{0, 0, 0})
	}, []Kind{KindOpinion}, nil},
	{"a vector has what is no number", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		return txn.Set(append(namedKey(e.Number, kindVector, "d"), rawID(n[3].ID)...), []byte{0x7f, 0xc0, 0, 0})
	}, []Kind{KindOpinion}, nil},
	{"a deletion was not finished", func(_ *testing.T, txn *badger.Txn, e entry, n []Node) error {
		if err := txn.Set(doomedKey(e.Number), nil); err != nil {
			return err
		}
		return txn.Delete(catalogKey(e.Name, kindEntry))
	}, []Kind{KindDeleted}, nil},
}

// Check finds each way to rot, and Repair cures what can be cured and says what is left. A sound session
// beside it is left alone.
func TestCheckAndRepair(t *testing.T) {
	ctx := context.Background()
	for _, r := range rots {
		t.Run(r.why, func(t *testing.T) {
			s, err := Open("", &Options{InMemory: true}) // not sound at the end, so without open
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			nodes := chain("s", 6)
			nodes[5].Parents = append(nodes[5].Parents, Parent{ID: nodes[1].ID, Candidate: true}, Parent{ID: nodes[2].ID})
			put(t, s, "s", nodes...)
			sound := chain("sound", 6)
			put(t, s, "sound", sound...)
			if err := s.Describe(ctx, SessionInfo{Name: "s", Title: "t"}); err != nil {
				t.Fatal(err)
			}
			o := Opinion{Node: nodes[3].ID, By: "m", Origin: Origin{Digest: "d"}, Parents: []Parent{{ID: nodes[1].ID}}, Vector: []float32{1, 2}}
			if err := s.Opine(ctx, "s", o); err != nil {
				t.Fatal(err)
			}
			check(t, s)
			err = s.db.Update(func(txn *badger.Txn) error {
				e, err := readEntry(txn, "s")
				if err != nil {
					return err
				}
				return r.harm(t, txn, e, nodes)
			})
			if err != nil {
				t.Fatal(err)
			}
			report, err := s.Check(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range r.finds {
				if !slices.ContainsFunc(report.Problems, func(p Problem) bool { return p.Kind == k }) {
					t.Errorf("Check finds nothing wrong with the %s: %v", k, report.Problems)
				}
			}
			for _, p := range report.Problems {
				if text := p.String(); strings.Contains(text, "nil>") || strings.Contains(text, "%!") || strings.Contains(text, "\n") {
					t.Errorf("it does not say what is wrong: %s", text)
				}
			}
			report, err = s.Repair(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range report.Problems {
				if !slices.Contains(r.left, p.Kind) || p.Kind.Mendable() {
					t.Errorf("not repaired: %s", p)
				}
			}
			if len(r.left) > 0 != (len(report.Problems) > 0) {
				t.Errorf("left are %v, want of kinds %v", report.Problems, r.left)
			}
			if d := gocmp.Diff(sound, all(t, s, "sound")); d != "" {
				t.Error(d)
			}
			if r.left == nil && !slices.Contains(r.finds, KindDeleted) && r.why != "a label in the record alone" {
				if d := gocmp.Diff(nodes, all(t, s, "s")); d != "" {
					t.Error(d)
				}
				if info, err := s.Info(ctx, "s"); err != nil || info.Title != "t" && r.why != "the description is garbled" {
					t.Errorf("it is described as %+v, %v", info, err)
				}
				more := chain("s", 7) // and it goes on
				put(t, s, "s", more[6])
				if _, err := s.Path(ctx, "s", more[6].ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func alter(txn *badger.Txn, e entry, id NodeID, fn func(*record)) error {
	r, err := readRecord(txn, e, id)
	if err != nil {
		return err
	}
	fn(&r)
	data, err := encodeRecord(r)
	if err != nil {
		return err
	}
	return txn.Set(recordKey(e.Number, id), data)
}

func alterQuads(txn *badger.Txn, e entry, c change) error {
	g, err := openQuadsToWrite(txn, e)
	if err != nil {
		return err
	}
	return g.apply(c)
}

func deleteSome(txn *badger.Txn, prefix []byte, every int) error {
	var keys [][]byte
	err := scan(txn, prefix, func(k, _ []byte) error {
		keys = append(keys, slices.Clone(k))
		return nil
	})
	for i, k := range keys {
		if i%every == 0 && err == nil {
			err = txn.Delete(k)
		}
	}
	return err
}

// bodyOf is the name of a node's first body.
func bodyOf(t *testing.T, n Node) [32]byte {
	t.Helper()
	bodies := fold(n).Bodies
	if len(bodies) == 0 {
		t.Fatal("the node has no body")
	}
	return bodies[0].Sum
}
