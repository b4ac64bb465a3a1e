package graphstore

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// On a disk without room to spare, every write that adds is refused with one clear line, before Badger's maps
// could end the process; what is there can be read, deleted and compacted, which makes room again.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, known := freeSpace(s.dir); !known {
		return // such systems refuse by themselves
	}
	first := chain("kept", 1)[0]
	if err := s.Put(ctx, "kept", first); err != nil {
		t.Fatal(err)
	}
	s.spare = math.MaxInt64 / 2
	for _, c := range []struct {
		what string
		do   func() error
	}{
		{"a new step", func() error { return s.Put(ctx, "new", chain("new", 1)...) }},
		{"a description", func() error { return s.Describe(ctx, SessionInfo{Name: "kept", Title: "t"}) }},
	} {
		if err := c.do(); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "make room") {
			t.Errorf("%s: %v, want ErrFull and what to do", c.what, err)
		}
	}
	if n, err := s.Get(ctx, "kept", first.ID); err != nil || n.Step.Thought != first.Step.Thought {
		t.Errorf("Get of what is there: %q, %v", n.Step.Thought, err)
	}
	if err := s.Delete(ctx, "kept"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := s.Compact(ctx); err != nil {
		t.Errorf("Compact: %v", err)
	}
	s.spare = spareToPut
	if err := s.Put(ctx, "new", chain("new", 1)...); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
	if err := room(s.dir, math.MaxInt64); !errors.Is(err, ErrFull) {
		t.Errorf("room: %v, want ErrFull", err)
	}
}

// The disk is that of the nearest folder above which is there.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	want, known := freeSpace(dir)
	left, err := Room(filepath.Join(dir, "not", "made", "yet"))
	switch {
	case !known && left != -1, err != nil:
		t.Errorf("Room: %d, %v", left, err)
	case known && (left < want/2 || left > 2*want):
		t.Errorf("Room: %d left, want about %d", left, want)
	}
}
