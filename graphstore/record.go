package graphstore

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// record is what is stored of a node: the node without its long texts, which are bodies.
type record struct {
	Ordinal uint64 `cbor:"ordinal"` // it was put as the ordinal-th of its session, from 0
	Node    Node   `cbor:"node"`
	Bodies  []body `cbor:"bodies,omitempty"`
}

// body stands for a long text of a step.
type body struct {
	Part  part     `cbor:"part"`
	Index int      `cbor:"index,omitempty"` // of the message or the call
	Sum   [32]byte `cbor:"sum"`             // sha256
	Size  int      `cbor:"size"`            // in bytes

	text []byte // what is to be written; nil in what was read
}

// part says which text of a step a body is. The numbers are stored.
type part uint8

const (
	partBefore part = iota + 1
	partThinking
	partThought
	partArgs
	partObservation
	partRaw
)

func (b body) String() string {
	names := [...]string{"?", "message", "thinking", "thought", "arguments", "observation", "raw bytes"}
	return fmt.Sprintf("%s %d, %d bytes, sha256 %x", names[min(int(b.Part), len(names)-1)], b.Index, b.Size, b.Sum)
}

// maxInline is the size in bytes up to which a text stays in the record.
const maxInline = 256

// maxRecord is how large a packed record may be; Badger moves larger values to its value log. One that
// unpacks to more than maxUnpacked is damaged.
const (
	maxRecord   = 1000 << 10
	maxUnpacked = 256 << 20
)

// fold takes the long texts out of a node. The node that was given is not changed.
func fold(n Node) record {
	n.Step = n.Step.Clone()
	r := record{Node: n}
	take := func(p part, i int, text *string) {
		if len(*text) > maxInline {
			r.Bodies = append(r.Bodies, newBody(p, i, []byte(*text)))
			*text = ""
		}
	}
	step := &r.Node.Step
	for i := range step.Before {
		take(partBefore, i, &step.Before[i].Text)
	}
	take(partThinking, 0, &step.Thinking)
	take(partThought, 0, &step.Thought)
	for i := range step.Calls {
		take(partArgs, i, &step.Calls[i].Args)
		if o := step.Calls[i].Observation; o != nil {
			take(partObservation, i, &o.Text)
		}
	}
	if len(step.Raw) > maxInline {
		r.Bodies = append(r.Bodies, newBody(partRaw, 0, step.Raw))
		step.Raw = nil
	}
	return r
}

func newBody(p part, i int, text []byte) body {
	return body{Part: p, Index: i, Sum: sha256.Sum256(text), Size: len(text), text: text}
}

// unfold puts the texts back that want asks for, nil meaning all.
func (r *record) unfold(load func(body) ([]byte, error), want func(part) bool) error {
	for _, b := range r.Bodies {
		if want != nil && !want(b.Part) {
			continue
		}
		text, err := load(b)
		if err != nil {
			return err
		}
		r.set(b, text)
	}
	return nil
}

func (r *record) set(b body, text []byte) {
	step := &r.Node.Step
	switch b.Part {
	case partBefore:
		step.Before[b.Index].Text = string(text)
	case partThinking:
		step.Thinking = string(text)
	case partThought:
		step.Thought = string(text)
	case partArgs:
		step.Calls[b.Index].Args = string(text)
	case partObservation:
		step.Calls[b.Index].Observation.Text = string(text)
	case partRaw:
		step.Raw = text
	}
}

// check makes sure that every body has a place in the step.
func (r *record) check() error {
	step := r.Node.Step
	for _, b := range r.Bodies {
		ok := b.Index == 0
		switch b.Part {
		case partBefore:
			ok = b.Index >= 0 && b.Index < len(step.Before)
		case partArgs:
			ok = b.Index >= 0 && b.Index < len(step.Calls)
		case partObservation:
			ok = b.Index >= 0 && b.Index < len(step.Calls) && step.Calls[b.Index].Observation != nil
		case partThinking, partThought, partRaw:
		default:
			ok = false
		}
		if !ok || b.Size <= maxInline {
			return fmt.Errorf("body %d[%d] of %d bytes has no place in the step", b.Part, b.Index, b.Size)
		}
	}
	return nil
}

// lengths are the sizes of the observations, one a call, in bytes.
func (r *record) lengths() []int {
	out := make([]int, len(r.Node.Step.Calls))
	for i, c := range r.Node.Step.Calls {
		if c.Observation != nil {
			out[i] = len(c.Observation.Text)
		}
	}
	for _, b := range r.Bodies {
		if b.Part == partObservation {
			out[b.Index] = b.Size
		}
	}
	return out
}

// readRecord reads a node's record, or fails with ErrNotFound.
func readRecord(txn *badger.Txn, e entry, id NodeID) (record, error) {
	var r record
	if rawID(id) == nil {
		return r, fmt.Errorf("session %q: node %q: %w", e.Name, id, ErrNotFound)
	}
	v, err := get(txn, recordKey(e.Number, id))
	if err != nil {
		return r, fmt.Errorf("session %q: node %s: %w", e.Name, id, err)
	}
	if r, err = decodeRecord(v); err != nil {
		return r, fmt.Errorf("session %q: node %s: %w: %w; run check", e.Name, id, ErrDamaged, err)
	}
	return r, nil
}

// A record's value begins with how the rest is packed: long lists of tests pack well.
func encodeRecord(r record) ([]byte, error) {
	data, err := encode(r)
	if err != nil {
		return nil, err
	}
	if len(data) > maxUnpacked {
		return nil, fmt.Errorf("what was found out about it takes %d bytes, more than %d", len(data), maxUnpacked)
	}
	how, data := pack(data)
	if len(data) > maxRecord {
		return nil, fmt.Errorf("what was found out about it packs to %d bytes, more than %d", len(data), maxRecord)
	}
	return append([]byte{how}, data...), nil
}

func decodeRecord(data []byte) (record, error) {
	var r record
	if len(data) == 0 {
		return r, errors.New("record is empty")
	}
	data, err := unpack(data[0], data[1:], maxUnpacked)
	if err != nil {
		return r, err
	}
	if err := decode(data, &r); err != nil {
		return r, err
	}
	return r, r.check()
}

// CBOR keeps strings as the bytes they are, which JSON does not, and needs no more than the struct tags.
// What is equal is encoded equally: no type that is stored has a map.
var (
	encoding = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode())
	decoding = must(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: 1<<31 - 1}.DecMode())
)

// must is for modes made of constants, which cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func encode(v any) ([]byte, error) {
	b, err := encoding.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b, nil
}

func decode(data []byte, v any) error { return decoding.Unmarshal(data, v) }

// write encodes v and puts it under key.
func write(txn *badger.Txn, key []byte, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	return txn.Set(key, b)
}
