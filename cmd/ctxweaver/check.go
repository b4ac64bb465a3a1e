package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func newCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the store",
		Long: `Read the whole store and tell of every promise of it that is broken: many alike in one line, and with --json each.
The exit code is 1 if there are any.`,
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
				return a.health(r)
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
func (a *app) health(r graphstore.Report) error {
	if a.json {
		err := a.printJSON(map[string]any{"sessions": r.Sessions, "nodes": r.Nodes, "bodies": r.Bodies, "quads": r.Quads,
			"problems": findings(r.Problems), "repaired": findings(r.Repaired), "lost": findings(r.Lost)})
		if err == nil && len(r.Problems)+len(r.Lost) > 0 {
			err = errReported
		}
		return err
	}
	s := a.style()
	for _, line := range grouped(r.Repaired) {
		a.print("%s %s", s.green("repaired"), oneLine(line))
	}
	for _, line := range grouped(r.Lost) {
		a.print("%s %s", s.red("lost"), oneLine(line))
	}
	for _, line := range grouped(r.Problems) {
		a.print("%s %s", s.red("problem"), oneLine(line))
	}
	if !a.quiet {
		a.print("%s, %s, %s, %s: %s.", plural(r.Sessions, "session"), plural(r.Nodes, "step"), plural(r.Bodies, "long text"), plural(r.Quads, "quad"), verdict(r))
	}
	if len(r.Problems)+len(r.Lost) == 0 {
		return nil
	}
	if !a.quiet {
		a.print("%s", advice(r.Problems))
	}
	return errReported
}

// advice is what to do about problems.
func advice(ps []graphstore.Problem) string {
	var torn, mendable bool
	for _, p := range ps {
		torn, mendable = torn || p.Kind == graphstore.KindTables, mendable || p.Kind.Mendable()
	}
	switch {
	case torn && mendable:
		return "ctxweaver repair makes anew what can be made anew, and says how to save it: a file that was damaged cannot be mended."
	case torn:
		return "A file that was damaged cannot be mended. Restore the folder from a copy, or fill another store with --store NEW: import the traces " +
			"again, or save each session that can be read with ctxweaver export SESSION --output FILE, and import that."
	case mendable:
		return "ctxweaver repair makes anew what can be made anew."
	}
	return "What is left is lost: import the sessions again into another store, or restore the folder from a copy."
}

// grouped tells of problems, one line for those that many steps of a session have, or that many sessions have.
func grouped(ps []graphstore.Problem) []string {
	groups := map[graphstore.Problem][]graphstore.Problem{}
	var order []graphstore.Problem
	for _, p := range ps {
		key := graphstore.Problem{Kind: p.Kind, Detail: p.Detail} // the same in many sessions
		if p.Node != "" {
			key = graphstore.Problem{Session: p.Session, Kind: p.Kind, Node: "some"}
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	var out []string
	for _, key := range order {
		group := groups[key]
		first, n := group[0], len(group)
		switch {
		case n == 1:
			out = append(out, first.String())
		case first.Node != "":
			out = append(out, fmt.Sprintf("session %q: %d of kind %s; the first: node %s: %s", first.Session, n, first.Kind, first.Node, first.Detail))
		default:
			var names []string
			for _, p := range group[:min(n, 5)] {
				names = append(names, p.Session)
			}
			if n > 5 {
				names = append(names, "…")
			}
			out = append(out, fmt.Sprintf("%d sessions: %s: %s (%s)", n, first.Kind, first.Detail, strings.Join(names, ", ")))
		}
	}
	return out
}

func verdict(r graphstore.Report) string {
	var parts []string
	if n := len(r.Repaired); n > 0 {
		parts = append(parts, fmt.Sprintf("%d repaired", n))
	}
	if n := len(r.Lost); n > 0 {
		parts = append(parts, fmt.Sprintf("%d lost", n))
	}
	switch n := len(r.Problems); {
	case n > 0 && len(parts) > 0:
		parts = append(parts, plural(n, "problem")+" left")
	case n > 0:
		return plural(n, "problem")
	case len(parts) > 0:
		parts = append(parts, "nothing is left")
	default:
		return "all is well"
	}
	return strings.Join(parts, ", ")
}
