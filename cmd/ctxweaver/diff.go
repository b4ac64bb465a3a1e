package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ctxweaver/ctxweaver/engine"
)

// comparing is what diff is asked for.
type comparing struct {
	policy, with string
	at, and      string
	controllers  []string
	under        terms
}

func newDiff(a *app) *cobra.Command {
	var c comparing
	cmd := &cobra.Command{
		Use:   "diff [SESSION]",
		Short: "Compare the contexts of two requests or two policies, or the opinions of two controllers",
		Long: `Compare two contexts of a session: those of two requests under one policy (--at and --and), or those of one request
under two policies (--with). It says what became of each observation that stands differently, and what the two have
in common from their start, which is what a cache could serve. "Now lines 3-9 behind step 19" are lines of an omitted
observation that are shown again behind the one of step 19; those of which only the placeholder is another one
are not listed but counted.

Or, with --controllers, compare what two controllers said that its steps rest on (see reweave): of each step the parents
that both have, and those that only one has.

` + helpOnPolicies(),
		Example: `  ctxweaver diff --policy workingset --at 40 --and 41
  ctxweaver diff fix-discounts --policy paper:3/5 --with workingset --at 40
  ctxweaver diff fix-discounts --controllers rules,smollm2:135m/chat`,
		Args: arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(c.controllers) > 0 {
				for _, name := range []string{"policy", "with", "at", "and"} {
					if cmd.Flags().Changed(name) {
						return usage("--controllers compares opinions on steps, --%s is about contexts; give one of them", name)
					}
				}
				return a.diffOpinions(cmd.Context(), firstOf(args), c.controllers)
			}
			if c.and != "" && c.with != "" {
				return usage("--and compares two requests and --with two policies; give one of --and and --with")
			}
			if c.and == "" && c.with == "" {
				return usage("say what to compare with: --and STEP, another request, --with POLICY, another policy, or --controllers A,B")
			}
			return a.diff(cmd.Context(), cmd.Flags(), firstOf(args), c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&c.policy, "policy", "p", engine.DefaultPolicy.String(), "how to weave")
	f.StringVar(&c.with, "with", "", "and how else")
	f.StringVar(&c.at, "at", "head", "as it was after this step")
	f.StringVar(&c.and, "and", "", "and after this one")
	f.StringSliceVar(&c.controllers, "controllers", nil, "two controllers, whose opinions are compared")
	c.under.flags(f)
	return cmd
}

func (a *app) diff(ctx context.Context, flags *pflag.FlagSet, want string, c comparing) error {
	var policies [2]engine.Policy
	for i, spec := range []string{c.policy, c.with} {
		if spec == "" {
			spec = c.policy
		}
		p, err := engine.ParsePolicy(spec)
		if err != nil {
			return usageError{err}
		}
		policies[i] = p
	}
	steps := [2]string{c.at, c.at}
	if c.and != "" {
		steps[1] = c.and
	}
	request, weights, err := c.under.settle()
	if err != nil {
		return err
	}
	a.weights = weights
	a.tellIdle(flags, policies[:]...)
	return a.with(ctx, func(e *engine.Engine) error {
		t, err := load(ctx, e, want)
		if err != nil {
			return err
		}
		var windows [2]*engine.Window
		for i, step := range steps {
			n, err := pickStep(t.path, t.all, step)
			if err != nil {
				return err
			}
			request.Policy, request.At, request.Dry = policies[i], n.ID, true
			windows[i], err = e.Session(t.info.Name).Weave(ctx, request)
			if err != nil && !errors.Is(err, engine.ErrBudget) {
				return err
			}
			steps[i] = fmt.Sprintf("%s after step %d", policies[i], n.Seq)
		}
		d := engine.Diff(windows[0], windows[1])
		if a.json {
			return a.printJSON(d)
		}
		a.printDiff(t, d, windows, steps)
		return nil
	})
}

func (a *app) printDiff(t thread, d engine.Difference, windows [2]*engine.Window, names [2]string) {
	tab := table{heads: []column{{head: "STEP", right: true}, {head: "CHANGE", stretch: true, wrap: true}, {head: "TOKENS", right: true},
		{head: "WHAT", stretch: true}, {head: "WHY", stretch: true, wrap: true}}}
	alike, tokens := 0, 0 // but for the placeholder
	for _, c := range d.Changes {
		change := changed(c.A, c.B)
		if change == "" {
			alike++
			tokens += c.B.Tokens - c.A.Tokens
			continue
		}
		n := t.path[c.Seq]
		why := c.B.Reason
		if c.B.Fate == "" {
			why = c.A.Reason
		}
		tab.add(plain(numbered(n, c.Call), change, fmt.Sprintf("%+d", c.B.Tokens-c.A.Tokens), done(n, t.info.Dir), oneLine(why))...)
	}
	if len(tab.rows) > 0 {
		a.printTable(&tab)
	}
	if alike > 0 {
		a.print("%s omitted in both, with another placeholder: %+d tokens", observations(alike, "is", "are"), tokens)
	}
	if a.quiet {
		return
	}
	if len(d.Changes) > 0 {
		a.print("")
	}
	for i, w := range windows {
		a.print("%s: %d messages, %s tokens", names[i], len(w.Messages), count(w.Tokens))
	}
	a.print("in common from the start: %d messages, %s tokens; %s otherwise", d.Messages, count(d.Tokens), observations(len(d.Changes), "stands", "stand"))
}

// observations counts them, with the verb for one or for several.
func observations(n int, one, several string) string {
	if n == 1 {
		return "1 observation " + one
	}
	return fmt.Sprintf("%d observations %s", n, several)
}

// changed says what differs between two sights of an observation; "" is nothing but the tokens of what stands for it.
func changed(a, b engine.Sight) string {
	var said []string
	if a.Fate != b.Fate {
		said = append(said, fate(a)+" → "+fate(b))
	}
	if in := without(b.In, a.In); len(in) > 0 {
		said = append(said, "now "+lines(in))
	}
	if out := without(a.In, b.In); len(out) > 0 {
		said = append(said, "no longer "+lines(out))
	}
	return strings.Join(said, "; ")
}

func fate(s engine.Sight) string {
	if s.Fate == "" {
		return "not there"
	}
	return string(s.Fate)
}

// without are the parts that others do not have.
func without(parts, others []engine.Part) []engine.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p engine.Part) bool { return slices.Contains(others, p) })
}
