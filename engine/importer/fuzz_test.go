package importer

import (
	"bytes"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// FuzzRead: whatever a file holds, under each format and under none, Read says what it read or why it
// did not; names are unique, texts are valid, and every count is true.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data, byte(0))
		f.Add(a.Files[0].Data[:len(a.Files[0].Data)*2/3], byte(0))
	}
	f.Add([]byte(small), byte(3))
	f.Add([]byte(`{"a":[{"b":"\ud800"`), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		names := append([]string{""}, Formats()...)
		opts := Options{Format: names[int(which)%len(names)], Limit: 1 << 20}
		ts, err := Read(bytes.NewReader(data), "f", opts)
		if (err == nil) != (len(ts) > 0) {
			t.Fatalf("%d trajectories and error %v", len(ts), err)
		}
		taken := map[string]bool{}
		for _, tr := range ts {
			if tr.Name == "" || taken[tr.Name] {
				t.Errorf("name %q is empty or taken", tr.Name)
			}
			taken[tr.Name] = true
			if len(tr.Steps) == 0 {
				t.Errorf("%s has no steps", tr.Name)
			}
			check(t, tr)
		}
	})
}

// check holds the notes against the steps, and the texts to be valid.
func check(t *testing.T, tr *Trajectory) {
	open, orphans := 0, 0
	for i, s := range tr.Steps {
		said := s.Thought != "" || s.Thinking != "" || len(s.Calls) > 0
		for _, m := range s.Before {
			if m.Role == graphstore.Orphan {
				orphans++
			}
			valid(t, m.Text)
		}
		if len(s.Before) > 0 && !said && i < len(tr.Steps)-1 && tr.Format == "" {
			t.Errorf("step %d says nothing", i)
		}
		valid(t, s.Thought)
		valid(t, s.Thinking)
		for _, c := range s.Calls {
			valid(t, c.Args)
			valid(t, c.Name)
			if c.Open() {
				open++
			}
			if c.Observation != nil {
				valid(t, c.Observation.Text)
			}
		}
	}
	if tr.Notes.Unanswered != open {
		t.Errorf("%s: %d unanswered, noted %d", tr.Name, open, tr.Notes.Unanswered)
	}
	if tr.Notes.Orphans != orphans {
		t.Errorf("%s: %d orphans, noted %d", tr.Name, orphans, tr.Notes.Orphans)
	}
}

func valid(t *testing.T, s string) {
	if !utf8.ValidString(s) {
		t.Errorf("not UTF-8: %q", s)
	}
}
