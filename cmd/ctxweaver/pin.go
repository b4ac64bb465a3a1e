package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newPin(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pin HANDLE",
		Short: "Keep an observation before the agent",
		Long: `Keep an observation before the agent: a working set never pages it out, and if it is away already, the next request
pages it in whole. HANDLE is as weave prints it; without a call's number it is all observations of the step. Other
policies know no pins.`,
		Example: "  ctxweaver pin 3fa9c2d1b0.1\n  ctxweaver pins",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pin(cmd.Context(), engine.Handle(args[0]), "pinned", (*engine.Session).Pin)
		},
	}
}

func newUnpin(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "unpin HANDLE",
		Short:   "Take a pin back",
		Long:    "Take a pin back: the next page-out may take the observation.",
		Example: "  ctxweaver unpin 3fa9c2d1b0.1",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pin(cmd.Context(), engine.Handle(args[0]), "no longer pinned", (*engine.Session).Unpin)
		},
	}
}

func (a *app) pin(ctx context.Context, h engine.Handle, done string, do func(*engine.Session, context.Context, engine.Handle) error) error {
	return a.with(ctx, func(e *engine.Engine) error {
		r, err := e.Recall(ctx, h)
		if err != nil {
			return err
		}
		if err := do(e.Session(r.Session), ctx, h); err != nil {
			return err
		}
		if !a.quiet {
			a.print("%s: step %d of %s is %s", h, r.Node.Seq, oneLine(r.Session), done)
		}
		return nil
	})
}

// pinned is an observation that is pinned.
type pinned struct {
	Handle engine.Handle `json:"handle"`
	Seq    int           `json:"seq"`
	Tokens int           `json:"tokens"`
	Did    string        `json:"summary"`
}

func newPins(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "pins [SESSION]",
		Short:   "List what is pinned",
		Example: "  ctxweaver pins\n  ctxweaver pins fix-discounts --json",
		Args:    arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				return a.listPins(cmd.Context(), e, firstOf(args))
			})
		},
	}
}

func (a *app) listPins(ctx context.Context, e *engine.Engine, want string) error {
	info, err := session(ctx, e, want)
	if err != nil {
		return err
	}
	handles, err := e.Session(info.Name).Pins(ctx)
	if err != nil {
		return err
	}
	out := []pinned{}
	tab := table{heads: []column{{head: "HANDLE"}, {head: "STEP", right: true}, {head: "TOKENS", right: true}, {head: "WHAT", stretch: true}}}
	for _, h := range handles {
		r, err := e.Recall(ctx, h)
		if err != nil {
			return err
		}
		p := pinned{h, r.Node.Seq, at(r.Node.Tokens.Observations, r.Call), r.Node.Summary}
		out = append(out, p)
		tab.add(plain(string(h), fmt.Sprint(p.Seq), count(p.Tokens), done(r.Node, info.Dir))...)
	}
	switch {
	case a.json:
		return a.printJSON(out)
	case len(out) == 0:
		a.print("nothing is pinned")
		return nil
	}
	a.printTable(&tab)
	return nil
}
