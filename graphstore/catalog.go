package graphstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dgraph-io/badger/v4"
)

// entry is the part of the catalog that every Put rewrites, and so is small: where a session's keys are
// and what they add up to.
type entry struct {
	Name    string    `cbor:"name"`
	Number  uint64    `cbor:"number"`
	Graph   uint32    `cbor:"graph"` // generation of the quads; Repair makes the next
	Nodes   int       `cbor:"nodes"`
	Tokens  int       `cbor:"tokens"`
	Head    NodeID    `cbor:"head,omitempty"`
	Created time.Time `cbor:"created,omitzero"`
	Updated time.Time `cbor:"updated,omitzero"`
}

// touch notes that a step was taken at t, or now if the trace does not say.
func (e *entry) touch(t time.Time) {
	if t.IsZero() {
		t = time.Now().UTC()
	}
	if e.Created.IsZero() || t.Before(e.Created) {
		e.Created = t
	}
	if t.After(e.Updated) {
		e.Updated = t
	}
}

// maxTask is how much of a first user message the catalog keeps, in bytes. The whole of it is in the step.
const maxTask = 64 << 10

// Sessions lists the catalog, the session updated last first.
func (s *Store) Sessions(ctx context.Context) ([]SessionInfo, error) {
	var out []SessionInfo
	err := s.view(ctx, func(txn *badger.Txn) error {
		entries, err := readEntries(txn)
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := readInfo(txn, e)
			if err != nil {
				return err
			}
			out = append(out, info)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b SessionInfo) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.Name, b.Name))
	})
	return out, err
}

// Info returns what the catalog says of a session, or ErrNotFound.
func (s *Store) Info(ctx context.Context, session string) (SessionInfo, error) {
	var info SessionInfo
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) (err error) {
		info, err = readInfo(txn, e)
		return err
	})
	return info, err
}

// Describe sets what describes a session: all fields but Head, Nodes and Tokens, which follow from its
// nodes. Created and Updated are left alone where info has none. A session that is absent is made. Of a
// Task longer than 64 KiB the beginning is kept.
func (s *Store) Describe(ctx context.Context, info SessionInfo) error {
	return s.change(ctx, info.Name, true, func(txn *badger.Txn, e *entry) error {
		if !info.Created.IsZero() {
			e.Created = info.Created
		}
		if !info.Updated.IsZero() {
			e.Updated = info.Updated
		}
		if e.Updated.IsZero() {
			e.touch(time.Time{})
		}
		info.Task = cut(info.Task, maxTask)
		info.Created, info.Updated, info.Head, info.Nodes, info.Tokens = time.Time{}, time.Time{}, "", 0, 0
		return write(txn, catalogKey(info.Name, kindInfo), info)
	})
}

// SetHead moves the session's head, as when a client goes back to an earlier node and branches from there.
func (s *Store) SetHead(ctx context.Context, session string, head NodeID) error {
	return s.change(ctx, session, false, func(txn *badger.Txn, e *entry) error {
		if _, err := readRecord(txn, *e, head); err != nil {
			return err
		}
		e.Head = head
		return nil
	})
}

// change runs fn in a transaction with the session's entry, and keeps what fn made of it.
func (s *Store) change(ctx context.Context, session string, create bool, fn func(*badger.Txn, *entry) error) error {
	if err := checkName(session); err != nil {
		return err
	}
	leave, err := s.enterToWrite(ctx, session)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.roomFor(0); err != nil {
		return fmt.Errorf("session %q: %w", session, err)
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	e, err := readEntry(txn, session)
	if create && errors.Is(err, ErrNotFound) {
		e, err = s.newEntry(session), nil
	}
	if err != nil {
		return err
	}
	if err := fn(txn, &e); err != nil {
		return err
	}
	if err := writeEntry(txn, e); err != nil {
		return err
	}
	return commit(txn)
}

// commit makes the transaction last.
func commit(txn *badger.Txn) error {
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	return nil
}

// newEntry is the entry of a session that is not there yet.
func (s *Store) newEntry(session string) entry {
	return entry{Name: session, Number: s.number.Add(1), Graph: 1}
}

// writeEntry puts the entry, and the session's name among its own keys.
func writeEntry(txn *badger.Txn, e entry) error {
	key := kindKey(e.Number, kindName)
	if _, err := txn.Get(key); errors.Is(err, badger.ErrKeyNotFound) {
		if err := txn.Set(key, []byte(e.Name)); err != nil {
			return err
		}
	}
	return write(txn, catalogKey(e.Name, kindEntry), e)
}

func checkName(session string) error {
	if session == "" {
		return errors.New("session has no name")
	}
	if !utf8.ValidString(session) {
		return fmt.Errorf("session name %q is not UTF-8", session)
	}
	return nil
}

func readEntry(txn *badger.Txn, session string) (entry, error) {
	var e entry
	v, err := get(txn, catalogKey(session, kindEntry))
	if err != nil {
		return e, fmt.Errorf("session %q: %w", session, err)
	}
	if err := decode(v, &e); err != nil {
		return e, fmt.Errorf("session %q: %w: catalog entry: %w; run repair", session, ErrDamaged, err)
	}
	return e, nil
}

func readEntries(txn *badger.Txn) ([]entry, error) {
	var out []entry
	err := scan(txn, []byte{spaceCatalog}, func(k, v []byte) error {
		if k[len(k)-1] != kindEntry {
			return nil
		}
		var e entry
		if err := decode(v, &e); err != nil {
			return fmt.Errorf("%w: catalog entry %x: %w; run repair", ErrDamaged, k, err)
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

func readInfo(txn *badger.Txn, e entry) (SessionInfo, error) {
	info := SessionInfo{}
	v, err := get(txn, catalogKey(e.Name, kindInfo))
	if err == nil {
		err = decode(v, &info)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return info, fmt.Errorf("session %q: %w: catalog: %w", e.Name, ErrDamaged, err)
	}
	info.Name, info.Head, info.Nodes, info.Tokens = e.Name, e.Head, e.Nodes, e.Tokens
	info.Created, info.Updated = e.Created, e.Updated
	return info, nil
}

// cut returns at most n bytes of text, ending between runes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
