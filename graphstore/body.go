package graphstore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// A body is stored in pieces, because Badger moves values of a megabyte and more to its value log, whose
// space does not come back. The first piece begins with how the text is packed and how many pieces there
// are.
const (
	maxChunk    = 500 << 10
	minPackable = 1 << 10 // shorter data is not worth packing

	plain  = 0
	packed = 1 // zstd
)

var (
	packer   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(4<<30)))
)

// pack compresses data if that is worth it.
func pack(data []byte) (how byte, out []byte) {
	if len(data) >= minPackable {
		if p := packer.EncodeAll(data, nil); len(p) < len(data)*9/10 {
			return packed, p
		}
	}
	return plain, data
}

// unpack undoes pack. What claims to unpack to more than limit bytes is refused.
func unpack(how byte, data []byte, limit int) ([]byte, error) {
	switch how {
	case plain:
		return data, nil
	case packed:
		var h zstd.Header
		if err := h.Decode(data); err != nil {
			return nil, err
		}
		if !h.HasFCS || h.FrameContentSize > uint64(limit) {
			return nil, fmt.Errorf("unpacks to more than %d bytes", limit)
		}
		return unpacker.DecodeAll(data, make([]byte, 0, h.FrameContentSize))
	}
	return nil, fmt.Errorf("packed in a way (%d) that is not known", how)
}

// chunks are the values under which a text is stored.
func chunks(text []byte) [][]byte {
	how, data := pack(text)
	n := max(1, (len(data)+maxChunk-1)/maxChunk)
	head := binary.AppendUvarint([]byte{how}, uint64(n))
	out := make([][]byte, n)
	for i := range out {
		piece := data[i*maxChunk : min((i+1)*maxChunk, len(data))]
		out[i] = append(head, piece...)
		head = nil
	}
	return out
}

// writeBody sets the pieces of a body that txn does not see yet.
func writeBody(txn *badger.Txn, set func(k, v []byte) error, number uint64, b body) error {
	_, err := txn.Get(bodyKey(number, b.Sum, 0))
	if !errors.Is(err, badger.ErrKeyNotFound) {
		return err // nil: it is there
	}
	for i, piece := range slices.Backward(chunks(b.text)) { // the first last: where it is, all are
		if err := set(bodyKey(number, b.Sum, uint32(i)), piece); err != nil {
			return err
		}
	}
	return nil
}

// loader reads bodies of a session, each checked against the hash that names it.
func loader(txn *badger.Txn, e entry) func(body) ([]byte, error) {
	return func(b body) ([]byte, error) {
		text, err := readBody(txn, e.Number, b)
		if err != nil {
			return nil, fmt.Errorf("session %q: body %x: %w: %w; run check", e.Name, b.Sum[:8], ErrDamaged, err)
		}
		return text, nil
	}
}

func readBody(txn *badger.Txn, number uint64, b body) ([]byte, error) {
	data, err := get(txn, bodyKey(number, b.Sum, 0))
	if errors.Is(err, ErrNotFound) {
		return nil, errors.New("it is missing")
	} else if err != nil {
		return nil, err
	}
	if len(data) < 2 {
		return nil, errors.New("its first piece is cut")
	}
	how := data[0]
	n, size := binary.Uvarint(data[1:])
	if size <= 0 || n < 1 || n > 1<<20 {
		return nil, errors.New("its first piece is garbled")
	}
	data = data[1+size:]
	for i := uint32(1); i < uint32(n); i++ {
		piece, err := get(txn, bodyKey(number, b.Sum, i))
		if err != nil {
			return nil, fmt.Errorf("piece %d of %d: %w", i+1, n, err)
		}
		data = append(data, piece...)
	}
	if data, err = unpack(how, data, b.Size); err != nil {
		return nil, err
	}
	if len(data) != b.Size || sha256.Sum256(data) != b.Sum {
		return nil, errors.New("its text is not what its hash says")
	}
	return data, nil
}
