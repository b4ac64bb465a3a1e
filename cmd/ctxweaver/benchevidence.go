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
	"github.com/spf13/pflag"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/benchmarks/fit"
	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// benchEvidence is a measurement as the flags ask for it.
type benchEvidence struct {
	evidence.Options
	policies []string
	naive    bool
	stored   bool
	least    int
	format   string
	prices   string
	strategy string
	out      string
	contexts string
	file     string
	weights  string
	misses   string

	read, written *evidence.Source // weights and contexts
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
{"step": k, "messages": […]}, calls counted from 0. Of a file with several runs it is the one with most calls. All
policies are measured on the calls that there are contexts for.

What a working set pages in is learned. With --folds it is fitted anew for each fold, on the sessions of all other
folds, so that none is measured with what it has taught itself; the built-in weights may have seen your sessions.

A variant of a policy, with a part left out or set otherwise, is named behind it: "workingset without graph",
"paper-tail:3/5 m=1". "ctxweaver bench ablations" measures them all.

Under --budget the policies are compared on the same requests, those where what must stay fits: messages, thoughts,
actions and the newest 3 observations. The table tells how often a context was over the budget all the same.

--misses tells of each thing that a context did not hold: which call takes it, where its newest holder is, how old that
is, and what had become of it.

--out DIR gets table.txt, results.json, manifest.json, steps.csv with a row for every request, and plots. It also
keeps what is finished, so that the same command goes on after an interruption.

The policies:
  ` + strings.Join(engine.Policies(), "\n  "),
		Example: `  ctxweaver bench evidence runs/ --policies window:5,polling:5/20,paper:3/5
  ctxweaver bench evidence runs/ --policies paper:3/5 --naive --out results/
  ctxweaver bench evidence runs/ --budget 16000 --policies workingset,clear:16000/5/3000
  ctxweaver bench evidence runs/ --policies workingset --misses misses.jsonl
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
	f.BoolVar(&b.Stability, "stability", false, "also how much what is shown changes when a run goes a little differently, and from run to run of one task")
	f.StringVar(&b.misses, "misses", "", "write what the contexts did not hold, a line of JSON each, to this file (-: standard output)")
	b.flags(f)
	f.StringVar(&b.contexts, "contexts", "", "judge the contexts in this file (-: standard input)")
	f.StringVar(&b.file, "file", "", "the trajectory that --contexts belongs to")
	return cmd
}

// flags are those of every measurement of evidence.
func (b *benchEvidence) flags(f *pflag.FlagSet) {
	f.IntVar(&b.Engine.Budget, "budget", 0, "most tokens of a context (0: no bound); the figures are over requests where what must stay fits")
	f.StringVar(&b.prices, "prices", engine.PricePresets()[0].Name, "prices to reckon with, and by which a working set pages out: "+presets())
	f.StringVar(&b.strategy, "strategy", string(engine.Auto), "what a working set goes by: the graph (structural), nearness in time (recency), or what suits the session (auto)")
	f.IntVar(&b.Folds, "folds", 0, "fit for each of so many folds of sessions, by repository or folder, on the others")
	f.StringVar(&b.weights, "weights", "", "file of weights for a working set (default: built-in)")
	f.IntVar(&b.least, "min-steps", 20, "only runs of so many calls or more")
	f.IntVar(&b.First, "first", 200, "calls of each run that count (0: all)")
	f.StringVar(&b.format, "format", "", "format of the files (default: found out)")
	f.BoolVar(&b.stored, "sessions", false, "measure sessions of the store")
	f.Uint64Var(&b.Seed, "seed", 1, "of resampling and of variations")
	f.StringVarP(&b.out, "out", "o", "", "folder for tables, figures and plots")
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
	if b.Engine.Strategy, err = engine.ParseStrategy(b.strategy); err != nil {
		return usage("--strategy: %w", err)
	}
	switch {
	case b.least < 0 || b.First < 0 || b.Folds < 0 || b.Engine.Budget < 0:
		return usage("--min-steps, --first, --folds and --budget want 0 or more")
	case b.Folds == 1:
		return usage("--folds wants 2 or more, or 0 for none")
	case b.Folds > 1 && b.weights != "":
		return usage("--folds fits weights of its own; it does not go with --weights")
	case (b.contexts == "") != (b.file == ""):
		return usage("--contexts and --file go together: contexts, and the trajectory they were made for")
	case b.contexts != "" && (len(args) > 0 || b.stored):
		return usage("--contexts is judged on one trajectory, that of --file")
	case b.contexts != "" && b.Engine.Budget > 0:
		return usage("--budget bounds policies; the contexts of another program are as they are")
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
		v, err := evidence.ParseVariant(name)
		if err != nil {
			return usageError{err}
		}
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
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
	b.Done, b.Misses = func() { p.add(1) }, b.misses != ""
	results, err := evidence.Run(ctx, sessions, b.policies, b.Options)
	if err != nil {
		return cancelled(ctx, err)
	}
	tested := len(b.policies)
	policies := slices.Concat(b.policies, b.Naive)
	if b.contexts != "" {
		judged, err := a.judge(&b, sessions[0])
		if err != nil {
			return err
		}
		policies, results = slices.Insert(policies, tested, judged.Policy), slices.Insert(results, tested, judged)
		tested++
		a.align(results, judged, sessions[0].Calls, b.First)
	}
	p.stop()
	if err := a.writeMisses(b.misses, results); err != nil {
		return err
	}
	report, err := evidence.NewReport(sessions, policies, tested, results, evidence.InMoney(b.Engine.Prices), b.Seed)
	if err != nil {
		return err
	}
	report.Manifest = evidence.NewManifest(sessions, policies, tested, b.Options)
	report.Manifest.Command, report.Manifest.Weights, report.Manifest.Contexts = os.Args, b.read, b.written
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
		if err := os.MkdirAll(b.out, 0o755); err != nil {
			return err
		}
	}
	if b.misses != "" && b.misses != "-" {
		if err := writable(b.misses); err != nil {
			return err
		}
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
		var data []byte
		if b.Engine.Weights, data, err = readWeights(b.weights); err == nil {
			b.read = evidence.NewSource(b.weights, data)
		}
	case b.Folds > 1 && learned:
		if err := evidence.CheckFolds(sessions, b.Folds); err != nil {
			return err
		}
		b.Prepare, err = a.crossFit(ctx, *b, sessions)
	}
	return err
}

func (a *app) writeMisses(path string, results []evidence.Result) error {
	switch path {
	case "":
		return nil
	case "-":
		return evidence.WriteMisses(a.out, results)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(evidence.WriteMisses(file, results), file.Close())
}

// readWeights reads a file of weights; data is what it holds.
func readWeights(path string) (w *compress.Weights, data []byte, err error) {
	if data, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	if w, err = compress.LoadWeights(bytes.NewReader(data)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, data, nil
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
		var noGraph *compress.Weights
		if slices.ContainsFunc(b.policies, evidence.WithoutGraph) {
			if noGraph, err = set.Weights(train, "", compress.FitOptions{Without: compress.OfGraph}); err != nil {
				return evidence.Fit{}, err
			}
		}
		return evidence.FitWeights(b.Engine, w, noGraph)
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

// judge reads contexts that another program wrote. Their policy is called as their file.
func (a *app) judge(b *benchEvidence, s evidence.Session) (evidence.Result, error) {
	data, err := a.readAll(b.contexts)
	if err != nil {
		return evidence.Result{}, err
	}
	b.written = evidence.NewSource(b.contexts, data)
	r := evidence.Result{Policy: filepath.Base(b.contexts)}
	judge := evidence.NewJudge(s.Steps)
	if r.Requests, err = judge.Contexts(bytes.NewReader(data), b.First); err != nil {
		return evidence.Result{}, fmt.Errorf("%s: %w", b.contexts, err)
	}
	for _, q := range r.Requests {
		r.Score.Add(q)
		r.Miss(judge.Misses(q, nil), s)
	}
	return r, nil
}

// align lets all results count the requests alone that another program's contexts are for, and tells where these are
// not the run's.
func (a *app) align(results []evidence.Result, judged evidence.Result, calls, first int) {
	if first > 0 {
		calls = min(calls, first)
	}
	there := map[int]bool{}
	beyond := 0
	for _, q := range judged.Requests {
		if q.Call < calls {
			there[q.Call] = true
		} else {
			beyond++
		}
	}
	if beyond > 0 {
		a.complain(fmt.Sprintf("%s: %s for calls that the run does not have and left out: it has %d, counted from 0", judged.Policy, plural(beyond, "context"), calls))
	}
	if len(there) < calls {
		a.complain(fmt.Sprintf("%s: contexts for %d of %d calls; all policies are measured on these alone", judged.Policy, len(there), calls))
	}
	for i := range results {
		results[i].Only(there)
	}
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
