package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine/importer"
)

// Ctrl-C ends a command that waits for a pipe in which nothing comes.
func TestReadEndsWithContext(t *testing.T) {
	silent, end := io.Pipe()
	defer end.Close()
	a := &app{in: bufio.NewReader(silent)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.read(ctx, "-", importer.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v, want context.Canceled", err)
	}
}
