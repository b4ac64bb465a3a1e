package importer

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
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
	f.Add([]byte("# aider\xff\x00"), byte(slices.Index(Formats(), "aider-history")+1)) // was kept as it is for its NUL
	f.Add([]byte(utf16Text(small, binary.BigEndian)), byte(0))
	names := append([]string{""}, Formats()...)
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		sound(t, data, names[int(which)%len(names)])
	})
}

// TestMangled reads the fixtures with values of another type, and lines lost, doubled and moved.
func TestMangled(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`:("(?:[^"\\]|\\.)*"|[0-9.]+|true|false|null|\{\}|\[\])|:(\[|\{)`)
	others := []string{`:null`, `:[]`, `:{}`, `:7`, `:"x"`, `:[{"type":"text"}]`, `:true`, `:[null]`, `:{"content":[{"content":"y"}]}`, `:""`}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			lines := bytes.SplitAfter(a.Files[0].Data, []byte("\n"))
			for range 1 + r.IntN(4) {
				i, j := r.IntN(len(lines)), r.IntN(len(lines))
				switch r.IntN(5) {
				case 0:
					lines = slices.Delete(lines, i, i+1)
				case 1:
					lines = slices.Insert(lines, i, lines[j])
				case 2:
					lines[i], lines[j] = lines[j], lines[i]
				default:
					if all := value.FindAllIndex(lines[i], -1); all != nil {
						at := all[r.IntN(len(all))]
						if end := lines[i][at[1]-1]; end != '[' && end != '{' {
							lines[i] = slices.Concat(lines[i][:at[0]], []byte(others[r.IntN(len(others))]), lines[i][at[1]:])
						}
					}
				}
				if len(lines) == 0 {
					break
				}
			}
			t.Logf("%s, seed %d", file, seed)
			sound(t, bytes.Join(lines, nil), "")
		}
	}
}

// sound reads data and holds what is read against what Read promises.
func sound(t *testing.T, data []byte, format string) {
	ts, err := Read(bytes.NewReader(data), "f", Options{Format: format, Limit: 1 << 20})
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
}

// check holds the notes against the steps, and the texts to be valid.
func check(t *testing.T, tr *Trajectory) {
	open, orphans := 0, 0
	for _, s := range tr.Steps {
		for _, m := range s.Before {
			if m.Role == graphstore.Orphan {
				orphans++
			}
			valid(t, m.Text)
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
