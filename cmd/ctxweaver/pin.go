package main

import (
	"context"
	"fmt"
	"slices"

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
			return a.pin(cmd.Context(), engine.Handle(args[0]), true)
		},
	}
}

func newUnpin(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "unpin HANDLE",
		Short:   "Take a pin back",
		Long:    "Take a pin back: the next page-out may take the observation. It is no error if there was no pin.",
		Example: "  ctxweaver unpin 3fa9c2d1b0.1",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pin(cmd.Context(), engine.Handle(args[0]), false)
		},
	}
}

// pinning is what pin or unpin did.
type pinning struct {
	Session string        `json:"session"`
	Handle  engine.Handle `json:"handle"`
	Seq     int           `json:"seq"`
	Pinned  bool          `json:"pinned"`
	Changed bool          `json:"changed"` // false: it was so before
}

func (p pinning) String() string {
	state := "was not pinned"
	switch {
	case p.Pinned && p.Changed:
		state = "is pinned"
	case p.Pinned:
		state = "was pinned already"
	case p.Changed:
		state = "is no longer pinned"
	}
	return fmt.Sprintf("%s: step %d of %s %s", p.Handle, p.Seq, oneLine(p.Session), state)
}

func (a *app) pin(ctx context.Context, h engine.Handle, want bool) error {
	return a.with(ctx, func(e *engine.Engine) error {
		r, err := e.Recall(ctx, h)
		if err != nil {
			return err
		}
		s := e.Session(r.Session)
		before, err := s.Pins(ctx)
		if err != nil {
			return err
		}
		do := s.Unpin
		if want {
			do = s.Pin
		}
		if err := do(ctx, h); err != nil {
			return err
		}
		after, err := s.Pins(ctx)
		if err != nil {
			return err
		}
		did := pinning{r.Session, h, r.Node.Seq, want, !slices.Equal(before, after)}
		switch {
		case a.json:
			return a.printJSON(did)
		case !a.quiet:
			a.print("%s", did)
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
