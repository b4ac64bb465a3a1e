package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/benchmarks/controllers"
	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/engine"
)

// benchControllers is a measurement as the flags ask for it.
type benchControllers struct {
	controllers.Options
	models []string
	host   string
	least  int
	format string
	prices string
	out    string
}

func newBenchControllers(a *app) *cobra.Command {
	var b benchControllers
	cmd := &cobra.Command{
		Use:   "controllers FILE|DIR...",
		Short: "How well rules and small models choose parents and sum up steps, and what it costs",
		Long: `Ask rules, simple baselines and each model named by --models about the steps of trajectories, and measure: does it find the
step that made-up chains rest on; does it find the literal parents of real steps when it sees nothing but summaries; does
it make words up; what do contexts gain by its edges; and what do its answers take?

Models are asked on an Ollama server. Without --models no server is needed. ` + helpOnControllers + `

A model takes seconds a question on a small machine, so the flags bound how many it is asked: about so many steps, drawn by
the seed, of so many sessions, drawn likewise. Steps with a literal parent come first. The edges of a model that is asked about
few steps change little: see what contexts gain with --steps-per-session 0.

--out DIR gets table.txt, results.json, questions.csv with a row for every question and controller, and plots. It also
keeps what models said, so that the same command goes on after an interruption, and no model is asked the same again.`,
		Example: `  ctxweaver bench controllers runs/
  ctxweaver bench controllers runs/ --models all-minilm/embeddings,qwen2.5:0.5b/scores,qwen2.5:1.5b --out results/
  ctxweaver bench controllers runs/ --models all-minilm --steps-per-session 0 --folds 5`,
		Args:        arguments(1, -1),
		Annotations: map[string]string{afterInterrupt: "; with --out, what was said is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			prices, err := engine.ParsePrices(b.prices)
			if err != nil {
				return usage("--prices: %w", err)
			}
			b.Replay.Prices = prices
			if b.least < 0 || b.First < 0 || b.Options.Sessions < 0 || b.Steps < 0 || b.Planted < 0 || b.Sums < 0 || b.Folds < 0 {
				return usage("--min-steps, --first, --sessions, --steps-per-session, --planted, --summaries and --folds want 0 or more")
			}
			if err := checkFormat(b.format); err != nil {
				return err
			}
			return a.benchControllers(cmd.Context(), args, b)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVarP(&b.models, "models", "m", nil, "models to measure, each as --controller takes it elsewhere")
	f.StringVar(&b.host, "host", "", hostUsage)
	f.IntVar(&b.Options.Sessions, "sessions", 0, "draw so many sessions (0: all)")
	f.IntVar(&b.Steps, "steps-per-session", 10, "ask models about so many steps of each (0: all)")
	f.IntVar(&b.First, "first", 200, "calls of each run that count (0: all)")
	f.IntVar(&b.least, "min-steps", 20, "only runs of so many calls or more")
	f.IntVar(&b.Planted, "planted", 50, "made-up chains")
	f.IntVar(&b.Sums, "summaries", 10, "steps that each model sums up: so many real ones and so many made-up ones")
	f.IntVar(&b.Folds, "folds", 0, "fit a working set's weights for each of so many folds of sessions, by repository or folder, on the others")
	f.StringVar(&b.prices, "prices", engine.PricePresets()[0].Name, "prices by which policies page out: "+presets())
	f.StringVar(&b.format, "format", "", "format of the files (default: found out)")
	f.Uint64Var(&b.Seed, "seed", 1, "of the draws, of made-up sessions and of intervals")
	f.StringVarP(&b.out, "out", "o", "", "folder for tables, figures, plots and what models said")
	return cmd
}

func (a *app) benchControllers(ctx context.Context, args []string, b benchControllers) error {
	models, err := b.find(ctx)
	if err != nil {
		return cancelled(ctx, err)
	}
	sessions, skipped, err := a.sessionsOfFiles(ctx, args, benchEvidence{least: b.least, format: b.format})
	if err != nil {
		return cancelled(ctx, err)
	}
	if len(sessions) == 0 {
		return fmt.Errorf("there is nothing to measure on: no run of %d or more calls; see --min-steps", b.least)
	}
	if err := evidence.CheckFolds(sessions, b.Folds); err != nil {
		return err
	}
	if b.Program, err = programSum(); err != nil {
		return err
	}
	if b.out != "" {
		b.Cache = filepath.Join(b.out, "cache")
		if err := os.MkdirAll(b.out, 0o755); err != nil {
			return err
		}
	}
	var bar *progress
	b.Part = func(name string, pieces int) {
		bar.stop()
		bar = a.progress(name, pieces)
	}
	b.Done = func() { bar.add(1) }
	report, err := controllers.Run(ctx, sessions, models, b.Options)
	bar.stop()
	if err != nil {
		return cancelled(ctx, err)
	}
	report.Manifest.Program, report.Manifest.Least = buildVersion().Version, b.least
	report.Manifest.Command, report.Manifest.Skipped = os.Args, skipped
	if b.out != "" {
		if err := report.Write(b.out); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(report)
	}
	if _, err := report.WriteTo(a.out); err != nil {
		return err
	}
	if b.out != "" && !a.quiet {
		fmt.Fprintf(a.err, "Wrote tables, figures and plots to %s.\n", b.out)
	}
	return nil
}

// find finds the models on the server, before anything is measured.
func (b *benchControllers) find(ctx context.Context) ([]*controllers.Model, error) {
	var out []*controllers.Model
	for _, name := range b.models {
		s := speaker{name: name, host: b.host}
		if err := s.find(ctx); err != nil {
			return nil, err
		}
		if s.rules {
			continue // they are always there
		}
		m, err := controllers.NewModel(ctx, s.doctor.OllamaOptions)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
