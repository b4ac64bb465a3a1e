package graphstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Delete removes a session, or returns ErrNotFound. When it returns the session is gone for good, even if
// the process dies while its keys are being dropped: Open goes on with that. Space comes back by and by,
// or with Compact.
func (s *Store) Delete(ctx context.Context, session string) error {
	leave, err := s.enterToWrite(ctx, session)
	if err != nil {
		return err
	}
	defer leave()
	number, err := s.doom(session)
	if err != nil {
		return err
	}
	if err := s.drop(number); err != nil {
		return fmt.Errorf("delete session %q: %w", session, err)
	}
	return nil
}

// doom takes the session out of the catalog and notes that its keys are to be dropped.
func (s *Store) doom(session string) (uint64, error) {
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	e, err := readEntry(txn, session)
	if err != nil {
		return 0, err
	}
	for _, kind := range []byte{kindEntry, kindInfo} {
		if err := txn.Delete(catalogKey(session, kind)); err != nil {
			return 0, err
		}
	}
	if err := txn.Set(doomedKey(e.Number), nil); err != nil {
		return 0, err
	}
	return e.Number, commit(txn)
}

// doomed lists the sessions whose keys are to be dropped.
func (s *Store) doomed() ([]uint64, error) {
	var out []uint64
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	err := scan(txn, []byte{spaceDoomed}, func(k, _ []byte) error {
		if len(k) != 9 {
			return fmt.Errorf("%w: key %x", ErrDamaged, k)
		}
		out = append(out, binary.BigEndian.Uint64(k[1:]))
		return nil
	})
	return out, err
}

// drop deletes the keys of a session that is doomed, and then the note that it is.
func (s *Store) drop(number uint64) error {
	if err := s.dropPrefix(sessionKey(number)); err != nil {
		return err
	}
	return s.db.Update(func(txn *badger.Txn) error { return txn.Delete(doomedKey(number)) })
}

func (s *Store) dropPrefix(prefix []byte) error {
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := batch.Delete(it.Item().KeyCopy(nil)); err != nil {
			return err
		}
	}
	return batch.Flush()
}

// Space is what the store's files take, in bytes, before and after Compact.
type Space struct{ Before, After int64 }

// Compact gives back the space of what was deleted or replaced. It may take seconds per gigabyte; other
// calls go on meanwhile, but for a moment at the beginning.
func (s *Store) Compact(ctx context.Context) (Space, error) {
	var space Space
	var err error
	if space.Before, err = s.disk(); err != nil {
		return space, err
	}
	if err := s.flush(ctx); err != nil {
		return space, fmt.Errorf("compact: %w", err)
	}
	if err := s.enter(ctx); err != nil {
		return space, err
	}
	defer s.life.RUnlock()
	if err := s.db.Flatten(1); err != nil {
		return space, fmt.Errorf("compact: %w", err)
	}
	for s.dir != "" && ctx.Err() == nil {
		if err := s.db.RunValueLogGC(0.5); errors.Is(err, badger.ErrNoRewrite) {
			break
		} else if err != nil {
			return space, fmt.Errorf("compact: %w", err)
		}
	}
	space.After, err = s.disk()
	return space, errors.Join(err, ctx.Err())
}

// flush moves what is in memory into tables. Badger does that for us when a prefix is dropped that some
// key has; it refuses writes meanwhile, hence the lock.
func (s *Store) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return ErrClosed
	}
	nothing := []byte{0}
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(nothing, nil) }); err != nil {
		return err
	}
	return s.db.DropPrefix(nothing)
}
