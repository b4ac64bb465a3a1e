package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

//go:embed demo.jsonl
var demoTrajectory []byte

// demoName is the session that demo --keep stores.
const demoName = "demo"

var demoPolicies = []engine.Policy{engine.Full, engine.LatestN(5), engine.Polling(5, 20), engine.Paper(3, 5), engine.WorkingSet}

func newDemo(a *app) *cobra.Command {
	var keep bool
	var lines int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show on a bundled trajectory what ctxweaver does",
		Long: `Import a bundled trajectory, draw its graph, and set side by side what five policies would have put before the
agent: what they kept, what they lost, and what they cost. It needs no network and leaves nothing behind, unless
--keep puts the session into the store.`,
		Example: "  ctxweaver demo\n  ctxweaver demo --keep && ctxweaver log demo",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context(), keep, lines)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "put the session into the store")
	cmd.Flags().IntVarP(&lines, "last", "n", 24, "steps of the graph to draw (0: all)")
	return cmd
}

func (a *app) demo(ctx context.Context, keep bool, lines int) (err error) {
	ts, err := importer.Read(bytes.NewReader(demoTrajectory), "demo.jsonl", importer.Options{})
	if err != nil {
		return err
	}
	t := ts[0]
	e, err := engine.Open("", &engine.Options{InMemory: true})
	if keep {
		e, err = a.create(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	in := intake{engine: e, claimed: map[string]engine.NodeID{}}
	if _, err := in.sync(ctx, t, demoName, "", ""); err != nil {
		return err
	}
	shown, err := load(ctx, e, demoName)
	if err != nil {
		return err
	}
	trials, err := try(ctx, t)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Graph  graph   `json:"graph"`
			Trials []trial `json:"policies"`
		}{graphOf(shown, 2), trials})
	}
	a.tellDemo(shown, trials, lines, keep)
	return nil
}

// trial is how a policy did over the whole run and at its end.
type trial struct {
	comparison
	Ratio   float64  `json:"cost_ratio"` // to the first policy's
	Whole   int      `json:"whole"`      // observations in the last context
	Omitted int      `json:"omitted"`
	Last    int      `json:"last_tokens"` // of the last context
	Needed  int      `json:"evidence_needed"`
	Held    int      `json:"evidence_held"`
	At      int      `json:"lost_at"` // the call whose losses are listed
	Lost    []string `json:"lost"`
}

// try replays the trajectory under each of the policies.
func try(ctx context.Context, t *importer.Trajectory) ([]trial, error) {
	judge := evidence.NewJudge(t.Steps)
	lost := make([][][]string, len(demoPolicies)) // by policy and call
	var out []trial
	for i, p := range demoPolicies {
		var tr trial
		var score evidence.Score
		follow := judge.Trial()
		err := engine.Replay(ctx, t.Steps, p, engine.ReplayOptions{}, func(call int, w *engine.Window) error {
			r := follow.Add(call, w.Messages)
			score.Add(r)
			lost[i] = append(lost[i], texts(r.Missing))
			tr.Whole, tr.Omitted, tr.Last = fates(w, engine.Whole), fates(w, engine.Omitted), r.Prompt
			return nil
		})
		if err != nil {
			return nil, err
		}
		tr.comparison, tr.Needed, tr.Held = compared(p, score, 0), score.References, score.Held
		out = append(out, tr)
	}
	at := telling(lost)
	for i := range out {
		out[i].Ratio = out[i].Cost / max(1, out[0].Cost)
		out[i].At = at
		out[i].Lost = lost[i][at]
	}
	return out, nil
}

func texts(refs []evidence.Reference) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.Text)
	}
	return out
}

// telling is the newest call for which some policy lost something, or the last where none did.
func telling(lost [][][]string) int {
	last := len(lost[0]) - 1
	for call := last; call >= 0; call-- {
		for _, p := range lost {
			if len(p[call]) > 0 {
				return call
			}
		}
	}
	return last
}

func fates(w *engine.Window, f engine.Fate) int {
	n := 0
	for _, item := range w.Items {
		if item.Fate == f {
			n++
		}
	}
	return n
}

func (a *app) tellDemo(t thread, trials []trial, lines int, keep bool) {
	s := a.style()
	a.print("%s", s.bold(shorten(what(t.info), width())))
	a.print("%s, %s tokens. ● passed  ✗ failed  ⊘ failed, fixed later  ○ no tests; lines lead to what a step rests on.\n", plural(t.info.Nodes, "step"), count(t.info.Tokens))
	a.printLog(t, logView{parents: 2, lanes: 6, last: lines, width: width(), ascii: ascii(), style: s})

	a.print("\n%s", s.bold("What each policy would have put before the agent"))
	tab := table{heads: []column{{head: "POLICY"}, {head: "WHOLE", right: true}, {head: "OMITTED", right: true}, {head: "LAST", right: true},
		{head: "MEAN", right: true}, {head: "UNCACHED", right: true}, {head: "COST", right: true}, {head: "EVIDENCE", right: true}}}
	for _, tr := range trials {
		tab.add(plain(tr.Policy.String(), fmt.Sprint(tr.Whole), fmt.Sprint(tr.Omitted), count(tr.Last), count(int(tr.Tokens)),
			count(int(tr.Uncached)), fmt.Sprintf("%.2f ×", tr.Ratio), fmt.Sprintf("%d/%d (%.0f%%)", tr.Held, tr.Needed, 100*float64(tr.Held)/float64(max(1, tr.Needed))))...)
	}
	a.printTable(&tab)
	a.print(`
Whole, omitted: observations in the last context; last: its tokens (characters / 4). Mean: tokens of a request
over the run; uncached: of those, outside the prefix in common with the request before. Cost: against full,
cached reads at %.1f, writes at %.2f. Evidence: of what the next action takes from old observations alone, how
much was in sight.`, evidence.Relative.Read, evidence.Relative.Write)

	a.print("\n%s", s.bold(fmt.Sprintf("What the agent used in call %d, and would not have seen", trials[0].At)))
	for _, tr := range trials {
		a.print("%-14s %s", tr.Policy, a.lost(tr.Lost))
	}
	name := ""
	if !keep {
		name = "demo --keep && ctxweaver "
	}
	a.print(`
Go on with:
  ctxweaver %slog demo
  ctxweaver import          # your own agents' sessions
  ctxweaver weave --help    # a context, and why it holds what it holds`, name)
}

// lost names a few of the words.
func (a *app) lost(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	var shown []string
	for _, w := range words[:min(4, len(words))] {
		shown = append(shown, shorten(oneLine(w), 40))
	}
	text := a.style().red("lost: ") + strings.Join(shown, ", ")
	if more := len(words) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
