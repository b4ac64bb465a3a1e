package badgerkv

import (
	"bytes"
	"context"

	"github.com/dgraph-io/badger/v4"
	"github.com/hidal-go/hidalgo/kv/flat"
)

var (
	_ flat.Seeker         = (*iterator)(nil)
	_ flat.PrefixIterator = (*iterator)(nil)
)

// iterator opens Badger's only when it is first moved: by then the prefix is known, and Badger can leave
// out the tables that hold none of it.
type iterator struct {
	tx     *tx
	it     *badger.Iterator
	prefix flat.Key // asked for, after the transaction's own
	moved  bool
	closed bool
	err    error
}

func (it *iterator) WithPrefix(p flat.Key) flat.Iterator {
	it.release()
	it.prefix, it.moved = bytes.Clone(p), false
	return it
}

func (it *iterator) Reset() { it.moved, it.err = false, nil }

func (it *iterator) ensure() {
	if it.it == nil {
		it.it = it.tx.txn.NewIterator(badger.IteratorOptions{Prefix: it.tx.key(it.prefix)})
	}
}

func (it *iterator) Next(ctx context.Context) bool {
	if it.closed || it.err != nil {
		return false
	}
	if it.err = ctx.Err(); it.err != nil {
		return false
	}
	it.ensure()
	switch {
	case !it.moved:
		it.it.Rewind()
		it.moved = true
	case it.it.Valid():
		it.it.Next()
	}
	return it.it.Valid()
}

func (it *iterator) Seek(ctx context.Context, k flat.Key) bool {
	if it.closed {
		return false
	}
	if it.err = ctx.Err(); it.err != nil {
		return false
	}
	it.ensure()
	it.moved = true
	if bytes.Compare(k, it.prefix) < 0 {
		k = it.prefix
	}
	it.it.Seek(it.tx.key(k))
	return it.it.Valid()
}

func (it *iterator) valid() bool { return it.it != nil && it.moved && it.it.Valid() }

func (it *iterator) Key() flat.Key {
	if !it.valid() {
		return nil
	}
	return it.it.Item().KeyCopy(nil)[len(it.tx.prefix):]
}

func (it *iterator) Val() flat.Value {
	if !it.valid() {
		return nil
	}
	v, err := it.it.Item().ValueCopy(nil)
	if err != nil {
		it.err = err
	}
	return v
}

func (it *iterator) Err() error { return it.err }

func (it *iterator) Close() error {
	it.release()
	it.closed = true
	return it.err
}

func (it *iterator) release() {
	if it.it != nil {
		it.it.Close()
		it.it = nil
	}
}
