package graphstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Opinion is what a controller said of a node, kept beside it: one of each controller, the newest. The node
// has of it what was adopted.
type Opinion struct {
	Node   NodeID `json:"node"`
	By     string `json:"by"` // who says so: "rules", "smollm2:135m/chat"; 1 to 255 bytes
	Origin Origin `json:"origin,omitzero"`

	Parents           []Parent `json:"parents,omitempty"`
	Summary           string   `json:"summary,omitempty"`
	DependencySummary string   `json:"dependency_summary,omitempty"`
	// Err is why there is no answer, or what of it was refused; "" if it is sound.
	Err string `json:"error,omitempty"`

	// Vector is the node's embedding. It is kept under Origin.Digest, whoever used the model, and is not
	// read back with the opinion: see Vectors.
	Vector []float32 `json:"-"`
}

// Origin says what it took a model to answer. The zero value is of rules.
type Origin struct {
	Model  string        `json:"model,omitempty"`
	Digest string        `json:"digest,omitempty"` // of its weights; at most 255 bytes
	Prompt string        `json:"prompt,omitempty"` // hash of what it was told, without the question
	Calls  int           `json:"calls,omitempty"`  // of its server
	In     int           `json:"in,omitempty"`     // tokens read
	Out    int           `json:"out,omitempty"`    // tokens written
	Took   time.Duration `json:"took_ns,omitempty" cbor:"took,omitempty"`
}

// What is kept of one opinion is bounded, for a model may say anything.
const (
	maxOpinion = 64 << 10 // bytes, packed as stored
	maxVector  = 16 << 10 // numbers
)

// Opine keeps opinions in one transaction, at most 500 of them. One that the same controller had of the node
// is replaced. The node and the parents must be stored, and the parents earlier.
func (s *Store) Opine(ctx context.Context, session string, opinions ...Opinion) error {
	if len(opinions) > maxNodes {
		return fmt.Errorf("session %q: %d opinions at once, at most %d", session, len(opinions), maxNodes)
	}
	return s.change(ctx, session, false, func(txn *badger.Txn, e *entry) error {
		for _, o := range opinions {
			if err := writeOpinion(txn, *e, o); err != nil {
				return fmt.Errorf("session %q: opinion of %s on %s: %w", session, o.By, o.Node, err)
			}
		}
		return nil
	})
}

// Adopt keeps an opinion and what a node became by it, both or neither. The node is put as by Put, but must
// be stored already: the head never moves.
func (s *Store) Adopt(ctx context.Context, session string, node Node, o Opinion) error {
	if o.Node != node.ID {
		return fmt.Errorf("session %q: an opinion on %s is none on %s", session, o.Node, node.ID)
	}
	return s.change(ctx, session, false, func(txn *badger.Txn, e *entry) error {
		if _, err := readRecord(txn, *e, node.ID); err != nil {
			return err
		}
		items, err := planNodes(txn, *e, []Node{node})
		if err == nil {
			_, err = writeItems(ctx, txn, e, items)
		}
		if err == nil {
			err = writeOpinion(txn, *e, o)
		}
		if err != nil {
			return fmt.Errorf("session %q: adopt the opinion of %s on %s: %w", session, o.By, o.Node, err)
		}
		return nil
	})
}

// Opinions gives all opinions of one controller in a session, by node.
func (s *Store) Opinions(ctx context.Context, session, by string) (map[NodeID]Opinion, error) {
	out := map[NodeID]Opinion{}
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		prefix := namedKey(e.Number, kindOpinion, by)
		return scan(txn, prefix, func(k, v []byte) error {
			o, err := parseOpinion(k[len(prefix):], by, v)
			if err != nil {
				return fmt.Errorf("session %q: %w: %w; run repair", session, ErrDamaged, err)
			}
			out[o.Node] = o
			return ctx.Err()
		})
	})
	return out, err
}

// OpinionsOn gives the opinions of all controllers on one node, by their names.
func (s *Store) OpinionsOn(ctx context.Context, session string, id NodeID) ([]Opinion, error) {
	var out []Opinion
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		for _, by := range namesUnder(txn, e.Number, kindOpinion) {
			v, err := get(txn, append(namedKey(e.Number, kindOpinion, by), rawID(id)...))
			if errors.Is(err, ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			o, err := parseOpinion(rawID(id), by, v)
			if err != nil {
				return fmt.Errorf("session %q: %w: %w; run repair", session, ErrDamaged, err)
			}
			out = append(out, o)
		}
		return nil
	})
	return out, err
}

// Opiners lists the controllers that have said something in a session, by their names.
func (s *Store) Opiners(ctx context.Context, session string) ([]string, error) {
	var out []string
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		out = namesUnder(txn, e.Number, kindOpinion)
		return nil
	})
	return out, err
}

// Vectors gives the embeddings that a model, known by its digest, made of nodes: of those that have one.
func (s *Store) Vectors(ctx context.Context, session, digest string, ids ...NodeID) (map[NodeID][]float32, error) {
	out := map[NodeID][]float32{}
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		prefix := namedKey(e.Number, kindVector, digest)
		for _, id := range ids {
			v, err := get(txn, append(prefix[:len(prefix):len(prefix)], rawID(id)...))
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err == nil {
				out[id], err = parseVector(v)
			}
			if err != nil {
				return fmt.Errorf("session %q: %w: vector of %s: %w; run repair", session, ErrDamaged, id, err)
			}
		}
		return nil
	})
	return out, err
}

func writeOpinion(txn *badger.Txn, e entry, o Opinion) error {
	if o.By == "" || len(o.By) > maxNamed || len(o.Origin.Digest) > maxNamed {
		return fmt.Errorf("want a controller's name of 1 to %d bytes and a digest of at most %d", maxNamed, maxNamed)
	}
	at, err := readRecord(txn, e, o.Node)
	if err != nil {
		return err
	}
	for _, p := range o.Parents {
		r, err := readRecord(txn, e, p.ID)
		if err != nil {
			return fmt.Errorf("parent: %w", err)
		}
		if r.Ordinal >= at.Ordinal {
			return fmt.Errorf("parent %s is no earlier node", p.ID)
		}
	}
	data, err := encode(o)
	if err != nil {
		return err
	}
	how, data := pack(data)
	if len(data) > maxOpinion {
		return fmt.Errorf("it packs to %d bytes, more than %d", len(data), maxOpinion)
	}
	key := append(namedKey(e.Number, kindOpinion, o.By), rawID(o.Node)...)
	if err := txn.Set(key, append([]byte{how}, data...)); err != nil {
		return err
	}
	if len(o.Vector) == 0 || o.Origin.Digest == "" {
		return nil
	}
	return writeVector(txn, e, o)
}

func writeVector(txn *badger.Txn, e entry, o Opinion) error {
	if len(o.Vector) > maxVector {
		return fmt.Errorf("its vector has %d numbers, more than %d", len(o.Vector), maxVector)
	}
	data := make([]byte, 0, 4*len(o.Vector))
	for _, x := range o.Vector {
		data = binary.BigEndian.AppendUint32(data, math.Float32bits(x))
	}
	if _, err := parseVector(data); err != nil {
		return err
	}
	return txn.Set(append(namedKey(e.Number, kindVector, o.Origin.Digest), rawID(o.Node)...), data)
}

// parseOpinion reads an opinion, and makes sure that it is the one its key names.
func parseOpinion(rest []byte, by string, v []byte) (Opinion, error) {
	var o Opinion
	if len(rest) != rawIDSize || len(v) == 0 {
		return o, fmt.Errorf("an opinion of %q is garbled", by)
	}
	data, err := unpack(v[0], v[1:], maxUnpacked)
	if err == nil {
		err = decode(data, &o)
	}
	if err != nil {
		return o, fmt.Errorf("the opinion of %q on %s: %w", by, id(rest), err)
	}
	if o.Node != id(rest) || o.By != by {
		return o, fmt.Errorf("the opinion of %q on %s is that of %q on %s", by, id(rest), o.By, o.Node)
	}
	return o, nil
}

func parseVector(v []byte) ([]float32, error) {
	if len(v) == 0 || len(v)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no list of numbers", len(v))
	}
	out := make([]float32, 0, len(v)/4)
	for b := range slices.Chunk(v, 4) {
		x := math.Float32frombits(binary.BigEndian.Uint32(b))
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, errors.New("it has what is no number")
		}
		out = append(out, x)
	}
	return out, nil
}

// namesUnder lists the names of controllers or models that keys of a kind begin with, by jumping from one to
// the next.
func namesUnder(txn *badger.Txn, number uint64, kind byte) []string {
	var out []string
	prefix := kindKey(number, kind)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		name, ok := nameIn(it.Item().Key()[len(prefix):])
		if !ok {
			it.Next() // Check names it
			continue
		}
		out = append(out, name)
		past := namedKey(number, kind, name)
		for range rawIDSize + 1 {
			past = append(past, 0xff)
		}
		it.Seek(past)
	}
	slices.Sort(out)
	return out
}

// nameIn is the name in what follows the kind in a key.
func nameIn(rest []byte) (string, bool) {
	if len(rest) == 0 || len(rest) != 1+int(rest[0])+rawIDSize {
		return "", false
	}
	return string(rest[1 : 1+rest[0]]), true
}

// opinions checks what controllers said: it is of nodes that are there, and its parents are earlier ones.
func (c *checker) opinions(e entry, nodes map[NodeID]spot) {
	err := badOpinions(c.txn, e, nodes, func(_ []byte, id NodeID, err error) {
		c.found(e.Name, id, KindOpinion, "%v", err)
	})
	if err != nil {
		c.found(e.Name, "", KindOpinion, "%v", err)
	}
}

// badOpinions calls found with every key of an opinion or a vector that cannot stand.
func badOpinions(txn *badger.Txn, e entry, nodes map[NodeID]spot, found func(key []byte, node NodeID, err error)) error {
	for _, kind := range []byte{kindOpinion, kindVector} {
		prefix := kindKey(e.Number, kind)
		err := scan(txn, prefix, func(k, v []byte) error {
			name, ok := nameIn(k[len(prefix):])
			if !ok {
				found(slices.Clone(k), "", fmt.Errorf("key %x is garbled", k))
				return nil
			}
			rest := k[len(k)-rawIDSize:]
			var err error
			if kind == kindVector {
				_, err = parseVector(v)
			} else {
				var o Opinion
				if o, err = parseOpinion(rest, name, v); err == nil {
					err = o.stands(nodes)
				}
			}
			if _, there := nodes[id(rest)]; err == nil && !there {
				err = errors.New("its node is lost")
			}
			if err != nil {
				found(slices.Clone(k), id(rest), fmt.Errorf("of %s: %w", name, err))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stands makes sure that the parents are there, and earlier.
func (o Opinion) stands(nodes map[NodeID]spot) error {
	at := nodes[o.Node]
	for _, p := range o.Parents {
		if parent, ok := nodes[p.ID]; !ok {
			return fmt.Errorf("its parent %s is lost", p.ID)
		} else if parent.ordinal >= at.ordinal {
			return fmt.Errorf("its parent %s is no earlier node", p.ID)
		}
	}
	return nil
}

// dropOpinions takes away what cannot stand of what controllers said.
func (s *Store) dropOpinions(e entry, nodes map[NodeID]spot) error {
	var bad [][]byte
	err := s.db.View(func(txn *badger.Txn) error {
		return badOpinions(txn, e, nodes, func(key []byte, _ NodeID, _ error) { bad = append(bad, key) })
	})
	if err != nil || len(bad) == 0 {
		return err
	}
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, key := range bad {
		if err := batch.Delete(key); err != nil {
			return err
		}
	}
	return batch.Flush()
}
