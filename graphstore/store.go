package graphstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
)

// What callers branch on. Errors that wrap these say where and what to do.
var (
	ErrNotFound = errors.New("not found")
	ErrLocked   = errors.New("store is in use")
	ErrForeign  = errors.New("not a ctxweaver store")
	ErrNewer    = errors.New("store is of a newer format")
	ErrDamaged  = errors.New("store is damaged")
	ErrClosed   = errors.New("store is closed")
	ErrFull     = errors.New("the disk is full")
)

// Options change how a store is opened. Nil and the zero value are the careful ones.
type Options struct {
	// NoSync acknowledges a Put before it is on the disk. It is several times faster and still survives
	// the death of the process, but not of the machine.
	NoSync bool
	// InMemory keeps all in memory and nothing afterwards; the folder is ignored.
	InMemory bool
}

// Store is an open folder of sessions. It is safe for concurrent use: puts into one session wait for each
// other, those into different sessions do not, and nothing that reads waits for a put.
type Store struct {
	dir   string // "" in memory
	db    *badger.DB
	spare int64 // bytes that must be free on the disk for a Put

	// life is held for reading by whatever uses db, for a short time and never while code of the
	// caller's runs, and for writing by what must have the database for itself.
	life   sync.RWMutex
	closed bool

	// writers are the locks under which sessions are written, a session's by its name's hash. Cayley
	// must not be written to by two handles at a time.
	writers [64]sync.Mutex
	seed    maphash.Seed

	number atomic.Uint64 // the last session number given out
	names  names
}

// Open opens the store in dir, and makes one there if dir is absent or empty. It fails with ErrLocked,
// ErrForeign, ErrNewer, ErrDamaged or ErrFull, and has then changed nothing in dir.
func Open(dir string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.InMemory {
		dir = ""
	} else if err := claim(dir); err != nil {
		return nil, barred(dir, err)
	}
	db, err := openBadger(dir, opts)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, db: db, spare: spareToPut, seed: maphash.MakeSeed()}
	if err := s.resume(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close writes out what is in memory and gives up the folder. It waits for calls under way; those after
// it fail with ErrClosed. Closing twice is fine.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	if s.dir == "" {
		return nil
	}
	if err := closeSeal(s.dir); err != nil {
		return fmt.Errorf("close store: seal its files: %w", err)
	}
	return nil
}

// resume finishes the deletions that were under way, and finds the session number to go on from.
func (s *Store) resume() error {
	doomed, err := s.doomed()
	if err != nil {
		return err
	}
	for _, number := range doomed {
		if err := s.drop(number); err != nil {
			return fmt.Errorf("finish deleting a session: %w", err)
		}
	}
	return s.db.View(func(txn *badger.Txn) error {
		last, ok := lastKey(txn, []byte{spaceSession})
		if ok && len(last) >= 9 {
			s.number.Store(binary.BigEndian.Uint64(last[1:9]))
		}
		return scan(txn, []byte{spaceCatalog}, func(k, v []byte) error {
			var e entry
			if k[len(k)-1] != kindEntry {
				return nil
			}
			if err := decode(v, &e); err != nil {
				return nil // Check names it, and Repair makes it anew
			}
			s.number.Store(max(s.number.Load(), e.Number))
			return nil
		})
	})
}

// enter begins a call. Each that got no error must be followed by s.life.RUnlock.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return ErrClosed
	}
	return nil
}

// writer is the lock under which the session is written.
func (s *Store) writer(session string) *sync.Mutex {
	return &s.writers[maphash.String(s.seed, session)%uint64(len(s.writers))]
}

// enterToWrite is enter, and waits for the lock under which the session is written. A call that got no error
// ends with leave.
func (s *Store) enterToWrite(ctx context.Context, session string) (leave func(), err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	mu := s.writer(session)
	mu.Lock()
	return func() {
		mu.Unlock()
		s.life.RUnlock()
	}, nil
}

// view runs fn over a snapshot of the database.
func (s *Store) view(ctx context.Context, fn func(*badger.Txn) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.life.RUnlock()
	txn := s.db.NewTransaction(false)
	defer txn.Discard()
	return fn(txn)
}

// viewSession is view with the session's catalog entry.
func (s *Store) viewSession(ctx context.Context, session string, fn func(*badger.Txn, entry) error) error {
	return s.view(ctx, func(txn *badger.Txn) error {
		e, err := readEntry(txn, session)
		if err != nil {
			return err
		}
		return fn(txn, e)
	})
}

// get returns the key's value, or ErrNotFound.
func get(txn *badger.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return item.ValueCopy(nil)
}

// scan calls fn with every key under prefix and its value, in order. Both are only valid during the call.
func scan(txn *badger.Txn, prefix []byte, fn func(k, v []byte) error) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: true, PrefetchSize: 100})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		err := it.Item().Value(func(v []byte) error { return fn(it.Item().Key(), v) })
		if err != nil {
			return err
		}
	}
	return nil
}

// lastKey is the last key under prefix.
func lastKey(txn *badger.Txn, prefix []byte) ([]byte, bool) {
	it := txn.NewIterator(badger.IteratorOptions{Reverse: true})
	defer it.Close()
	it.Seek(append(prefix[:len(prefix):len(prefix)], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	if !it.ValidForPrefix(prefix) {
		return nil, false
	}
	return it.Item().KeyCopy(nil), true
}
