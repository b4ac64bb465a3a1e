package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func newCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Look for damage in the store",
		Long:    "Read the whole store and name every promise of it that is broken. The exit code is 1 if there are any.",
		Example: "  ctxweaver check\n  ctxweaver check --json",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				p := a.progress("check", 0)
				defer p.stop()
				r, err := e.Store().Check(cmd.Context())
				if err != nil {
					return err
				}
				p.stop()
				return a.health(r, "ctxweaver repair makes anew what can be made anew.")
			})
		},
	}
}

// finding is a broken promise, for other programs.
type finding struct {
	Session string            `json:"session,omitempty"`
	Node    graphstore.NodeID `json:"node,omitempty"`
	Kind    graphstore.Kind   `json:"kind"`
	Detail  string            `json:"detail"`
}

func findings(ps []graphstore.Problem) []finding {
	out := []finding{}
	for _, p := range ps {
		out = append(out, finding(p))
	}
	return out
}

// health tells what Check or Repair found, and fails if problems remain.
func (a *app) health(r graphstore.Report, advice string) error {
	if a.json {
		err := a.printJSON(map[string]any{"sessions": r.Sessions, "nodes": r.Nodes, "bodies": r.Bodies, "quads": r.Quads,
			"problems": findings(r.Problems), "repaired": findings(r.Repaired)})
		if err == nil && len(r.Problems) > 0 {
			err = errReported
		}
		return err
	}
	s := a.style()
	for _, p := range r.Repaired {
		a.print("%s %s", s.green("repaired"), oneLine(p.String()))
	}
	for _, p := range r.Problems {
		a.print("%s %s", s.red("problem"), oneLine(p.String()))
	}
	if !a.quiet {
		a.print("%s, %s, %s, %s: %s.", plural(r.Sessions, "session"), plural(r.Nodes, "step"), plural(r.Bodies, "long text"), plural(r.Quads, "quad"), verdict(r))
	}
	if len(r.Problems) == 0 {
		return nil
	}
	if !a.quiet {
		a.print("%s", advice)
	}
	return errReported
}

func verdict(r graphstore.Report) string {
	switch {
	case len(r.Problems) > 0 && len(r.Repaired) > 0:
		return fmt.Sprintf("%d repaired, %s left", len(r.Repaired), plural(len(r.Problems), "problem"))
	case len(r.Problems) > 0:
		return plural(len(r.Problems), "problem")
	case len(r.Repaired) > 0:
		return fmt.Sprintf("%d repaired, nothing is left", len(r.Repaired))
	}
	return "all is well"
}
