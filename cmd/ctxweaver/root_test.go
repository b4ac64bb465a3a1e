package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp holds every command to what the others do: a short line, and an example that calls it.
func TestHelp(t *testing.T) {
	a := &app{out: bufio.NewWriter(io.Discard), err: io.Discard}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: wants a short description and an example with %q", cmd.CommandPath(), cmd.CommandPath())
		}
		if cmd.Args == nil {
			t.Errorf("%s: does not say what arguments it takes", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(a))
}

// A complaint is one short line, whatever was typed.
func TestComplain(t *testing.T) {
	var out bytes.Buffer
	(&app{err: &out}).complain("no session is named like " + strings.Repeat("x\x1b\n", 5000))
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "\x1b") || columns(got) > 1020 {
		t.Errorf("%d columns: %.80q", columns(got), got)
	}
}
