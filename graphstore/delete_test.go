package graphstore

import (
	"context"
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// A deleted session is gone, its name is free, others are untouched, and Compact gives the space back.
func TestDelete(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{NoSync: true})
	put(t, s, "large", work("large", 1000)...)
	put(t, s, "small", work("small", 30)...)
	full, err := s.Compact(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "large"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Info(ctx, "large"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := s.Delete(ctx, "large"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.Ancestry(ctx, "large", work("large", 1)[0].ID, Walk{}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	for n, err := range s.Session(ctx, "large") {
		if !errors.Is(err, ErrNotFound) {
			t.Error(n.ID, err)
		}
	}
	empty, err := s.Compact(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("1,030 steps: %d bytes compacted; 30 left: %d", full.After, empty.After)
	if empty.After > full.After/4 {
		t.Errorf("%d bytes are left of %d", empty.After, full.After)
	}
	put(t, s, "large", chain("large", 3)...)
	if got := all(t, s, "large"); len(got) != 3 {
		t.Errorf("%d nodes in the new session", len(got))
	}
	if got := all(t, s, "small"); len(got) != 30 {
		t.Errorf("%d nodes in the other", len(got))
	}
}

// A deletion that the process did not live to finish is finished at open, also if the name is in use again.
func TestDeleteIsFinishedAtOpen(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "s", chain("s", 50)...)
	number, err := s.doom("s") // and the process dies
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "s", chain("s", 2)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(t, s)
	left := 0
	err = s.view(ctx, func(txn *badger.Txn) error {
		return scan(txn, sessionKey(number), func(_, _ []byte) error { left++; return nil })
	})
	if err != nil || left > 0 {
		t.Errorf("%d keys are left, %v", left, err)
	}
	if got := all(t, s, "s"); len(got) != 2 {
		t.Errorf("%d nodes in the new session", len(got))
	}
}
