package importer

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestFixtures reads each testdata archive: what it shows, a trace, and what is read from it.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			trace, want := a.Files[0], string(a.Files[1].Data)
			ts, err := Read(bytes.NewReader(trace.Data), trace.Name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, sketch(ts)); diff != "" {
				t.Errorf("%s(-want +got)\n%s", a.Comment, diff)
			}
			crlf, err := Read(bytes.NewReader(bytes.ReplaceAll(trace.Data, []byte("\n"), []byte("\r\n"))), trace.Name, Options{})
			if err != nil {
				t.Fatalf("with CRLF: %v", err)
			}
			if diff := cmp.Diff(sketch(ts), sketch(crlf)); diff != "" {
				t.Errorf("line ends matter (-LF +CRLF)\n%s", diff)
			}
		})
	}
}
