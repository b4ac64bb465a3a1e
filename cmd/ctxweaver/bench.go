package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/benchmarks/fit"
	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure policies, and fit weights, on trajectories of your own",
		Example: `  ctxweaver bench evidence runs/
  ctxweaver bench fit runs/ --out mine.json`,
		Args: unknownCommand,
		RunE: help,
	}
	cmd.AddCommand(newBenchEvidence(a), newBenchFit(a))
	return cmd
}

// benchEvidence is a measurement as the flags ask for it.
type benchEvidence struct {
	evidence.Options
	policies []string
	naive    bool
	stored   bool
	least    int
	format   string
	prices   string
	out      string
	contexts string
	file     string
	weights  string
}

func newBenchEvidence(a *app) *cobra.Command {
	var b benchEvidence
	cmd := &cobra.Command{
		Use:   "evidence [FILE|DIR]...",
		Short: "What policies keep of what the agent needs next, and what that costs",
		Long: `Replay trajectories under several policies, and measure: of what each real next action takes from old
observations alone, how much did the context before it still hold (recall), and what did the context cost?
"full" is always measured, as what the others are compared with.

With --sessions the arguments name sessions of the store; without any, all are taken. With --contexts it judges
what another program would have put before the agent in the run of --file: a line each,
{"step": k, "messages": […]}, calls counted from 0.

What a working set pages in is learned. With --folds it is fitted anew for each fold, on the sessions of all other
folds, so that none is measured with what it has taught itself; the built-in weights may have seen your sessions.

--out DIR gets table.txt, results.json, manifest.json, steps.csv with a row for every request, and plots. It also
keeps what is finished, so that the same command goes on after an interruption.

The policies:
  ` + strings.Join(engine.Policies(), "\n  "),
		Example: `  ctxweaver bench evidence runs/ --policies window:5,polling:5/20,paper:3/5
  ctxweaver bench evidence runs/ --policies paper:3/5 --naive --out results/
  ctxweaver bench evidence --sessions --policies polling:5/20 --json
  ctxweaver bench evidence --contexts mine.jsonl --file run.jsonl`,
		Args:        arguments(0, -1),
		Annotations: map[string]string{afterInterrupt: "; with --out, what is finished is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.check(args); err != nil {
				return err
			}
			return a.benchEvidence(cmd.Context(), args, b)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVarP(&b.policies, "policies", "p", []string{"window:5", "polling:5/20", "paper:3/5", "workingset"}, "what to measure")
	f.BoolVar(&b.naive, "naive", false, "also the best naive policies that cost no more than each")
	f.IntVar(&b.least, "min-steps", 20, "only runs of so many calls or more")
	f.IntVar(&b.First, "first", 200, "calls of each run that count (0: all)")
	f.StringVar(&b.format, "format", "", "format of the files (default: found out)")
	f.BoolVar(&b.stored, "sessions", false, "measure sessions of the store")
	f.StringVar(&b.contexts, "contexts", "", "judge the contexts in this file (-: standard input)")
	f.StringVar(&b.file, "file", "", "the trajectory that --contexts belongs to")
	f.StringVar(&b.prices, "prices", engine.PricePresets()[0].Name, "prices to reckon with, and by which a working set pages out: "+presets())
	f.BoolVar(&b.Stability, "stability", false, "also how much what is shown changes when a run goes a little differently")
	f.IntVar(&b.Folds, "folds", 0, "fit for each of so many folds of sessions, by repository or folder, on the others")
	f.StringVar(&b.weights, "weights", "", "file of weights for a working set (default: built-in)")
	f.IntVar(&b.Engine.Budget, "budget", 0, "most tokens of a context (0: no bound)")
	f.Uint64Var(&b.Seed, "seed", 1, "of resampling and of variations")
	f.StringVarP(&b.out, "out", "o", "", "folder for tables, figures and plots")
	return cmd
}

func presets() string {
	var names []string
	for _, p := range engine.PricePresets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// check refuses what cannot be meant, and puts the baseline first.
func (b *benchEvidence) check(args []string) error {
	prices, err := engine.ParsePrices(b.prices)
	if err != nil {
		return usage("--prices: %w", err)
	}
	b.Engine.Prices = prices
	switch {
	case b.least < 0 || b.First < 0 || b.Folds < 0 || b.Engine.Budget < 0:
		return usage("--min-steps, --first, --folds and --budget want 0 or more")
	case b.Folds > 1 && b.weights != "":
		return usage("--folds fits weights of its own; it does not go with --weights")
	case (b.contexts == "") != (b.file == ""):
		return usage("--contexts and --file go together: contexts, and the trajectory they were made for")
	case b.contexts != "" && (len(args) > 0 || b.stored):
		return usage("--contexts is judged on one trajectory, that of --file")
	case b.contexts == "" && !b.stored && len(args) == 0:
		return usage("name trajectories to measure on: files or folders, or --sessions for those of the store")
	case b.stored && b.format != "":
		return usage("--format is for files, not for stored sessions")
	}
	if err := checkFormat(b.format); err != nil {
		return err
	}
	var names []string
	for _, name := range append([]string{evidence.Baseline}, b.policies...) {
		p, err := engine.ParsePolicy(name)
		if err != nil {
			return usageError{err}
		}
		if !slices.Contains(names, p.String()) {
			names = append(names, p.String())
		}
	}
	b.policies = names
	return nil
}

func (a *app) benchEvidence(ctx context.Context, args []string, b benchEvidence) error {
	sessions, skipped, err := a.benchSessions(ctx, args, b)
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		return fmt.Errorf("there is nothing to measure on: no run of %d or more calls; see --min-steps", b.least)
	}
	if err := a.benchOptions(ctx, &b, sessions); err != nil {
		return err
	}
	p := a.progress("measure", len(sessions)*(len(b.policies)+len(b.Naive)))
	defer p.stop()
	b.Done = func() { p.add(1) }
	results, err := evidence.Run(ctx, sessions, b.policies, b.Options)
	if err != nil {
		return cancelled(ctx, err)
	}
	tested := len(b.policies)
	policies := slices.Concat(b.policies, b.Naive)
	if b.contexts != "" {
		judged, err := a.judge(b, sessions[0])
		if err != nil {
			return err
		}
		policies, results = slices.Insert(policies, tested, judged.Policy), slices.Insert(results, tested, judged)
		tested++
	}
	p.stop()
	report, err := evidence.NewReport(sessions, policies, tested, results, evidence.InMoney(b.Engine.Prices), b.Seed)
	if err != nil {
		return err
	}
	report.Manifest = evidence.NewManifest(sessions, policies, tested, b.Options)
	report.Manifest.Program, report.Manifest.Least, report.Manifest.Skipped = buildVersion().Version, b.least, skipped
	return a.showEvidence(report, results, b.out)
}

// benchOptions settles what depends on files and on the sessions.
func (a *app) benchOptions(ctx context.Context, b *benchEvidence, sessions []evidence.Session) (err error) {
	if b.Program, err = programSum(); err != nil {
		return err
	}
	if b.out != "" {
		b.Cache = filepath.Join(b.out, "cache")
	}
	if b.naive {
		for _, name := range evidence.Naive() {
			if !slices.Contains(b.policies, name) {
				b.Naive = append(b.Naive, name)
			}
		}
	}
	learned := slices.ContainsFunc(b.policies, func(name string) bool { return strings.HasPrefix(name, "workingset") })
	switch {
	case b.weights != "":
		b.Engine.Weights, err = readWeights(b.weights)
	case b.Folds > 1 && learned:
		b.Prepare, err = a.crossFit(ctx, *b, sessions)
	}
	return err
}

func readWeights(path string) (*compress.Weights, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w, err := compress.LoadWeights(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// crossFit fits the weights of each fold on the sessions of the others.
func (a *app) crossFit(ctx context.Context, b benchEvidence, sessions []evidence.Session) (func(context.Context, []evidence.Session) (evidence.Fit, error), error) {
	p := a.progress("fit", len(sessions))
	defer p.stop()
	set, err := fit.Collect(ctx, sessions, func() { p.add(1) })
	if err != nil {
		return nil, cancelled(ctx, err)
	}
	return func(_ context.Context, train []evidence.Session) (evidence.Fit, error) {
		w, err := set.Weights(train, "", compress.FitOptions{})
		if err != nil {
			return evidence.Fit{}, err
		}
		return evidence.FitWeights(b.Engine, w)
	}, nil
}

func (a *app) showEvidence(r *evidence.Report, results []evidence.Result, out string) error {
	if out != "" {
		if err := r.Write(out, results); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(r)
	}
	if _, err := r.WriteTo(a.out); err != nil {
		return err
	}
	if out != "" && !a.quiet {
		fmt.Fprintf(a.err, "Wrote tables, figures and plots to %s.\n", out)
	}
	return nil
}

// benchSessions reads what to measure on. Files that cannot be read are told of and left out.
func (a *app) benchSessions(ctx context.Context, args []string, b benchEvidence) (sessions []evidence.Session, skipped []string, err error) {
	switch {
	case b.stored:
		err = a.with(ctx, func(e *engine.Engine) error {
			sessions, err = storedSessions(ctx, e, args, b.least)
			return err
		})
		return sessions, nil, err
	case b.contexts != "":
		sessions, err = evidence.ReadSessions(b.file, importer.Options{Format: b.format}, 0)
		if err != nil || len(sessions) == 0 {
			return nil, nil, err
		}
		longest := sessions[0]
		for _, s := range sessions {
			if s.Calls > longest.Calls {
				longest = s
			}
		}
		return []evidence.Session{longest}, nil, nil
	}
	return a.sessionsOfFiles(ctx, args, b)
}

func (a *app) sessionsOfFiles(ctx context.Context, args []string, b benchEvidence) (sessions []evidence.Session, skipped []string, err error) {
	paths, _, failures := gatherFiles(args)
	p := a.progress("read", len(paths))
	defer p.stop()
	type file struct {
		sessions []evidence.Session
		err      error
	}
	files := make([]file, len(paths))
	var group errgroup.Group
	group.SetLimit(2)
	for i, path := range paths {
		group.Go(func() error {
			if ctx.Err() == nil {
				files[i].sessions, files[i].err = evidence.ReadSessions(path, importer.Options{Format: b.format}, b.least)
			}
			p.add(1)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if f.err != nil {
			failures = append(failures, f.err)
		}
		sessions = append(sessions, f.sessions...)
	}
	p.stop()
	for _, f := range failures {
		a.complain(f.Error())
		skipped = append(skipped, f.Error())
	}
	return sessions, skipped, nil
}

// storedSessions are those that are named, or all, as long as they have enough calls.
func storedSessions(ctx context.Context, e *engine.Engine, names []string, least int) ([]evidence.Session, error) {
	if len(names) == 0 {
		infos, err := e.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			names = append(names, info.Name)
		}
	}
	var out []evidence.Session
	for _, name := range names {
		t, err := load(ctx, e, name)
		if err != nil {
			return nil, err
		}
		nodes, err := whole(ctx, e, t.info.Name, t.path)
		if err != nil {
			return nil, err
		}
		var steps []engine.Step
		for _, n := range nodes {
			steps = append(steps, n.Step)
		}
		s, err := evidence.NewSession(t.info.Name, t.info.Format, filepath.Base(t.info.Dir), steps)
		if err != nil {
			return nil, err
		}
		if s.Calls >= max(1, least) {
			out = append(out, s)
		}
	}
	return out, nil
}

// judge reads contexts that another program wrote. Their policy is called as their file.
func (a *app) judge(b benchEvidence, s evidence.Session) (evidence.Result, error) {
	data, err := a.readAll(b.contexts)
	if err != nil {
		return evidence.Result{}, err
	}
	r := evidence.Result{Policy: filepath.Base(b.contexts)}
	if r.Requests, err = evidence.NewJudge(s.Steps).Contexts(bytes.NewReader(data), b.First); err != nil {
		return evidence.Result{}, fmt.Errorf("%s: %w", b.contexts, err)
	}
	for _, q := range r.Requests {
		r.Score.Add(q)
	}
	return r, nil
}

func (a *app) readAll(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(a.in)
	}
	return os.ReadFile(path)
}

// programSum tells this program from one built of other sources, whose policies may do otherwise.
func programSum() (sum string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
