package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes beside 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells have it: 128 and the number of SIGINT
)

// usageError is a mistake in how the command was called.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program: it returns the exit code.
func run(args []string) int {
	// A reader that goes away, such as head, then shows as an error of the write, and the store is
	// closed in order.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends at once

	a := &app{out: bufio.NewWriter(os.Stdout), err: os.Stderr, in: bufio.NewReader(os.Stdin)}
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if flushed := a.out.Flush(); err == nil {
		err = flushed
	}
	return a.exit(ctx, cmd, err)
}

// exit says what went wrong, in one line, and gives the exit code for it.
func (a *app) exit(ctx context.Context, cmd *cobra.Command, err error) int {
	var misused usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.complain("interrupted" + cmd.Annotations[afterInterrupt])
		return exitInterrupted
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &misused):
		a.complain(worded(err))
		return exitUsage
	}
	a.complain(worded(err))
	return exitFailed
}

// afterInterrupt is the annotation of a command that says how to go on after Ctrl-C.
const afterInterrupt = "after interrupt"

// errReported is a failure that the command has told of already.
var errReported = errors.New("reported")

// complain writes one line to stderr, whatever the message holds and however much of what the user said.
func (a *app) complain(message string) {
	fmt.Fprintf(a.err, "ctxweaver: %s\n", shorten(oneLine(message), 1000))
}

// worded is an error in words for people: without the names of Go's functions and system calls.
func worded(err error) string {
	text := err.Error()
	var path *fs.PathError
	if errors.As(err, &path) && strings.HasSuffix(path.Op, "stat") {
		text = strings.ReplaceAll(text, path.Error(), path.Path+": "+path.Err.Error())
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		why := "it is no number"
		if errors.Is(number, strconv.ErrRange) {
			why = "it is too large"
		}
		if number.Func == "ParseBool" {
			why = "want true or false"
		}
		text = strings.ReplaceAll(text, number.Error(), why)
	}
	return text
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "ctxweaver",
		Short: "Weave an agent's next context from the graph of its steps",
		Long: `ctxweaver keeps the traces that agents leave behind as graphs of steps: what each step rests on, which tests
it passed or failed, what it cost. It answers questions about them, and weaves from them the context of a
next request, by several policies that can be compared.

Every flag can also be set by an environment variable (CTXWEAVER_STORE, CTXWEAVER_LOG_LANES, …) or in a config
file (store: …, log: {lanes: 4}). A flag wins over the environment, the environment over the file; what is said
for one command wins over what is said for all.`,
		Example: `  ctxweaver demo
  ctxweaver import ~/.claude/projects
  ctxweaver log`,
		Args:                       unknownCommand,
		RunE:                       help,
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return a.settle(cmd) },
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Version:                    buildVersion().Version,
	}
	root.SetVersionTemplate("ctxweaver {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetOut(a.out)
	root.SetErr(a.err)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringVar(&a.store, "store", "", "folder of the store (default: "+defaultStore()+")")
	f.BoolVar(&a.json, "json", false, "write JSON")
	f.StringVar(&a.color, "color", "auto", "colours: auto, always or never")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no summaries")
	f.BoolVar(&a.noSync, "no-sync", false, "faster writes, which a power cut may lose")
	f.StringVar(&a.config, "config", "", "config file (default: "+defaultConfig()+")")
	root.AddCommand(
		newDemo(a), newImport(a), newSessions(a), newLog(a), newShow(a), newWeave(a), newDiff(a), newReplay(a), newRecall(a),
		newPin(a), newUnpin(a), newPins(a), newUndo(a), newReweave(a),
		newQuery(a), newExport(a), newBench(a), newCheck(a), newRepair(a), newRemove(a), newGC(a),
		newDoctor(a), newModel(a), newVersion(a))
	return root
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// unknownCommand refuses what is no subcommand, and names the ones there are.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				near = append(near, c.Name())
			}
		}
		return usage("no such command: %q; there are %s", args[0], strings.Join(near, ", "))
	}
	return usage("no such command: %q; did you mean %s?", args[0], strings.Join(near, " or "))
}

// flagError adds to what is wrong with a flag the flags there are.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError{err}
	}
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	slices.Sort(names)
	return usage("%w; %s takes %s", err, cmd.CommandPath(), strings.Join(slices.Compact(names), ", "))
}

// arguments bounds how many arguments a command takes, and says what they are.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage("something is missing; call it as: %s", cmd.UseLine())
		case most >= 0 && len(args) > most:
			return usage("%q is too much; call it as: %s", args[most], cmd.UseLine())
		}
		return nil
	}
}
