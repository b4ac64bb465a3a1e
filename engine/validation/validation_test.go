package validation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// sample is one real output of a runner: a command, what it printed, and what a person reads in that.
type sample struct {
	name, command, output, want string
}

// samples reads testdata/*.txtar: for each sample "name.cmd", "name.out" and "name.want".
func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in testdata: %v", err)
	}
	var out []sample
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for _, f := range txtar.Parse(data).Files {
			parts[f.Name] = string(f.Data)
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				runner := strings.TrimSuffix(filepath.Base(file), ".txtar")
				out = append(out, sample{runner + "/" + name, strings.TrimSpace(parts[name+".cmd"]), parts[name+".out"], parts[name+".want"]})
			}
		}
	}
	return out
}

// show writes a report as the samples have it.
func show(r validation.Report) string {
	var b strings.Builder
	for _, t := range r.Results {
		fmt.Fprintf(&b, "%s: %s %s\n", t.Runner, t.Status, t.Name)
	}
	for _, s := range r.Summaries {
		fmt.Fprintf(&b, "%s: counts %d passed, %d failed, %d errors, %d skipped\n", s.Runner, s.Passed, s.Failed, s.Errors, s.Skipped)
	}
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "%s: evidence failed=%t %s\n", e.Source, e.Failed, e.Detail)
	}
	return b.String()
}

func TestSamples(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			got := show(validation.Parse(s.output, s.command))
			if diff := cmp.Diff(s.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}
