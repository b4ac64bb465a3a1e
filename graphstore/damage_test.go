package graphstore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Wherever a table was changed, and the seal that would tell is taken away, the store is refused, or Check says so in
// words of its own; Repair mends all that can be mended, at once, and what it says is left is what Check finds then.
func TestDamagedTable(t *testing.T) {
	ctx := context.Background()
	whole := t.TempDir()
	s, err := Open(whole, &Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		put(t, s, name, work(name, 12)...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files := snapshot(t, whole)
	delete(files, sealFile)
	table := files["000001.sst"].text
	found := map[Kind]bool{}
	const places = 24
	for i := range places {
		dir := t.TempDir()
		for name, f := range files {
			f.write(t, filepath.Join(dir, name))
		}
		at := len(table) * i / places
		harmed := bytes.Clone(table)
		for j := at; j < min(at+40, len(harmed)); j++ {
			harmed[j] ^= 0x55
		}
		if err := os.WriteFile(filepath.Join(dir, "000001.sst"), harmed, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, &Options{NoSync: true})
		if err != nil {
			if !errors.Is(err, ErrDamaged) || !plainWords(err.Error()) {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		before, err := s.Check(ctx)
		if err != nil || len(before.Problems) == 0 {
			t.Errorf("byte %d: Check: %v, %v", at, before.Problems, err)
		}
		left, err := s.Repair(ctx)
		if err != nil {
			t.Errorf("byte %d: Repair: %v", at, err)
		}
		after, err := s.Check(ctx)
		if err != nil || !slices.Equal(left.Problems, after.Problems) {
			t.Errorf("byte %d: Repair leaves %v, Check then finds %v, %v", at, left.Problems, after.Problems, err)
		}
		for _, p := range before.Problems {
			if p.Kind == KindRecord && p.Node != "" {
				if _, err := s.Get(ctx, p.Session, p.Node); err == nil {
					t.Errorf("byte %d: it can be read: %s", at, p)
				}
			}
			found[p.Kind] = true
			if !plainWords(p.String()) {
				t.Errorf("byte %d: %s", at, p)
			}
		}
		for _, p := range after.Problems {
			if p.Kind.Mendable() {
				t.Errorf("byte %d: not mended: %s", at, p)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	for _, k := range []Kind{KindTables, KindCatalog, KindRecord, KindBody} {
		if !found[k] {
			t.Errorf("nothing was wrong with the %s anywhere", k)
		}
	}
}

// plainWords reports whether a text is none of Go's runtime or Badger's insides.
func plainWords(text string) bool {
	for _, word := range []string{"runtime error", "nil pointer", "goroutine", "mmap", "checksum mismatch", "\n"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}
