package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newWeave(a *app) *cobra.Command {
	var spec, step string
	var items, messages bool
	var under terms
	cmd := &cobra.Command{
		Use:   "weave [SESSION]",
		Short: "Weave the context of the next request",
		Long: `Weave the context of the next request, and say what became of each observation and why. With --messages the
context itself is written, as JSON in the shape of Chat Completions.

FATE is whole, omitted, or in part: omitted where it stood, but the lines that WHY names are shown again behind the
observation of a later step. Only with --items those of which nothing is in sight are listed too. HANDLE is what recall
and pin take.

It is a look only: what a working set decides here is not kept, so that it never changes what an agent's own next
request will be. Where what must stay is larger than --budget, the smallest context there is comes out all the same,
and the exit code is 1.

` + helpOnPolicies(),
		Example: `  ctxweaver weave --policy paper:3/5
  ctxweaver weave fix-discounts --policy window:5 --at 20 --items
  ctxweaver weave fix-discounts --policy polling:5/20 --messages > request.json`,
		Args: arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			policy, err := engine.ParsePolicy(spec)
			if err != nil {
				return usageError{err}
			}
			request, weights, err := under.settle()
			if err != nil {
				return err
			}
			a.weights = weights
			a.tellIdle(cmd.Flags(), policy)
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				t, err := load(cmd.Context(), e, firstOf(args))
				if err != nil {
					return err
				}
				n, err := pickStep(t.path, t.all, step)
				if err != nil {
					return err
				}
				request.Policy, request.At, request.Dry = policy, n.ID, true
				w, err := e.Session(t.info.Name).Weave(cmd.Context(), request)
				switch {
				case err != nil && !errors.Is(err, engine.ErrBudget):
					return err
				case messages:
					return errors.Join(err, a.printJSON(w.Messages))
				case a.json:
					return errors.Join(err, a.printJSON(w))
				}
				a.printWindow(t, w, items)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&spec, "policy", "p", engine.DefaultPolicy.String(), "how to weave")
	f.StringVar(&step, "at", "head", "weave as it was after this step")
	f.BoolVar(&items, "items", false, "list every observation, not only what is whole")
	f.BoolVar(&messages, "messages", false, "write the context itself")
	under.flags(f)
	return cmd
}

// printWindow tells what became of the observations: of those of which nothing is in sight only how many, unless
// all are wanted.
func (a *app) printWindow(t thread, w *engine.Window, all bool) {
	s := a.style()
	tab := table{heads: []column{{head: "STEP", right: true}, {head: "HANDLE"}, {head: "FATE"}, {head: "TOKENS", right: true}, {head: "OF", right: true},
		{head: "WHAT", stretch: true}, {head: "WHY", stretch: true, wrap: true}}}
	for _, item := range w.Items {
		if !all && (item.Fate == engine.Omitted && len(item.In) == 0 || item.Fate == engine.Summarised || item.Fate == engine.Said) {
			continue
		}
		n, fate, why := t.path[item.Seq], string(item.Fate), oneLine(item.Reason)
		if len(item.In) > 0 {
			fate, why = "in part", lines(item.In)+"; "+why
		}
		row := plain(numbered(n, item.Call), string(item.Handle), fate, count(item.Tokens), count(item.Full), done(n, t.info.Dir), why)
		if item.Fate == engine.Omitted {
			row[2].paint = s.dim
		}
		tab.add(row...)
	}
	a.printTable(&tab)
	if !a.quiet {
		a.print("")
		a.printTotals(w)
	}
}

// printTotals says of the whole context what it holds and costs.
func (a *app) printTotals(w *engine.Window) {
	fates := map[engine.Fate]int{}
	for _, item := range w.Items {
		fates[item.Fate]++
	}
	parts := []string{}
	for _, f := range []engine.Fate{engine.Whole, engine.Omitted, engine.Summarised, engine.Waiting, engine.Said} {
		if fates[f] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", fates[f], f))
		}
	}
	a.print("%s of %s: %s messages, %s tokens of %s (%.0f%%); %s", w.Policy, oneLine(w.Session), fmt.Sprint(len(w.Messages)), count(w.Tokens), count(w.Full),
		100*float64(w.Tokens)/float64(max(1, w.Full)), strings.Join(parts, ", "))
	if e := w.Epoch; e != nil && e.PageOuts > 0 {
		a.print("%s; the newest after step %d, %s and %s ago: %s tokens out, %s back in since", plural(e.PageOuts, "page-out"), e.After,
			plural(e.Requests, "request"), plural(e.Observations, "observation"), count(e.PagedOut), count(e.PagedIn))
	}
	if e := w.Epoch; e != nil && e.Strategy != "" {
		a.print("strategy %s: %s", e.Strategy, e.Because)
	}
}

// numbered is a step's number, with the call's where it has several.
func numbered(n engine.Node, call int) string {
	if call >= 0 && len(n.Step.Calls) > 1 {
		return fmt.Sprintf("%d.%d", n.Seq, call+1)
	}
	return fmt.Sprint(n.Seq)
}

// lines names what is paged in of an observation: "lines 3-9, 20 behind step 19, line 50 behind step 22".
func lines(parts []engine.Part) string {
	var said []string
	for len(parts) > 0 {
		seq, spans := parts[0].Seq, []string{}
		for ; len(parts) > 0 && parts[0].Seq == seq; parts = parts[1:] {
			spans = append(spans, span(parts[0]))
		}
		spans = slices.Compact(spans) // several parts of one long line
		word := "lines"
		if len(spans) == 1 && !strings.Contains(spans[0], "-") {
			word = "line"
		}
		said = append(said, fmt.Sprintf("%s %s behind step %d", word, strings.Join(spans, ", "), seq))
	}
	return strings.Join(said, ", ")
}

func span(p engine.Part) string {
	if p.FromLine == p.ToLine {
		return fmt.Sprint(p.FromLine)
	}
	return fmt.Sprintf("%d-%d", p.FromLine, p.ToLine)
}
