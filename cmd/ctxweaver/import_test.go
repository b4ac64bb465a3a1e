package main

import (
	"context"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

// countdown is a context that is done when it was asked so many times whether it is.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever an import is cut, a file of which not all is stored is told apart from one that is.
func TestImportCut(t *testing.T) {
	in := intake{}
	a := &app{color: "never"}
	for n := range 1000 {
		left := n
		e, err := engine.Open("", &engine.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		in.engine, in.claimed = e, map[string]engine.NodeID{}
		ts, err := importer.ReadFile("testdata/calc.json", importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := imported{File: "calc.json"}
		err = in.store(countdown{t.Context(), &left}, "", ts, &r)
		if cerr := e.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		if told := strings.Contains(a.reportLine(r), "interrupted"); told != (err != nil) {
			t.Fatalf("cut at %d: %v, and the report is %q", n, err, a.reportLine(r))
		}
		if err == nil {
			if n == 0 {
				t.Error("it was never cut")
			}
			return
		}
	}
	t.Error("it never came to an end")
}
