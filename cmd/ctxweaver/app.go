package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// app is what all commands share: where they read and write, and the flags that all have.
type app struct {
	in  *bufio.Reader
	out *bufio.Writer // keeps its first error, which run sees when it flushes
	err io.Writer

	store  string
	config string
	color  string
	json   bool
	quiet  bool
	noSync bool

	weights *compress.Weights // of a working set; nil are the built-in ones
}

// open opens the store, which must be there already. The caller closes it.
func (a *app) open(ctx context.Context) (*engine.Engine, error) {
	if _, err := os.Stat(a.store); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no store in %s yet; fill it with ctxweaver import, or name another with --store", a.store)
	}
	return a.create(ctx)
}

// answerWithin is how long a model may take for one answer: small machines are slow, and nobody waits to type.
const answerWithin = 5 * time.Minute

// create opens the store, and makes it if there is none. If another process has it open, which may be but
// for a moment, it waits a little.
func (a *app) create(ctx context.Context) (*engine.Engine, error) {
	deadline := time.Now().Add(patience)
	for {
		e, err := engine.Open(a.store, &engine.Options{NoSync: a.noSync, Weights: a.weights, Patience: answerWithin})
		if !errors.Is(err, graphstore.ErrLocked) || time.Now().After(deadline) {
			return e, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(patience / 20):
		}
	}
}

// with runs do on the store, which must be there, and closes it.
func (a *app) with(ctx context.Context, do func(*engine.Engine) error) error {
	e, err := a.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(e), e.Close())
}

// print writes a line of plain output.
func (a *app) print(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// printJSON writes v as one indented document.
func (a *app) printJSON(v any) error { return a.encode(v, "  ") }

// printLine writes v as one line of JSON.
func (a *app) printLine(v any) error { return a.encode(v, "") }

func (a *app) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(escaped(b.Bytes()))
	return err
}

// ask puts a question to the person at the terminal and returns the answer.
func (a *app) ask(question string) (string, error) {
	if err := a.out.Flush(); err != nil {
		return "", err
	}
	fmt.Fprint(a.err, question+" ")
	answer, err := a.in.ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(a.err)
		return "", errors.New("no answer")
	}
	return strings.TrimSpace(answer), nil
}

// style is how the output is coloured.
func (a *app) style() style {
	switch a.color {
	case "always":
		return style{on: true}
	case "never":
		return style{}
	}
	return style{on: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && onTerminal()}
}

// defaultStore is the user's data folder of ctxweaver, or "" where the user has no home.
func defaultStore() string {
	home, _ := os.UserHomeDir()
	base := os.Getenv("XDG_DATA_HOME")
	switch {
	case runtime.GOOS == "windows":
		base = os.Getenv("LocalAppData")
	case base != "" || home == "":
	case runtime.GOOS == "darwin":
		base = filepath.Join(home, "Library", "Application Support")
	default:
		base = filepath.Join(home, ".local", "share")
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "ctxweaver")
}

// settle brings the flags to their final values and checks those that all commands share.
func (a *app) settle(cmd *cobra.Command) error {
	if err := settings(cmd, os.LookupEnv); err != nil {
		return err
	}
	if a.store == "" {
		a.store = defaultStore()
	}
	if a.store == "" {
		return usage("there is no home folder to keep the store in; say where with --store")
	}
	switch a.color {
	case "auto", "always", "never":
		return nil
	}
	return usage("--color %q: want auto, always or never", a.color)
}

// cancelled is ctx's error where err is what cancelling it led to.
func cancelled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
