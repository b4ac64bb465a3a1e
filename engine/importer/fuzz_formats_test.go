package importer

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// FuzzFormats hands any bytes to every format's parser, whatever they look like: what is read must
// be in order, and must survive an export.
func FuzzFormats(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, form := range formats {
			form.detect("", data)
			ts, err := form.parse(bytes.Clone(data))
			if err != nil {
				continue
			}
			for _, tr := range ts {
				inOrder(t, tr)
				if len(tr.Steps) == 0 {
					continue
				}
				got, _ := readBack(t, graphstore.SessionInfo{Name: "s"}, tr.Steps)
				if diff := cmp.Diff(asJSON(tr.Steps), got.Steps, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s (-read +read back)\n%s", form.name, diff)
				}
			}
		}
	})
}

func inOrder(t *testing.T, tr *Trajectory) {
	t.Helper()
	unanswered := 0
	for i, s := range tr.Steps {
		for j, c := range s.Calls {
			if c.Open() {
				unanswered++
			}
			if last := s.Calls[len(s.Calls)-1]; c.Joined && (c.Observation != nil || j == len(s.Calls)-1 || last.Observation == nil) {
				t.Fatalf("%s step %d: call %d is joined to no observation", tr.Format, i, j)
			}
		}
	}
	if unanswered != tr.Notes.Unanswered {
		t.Fatalf("%s: %d calls are open, Notes say %d", tr.Format, unanswered, tr.Notes.Unanswered)
	}
}
