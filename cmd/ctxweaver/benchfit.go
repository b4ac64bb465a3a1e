package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/benchmarks/fit"
	"github.com/ctxweaver/ctxweaver/compress"
)

// benchFit is a fit as the flags ask for it.
type benchFit struct {
	least   int
	folds   int
	format  string
	out     string
	without []string
}

func newBenchFit(a *app) *cobra.Command {
	var b benchFit
	cmd := &cobra.Command{
		Use:   "fit FILE|DIR...",
		Short: "Learn from trajectories what the next calls of an agent take",
		Long: `Replay trajectories, and learn from what each call really took which features of old output tell it beforehand.
The weights that are written serve the working set, by --weights. They hold numbers alone, nothing of the trajectories.

With --folds, a file of weights is written also for each fold, fitted on the sessions of all other folds, and beside
it folds.json: which session is in which fold.`,
		Example: `  ctxweaver bench fit runs/ --out mine.json
  ctxweaver bench fit runs/ --folds 6 --out weights.json`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case b.least < 1 || b.folds < 0 || b.folds == 1:
				return usage("--min-steps wants 1 or more, --folds 2 or more")
			case b.out == "":
				return usage("--out wants a file for the weights")
			}
			if err := checkFormat(b.format); err != nil {
				return err
			}
			for _, prefix := range b.without {
				if !slices.ContainsFunc(compress.FeatureNames(), func(name string) bool { return strings.HasPrefix(name, prefix) }) {
					return usage("--without %s: no feature begins so; there are %s", prefix, strings.Join(compress.FeatureNames(), ", "))
				}
			}
			return a.benchFit(cmd.Context(), args, b)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&b.least, "min-steps", 5, "only runs of so many calls or more")
	f.StringVar(&b.format, "format", "", "format of the files (default: found out)")
	f.IntVar(&b.folds, "folds", 0, "also fit for each of so many folds, by repository or folder")
	f.StringSliceVar(&b.without, "without", nil, "features that are to weigh nothing, by the beginning of their names")
	f.StringVarP(&b.out, "out", "o", "weights.json", "file for the weights")
	return cmd
}

func (a *app) benchFit(ctx context.Context, args []string, b benchFit) error {
	sessions, _, err := a.sessionsOfFiles(ctx, args, benchEvidence{least: b.least, format: b.format})
	if err != nil {
		return cancelled(ctx, err)
	}
	if err := errors.Join(writable(b.out), evidence.CheckFolds(sessions, b.folds)); err != nil {
		return err
	}
	p := a.progress("replay", len(sessions))
	defer p.stop()
	set, err := fit.Collect(ctx, sessions, func() { p.add(1) })
	if err != nil {
		return cancelled(ctx, err)
	}
	p.stop()
	date := time.Now().UTC().Format(time.DateOnly)
	options := compress.FitOptions{Without: func(name string) bool { return begins(name, b.without) }}
	w, err := set.Weights(sessions, date, options)
	if err != nil {
		return err
	}
	if err := evidence.Replace(b.out, w.Write); err != nil {
		return err
	}
	if err := a.fitFolds(ctx, b, sessions, func(train []evidence.Session) (*compress.Weights, error) {
		return set.Weights(train, date, options)
	}); err != nil {
		return cancelled(ctx, err)
	}
	if a.json {
		calls := 0
		for _, s := range sessions {
			calls += s.Calls
		}
		return a.printJSON(map[string]any{"weights": b.out, "folds": b.folds, "sessions": len(sessions), "calls": calls, "rows": w.Rows, "taken": w.Taken})
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "Wrote weights fitted on %s: %d examples, something taken of %d.\n", w.FittedOn, w.Rows, w.Taken)
	}
	return nil
}

func begins(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// foldOf says which fold a session is in, from 1: what it is called in the names of files.
type foldOf struct {
	Name string `json:"name"`
	File string `json:"file"`
	Sum  string `json:"file_sha256,omitempty"`
	Fold int    `json:"fold"`
}

// fitFolds fits for each fold of the evidence benchmark.
func (a *app) fitFolds(ctx context.Context, b benchFit, sessions []evidence.Session, weights func(train []evidence.Session) (*compress.Weights, error)) error {
	if b.folds == 0 {
		return nil
	}
	stem := strings.TrimSuffix(b.out, filepath.Ext(b.out))
	for f, train := range evidence.Folds(sessions, b.folds) {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := weights(train)
		if err != nil {
			return fmt.Errorf("fitting for fold %d: %w", f+1, err)
		}
		if err := evidence.Replace(fmt.Sprintf("%s-fold-%d.json", stem, f+1), w.Write); err != nil {
			return err
		}
	}
	var folds []foldOf
	for _, s := range sessions {
		folds = append(folds, foldOf{s.Name, filepath.Base(s.File), s.Sum, s.Fold + 1})
	}
	return evidence.Replace(filepath.Join(filepath.Dir(b.out), "folds.json"), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(folds)
	})
}
