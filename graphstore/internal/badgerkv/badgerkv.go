// Package badgerkv puts Badger v4 under Cayley: it implements hidalgo's flat.KV, of which Cayley's
// own Badger backend is two major versions behind.
//
// Two forms share one Tx. A DB opens a Badger transaction of its own for each Tx. Bind lends out a
// transaction that the caller owns, so that what Cayley writes and what the caller writes beside it
// are committed together or not at all.
package badgerkv

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/hidal-go/hidalgo/base"
	"github.com/hidal-go/hidalgo/kv"
	"github.com/hidal-go/hidalgo/kv/flat"

	"github.com/cayleygraph/cayley/graph"
	ckv "github.com/cayleygraph/cayley/graph/kv"
)

// Name is what Register registers.
const Name = "badger4"

// Registration tells hidalgo how to open a folder of Badger files on its own.
var Registration = flat.Registration{
	Registration: base.Registration{Name: Name, Title: "Badger v4", Local: true},
	OpenPath:     OpenPath,
}

// Register makes Cayley know the backend by Name. It must be called at most once.
func Register() {
	open := func(path string, _ graph.Options) (kv.KV, error) { return flat.UpgradeOpenPath(OpenPath)(path) }
	ckv.Register(Name, ckv.Registration{InitFunc: open, NewFunc: open, IsPersistent: true})
}

// OpenPath opens a Badger database with default options, silent.
func OpenPath(path string) (flat.KV, error) {
	db, err := badger.Open(badger.DefaultOptions(path).WithLogger(nil))
	if err != nil {
		return nil, err
	}
	return &DB{db: db}, nil
}

// New wraps an open database. Closing the DB closes the database.
func New(db *badger.DB) *DB { return &DB{db: db} }

// DB is a whole Badger database as a flat.KV. A transaction that Badger calls too big is committed in
// parts, as Cayley's bulk loader needs; whoever needs atomicity uses Bind.
type DB struct {
	db   *badger.DB
	once sync.Once
	err  error
}

// Close closes the database. Closing twice is fine.
func (d *DB) Close() error {
	d.once.Do(func() { d.err = d.db.Close() })
	return d.err
}

// Tx begins a transaction.
func (d *DB) Tx(_ context.Context, rw bool) (flat.Tx, error) {
	return &tx{txn: d.db.NewTransaction(rw), db: d.db, rw: rw}, nil
}

// View runs fn in a read-only transaction.
func (d *DB) View(ctx context.Context, fn func(flat.Tx) error) error { return flat.View(ctx, d, fn) }

// Update runs fn in a read-write transaction, again if it conflicts with another.
func (d *DB) Update(ctx context.Context, fn func(flat.Tx) error) error {
	return flat.Update(ctx, d, fn)
}

// Bind returns the keys of txn that begin with prefix as a flat.KV, the prefix cut off. Every Tx of it
// is txn itself: Commit and Close leave it open, for the caller commits or discards it. It must not be
// used by two goroutines at a time.
func Bind(txn *badger.Txn, prefix []byte, rw bool) flat.KV {
	return &bound{tx{txn: txn, prefix: bytes.Clone(prefix), rw: rw}}
}

type bound struct{ shared tx }

func (b *bound) Close() error { return nil }

func (b *bound) Tx(_ context.Context, rw bool) (flat.Tx, error) {
	if rw && !b.shared.rw {
		return nil, flat.ErrReadOnly
	}
	return &tx{txn: b.shared.txn, prefix: b.shared.prefix, rw: rw}, nil
}

func (b *bound) View(ctx context.Context, fn func(flat.Tx) error) error { return flat.View(ctx, b, fn) }

func (b *bound) Update(ctx context.Context, fn func(flat.Tx) error) error {
	t, err := b.Tx(ctx, true)
	if err != nil {
		return err
	}
	defer t.Close()
	return fn(t)
}

// tx is one transaction. With db set it owns txn; without, it was lent.
type tx struct {
	txn    *badger.Txn
	db     *badger.DB
	prefix []byte
	rw     bool
	open   []*iterator // Badger panics when a transaction ends under an open iterator
}

func (t *tx) key(k flat.Key) []byte {
	if len(t.prefix) == 0 {
		return k
	}
	return append(t.prefix[:len(t.prefix):len(t.prefix)], k...)
}

func (t *tx) closeIterators() {
	for _, it := range t.open {
		it.release()
	}
	t.open = nil
}

func (t *tx) Commit(context.Context) error {
	t.closeIterators()
	if t.db == nil {
		return nil
	}
	return translate(t.txn.Commit())
}

func (t *tx) Close() error {
	t.closeIterators()
	if t.db != nil {
		t.txn.Discard()
	}
	return nil
}

func (t *tx) Get(_ context.Context, k flat.Key) (flat.Value, error) {
	if len(k) == 0 {
		return nil, flat.ErrNotFound
	}
	item, err := t.txn.Get(t.key(k))
	if err != nil {
		return nil, translate(err)
	}
	return item.ValueCopy(nil)
}

func (t *tx) GetBatch(ctx context.Context, keys []flat.Key) ([]flat.Value, error) {
	return flat.GetBatch(ctx, t, keys)
}

// Put copies neither key nor value: hidalgo's callers give both away.
func (t *tx) Put(_ context.Context, k flat.Key, v flat.Value) error {
	key := t.key(k)
	return t.write(func() error { return t.txn.Set(key, v) })
}

func (t *tx) Del(_ context.Context, k flat.Key) error {
	key := t.key(k)
	return t.write(func() error { return t.txn.Delete(key) })
}

func (t *tx) write(op func() error) error {
	if !t.rw {
		return flat.ErrReadOnly
	}
	err := op()
	if err != badger.ErrTxnTooBig || t.db == nil {
		return translate(err)
	}
	t.closeIterators()
	if err := t.txn.Commit(); err != nil {
		return translate(err)
	}
	t.txn = t.db.NewTransaction(true)
	return translate(op())
}

func (t *tx) Scan(_ context.Context, opts ...flat.IteratorOption) flat.Iterator {
	it := &iterator{tx: t}
	t.open = append(t.open, it)
	return flat.ApplyIteratorOptions(it, opts)
}

func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, badger.ErrConflict):
		return flat.ErrConflict
	case errors.Is(err, badger.ErrKeyNotFound), errors.Is(err, badger.ErrEmptyKey):
		return flat.ErrNotFound
	case errors.Is(err, badger.ErrReadOnlyTxn):
		return flat.ErrReadOnly
	}
	return err
}
