package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

// replay is a run of policies over a file.
type replay struct {
	policies []engine.Policy
	format   string
	emit     string
	session  int // from 1; 0 is the longest
	first    int
	under    terms
	options  engine.ReplayOptions
}

func newReplay(a *app) *cobra.Command {
	var r replay
	var specs []string
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay what a policy would have put before the agent at each step",
		Long: `Replay a trajectory as if it were happening, and write the context that the agent would have had before each
of its calls: a line each, {"step": k, "messages": […]}, in the shape of Chat Completions. Calls are counted from
0; every call of a turn gets the context before that turn. The harness's own compactions are left out.

Without --emit it sums up what each policy costs. No store is needed, and none is left behind. FILE may be - for
standard input. Of a file with several trajectories the one with the most calls is taken, unless --session says
otherwise. Of contexts that stay over --budget the smallest there is counts, and how many there were is told. How long
the agent was idle is not used.

` + helpOnPolicies(),
		Example: `  ctxweaver replay run.jsonl --policy paper:3/5 --emit contexts.jsonl
  ctxweaver replay run.jsonl --policy full --policy window:5 --policy polling:5/20`,
		Args:        arguments(1, 1),
		Annotations: map[string]string{afterInterrupt: "; the contexts written so far are whole"},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range specs {
				p, err := engine.ParsePolicy(s)
				if err != nil {
					return usageError{err}
				}
				r.policies = append(r.policies, p)
			}
			switch {
			case r.session < 0:
				return usage("--session %d: they are counted from 1", r.session)
			case r.first < 0:
				return usage("--first %d: want 0 (all) or more", r.first)
			case r.emit != "" && len(r.policies) != 1:
				return usage("--emit writes the contexts of one policy; --policy names %d", len(r.policies))
			}
			under, weights, err := r.under.settle()
			if err != nil {
				return err
			}
			r.options = engine.ReplayOptions{First: r.first, Budget: under.Budget, Prices: under.Prices, Strategy: under.Strategy, Weights: weights}
			a.tellIdle(cmd.Flags(), r.policies...)
			return a.replay(cmd.Context(), args[0], r)
		},
	}
	f := cmd.Flags()
	f.StringSliceVarP(&specs, "policy", "p", []string{engine.DefaultPolicy.String()}, "how to weave; several to compare them")
	f.StringVar(&r.emit, "emit", "", "write the contexts to this file (-: standard output)")
	f.StringVar(&r.format, "format", "", "format of the file (default: found out)")
	f.IntVar(&r.session, "session", 0, "which trajectory of the file, from 1 (0: the longest)")
	f.IntVar(&r.first, "first", 0, "stop after so many calls (0: all)")
	r.under.flags(f)
	return cmd
}

func (a *app) replay(ctx context.Context, path string, r replay) error {
	ts, err := a.read(ctx, path, importer.Options{Format: r.format})
	if err != nil {
		return err
	}
	t, err := r.choose(ts)
	if err != nil {
		return err
	}
	calls := t.Calls()
	if r.first > 0 {
		calls = min(calls, r.first)
	}
	if r.emit != "" {
		p := a.progress("replay", calls)
		defer p.stop()
		return a.emit(ctx, t, r, p)
	}
	return a.compare(ctx, t, r, calls)
}

// read reads a file's trajectories; - is standard input. It does not wait for it when ctx is done: a pipe may
// never say anything, and a large file takes seconds.
func (a *app) read(ctx context.Context, path string, o importer.Options) ([]*importer.Trajectory, error) {
	type result struct {
		ts  []*importer.Trajectory
		err error
	}
	done := make(chan result, 1)
	go func() {
		ts, err := a.readNow(path, o)
		done <- result{ts, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.ts, r.err
	}
}

func (a *app) readNow(path string, o importer.Options) ([]*importer.Trajectory, error) {
	if path == "-" {
		ts, err := importer.Read(a.in, "", o)
		if err != nil {
			return nil, misnamed(fmt.Errorf("standard input: %w", err))
		}
		return ts, nil
	}
	ts, err := importer.ReadFile(path, o)
	return ts, misnamed(err)
}

// misnamed marks a --format that does not exist as a mistake of the caller.
func misnamed(err error) error {
	if errors.Is(err, importer.ErrFormat) {
		return usageError{err}
	}
	return err
}

// choose gives the trajectory that is meant: of equally long ones the first.
func (r replay) choose(ts []*importer.Trajectory) (*importer.Trajectory, error) {
	if r.session > len(ts) {
		var there []string
		for i, t := range ts[:min(5, len(ts))] {
			there = append(there, fmt.Sprintf("%d %s (%s)", i+1, t.Name, plural(t.Calls(), "call")))
		}
		return nil, usage("--session %d: the file has %d: %s", r.session, len(ts), strings.Join(there, ", "))
	}
	if r.session > 0 {
		return ts[r.session-1], nil
	}
	longest := ts[0]
	for _, t := range ts {
		if t.Calls() > longest.Calls() {
			longest = t
		}
	}
	return longest, nil
}

// emit writes the contexts of one policy to a file or to standard output.
func (a *app) emit(ctx context.Context, t *importer.Trajectory, r replay, p *progress) (err error) {
	out := a.out
	if r.emit != "-" {
		file, cerr := os.Create(filepath.Clean(r.emit))
		if cerr != nil {
			return cerr
		}
		out = bufio.NewWriterSize(file, 1<<20)
		defer func() { // the writer keeps its first error, which Replay may have met already
			flushed := out.Flush()
			if err == nil {
				err = flushed
			}
			err = errors.Join(err, file.Close())
		}()
	}
	lines := contexts{out: out}
	over := 0
	err = engine.Replay(ctx, t.Steps, r.policies[0], r.options, func(call int, w *engine.Window) error {
		p.add(1)
		over += r.over(w)
		return lines.write(call, w.Messages)
	})
	a.tellOver(r, r.policies[0], over)
	return err
}

// over is 1 for a context that is over the budget.
func (r replay) over(w *engine.Window) int {
	if r.under.budget > 0 && w.Tokens > r.under.budget {
		return 1
	}
	return 0
}

func (a *app) tellOver(r replay, p engine.Policy, over int) {
	if over > 0 {
		a.complain(fmt.Sprintf("%s: %s over the budget of %d tokens: what must stay is larger", p, plural(over, "context"), r.under.budget))
	}
}

// comparison is what a policy costs over a run, in tokens as the evidence benchmark counts them.
type comparison struct {
	Policy   engine.Policy `json:"policy"`
	Contexts int           `json:"contexts"`
	Tokens   float64       `json:"mean_tokens"`
	Uncached float64       `json:"mean_uncached_tokens"`
	Share    float64       `json:"uncached_share"`
	Cost     float64       `json:"mean_cost"` // of a request, in tokens at the input price
	Over     int           `json:"over_budget"`
}

func compared(p engine.Policy, s evidence.Score, over int) comparison {
	return comparison{p, s.Requests, s.MeanPrompt(), s.MeanUncached(), s.MeanUncached() / max(1, s.MeanPrompt()), s.Cost(), over}
}

// compare sums up what each policy costs.
func (a *app) compare(ctx context.Context, t *importer.Trajectory, r replay, calls int) error {
	p := a.progress("replay", calls*len(r.policies))
	defer p.stop()
	out := []comparison{}
	judge := evidence.NewJudge(t.Steps)
	for _, policy := range r.policies {
		trial := judge.Trial()
		var score evidence.Score
		over := 0
		err := engine.Replay(ctx, t.Steps, policy, r.options, func(call int, w *engine.Window) error {
			p.add(1)
			over += r.over(w)
			score.Add(trial.Add(call, w.Messages))
			return nil
		})
		if err != nil {
			return err
		}
		out = append(out, compared(policy, score, over))
	}
	p.stop()
	for _, c := range out {
		a.tellOver(r, c.Policy, c.Over)
	}
	if a.json {
		return a.printJSON(out)
	}
	tab := table{heads: []column{{head: "POLICY"}, {head: "CONTEXTS", right: true}, {head: "MEAN TOKENS", right: true},
		{head: "UNCACHED", right: true}, {head: "SHARE", right: true}, {head: "COST", right: true}}}
	for _, c := range out {
		tab.add(plain(c.Policy.String(), fmt.Sprint(c.Contexts), count(int(c.Tokens)), count(int(c.Uncached)),
			fmt.Sprintf("%.0f%%", 100*c.Share), count(int(c.Cost)))...)
	}
	a.printTable(&tab)
	if !a.quiet {
		a.print("")
		a.print("%s, %s. Uncached: outside the longest common prefix with the request before.", oneLine(t.Name), plural(len(t.Steps), "step"))
		a.print("Tokens are characters / 4. Cost: of a request, in tokens at the input price; cached reads at %.1f, writes at %.2f.",
			evidence.Relative.Read, evidence.Relative.Write)
	}
	return nil
}
