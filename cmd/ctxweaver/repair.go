package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newRepair(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "repair",
		Short: "Mend the store",
		Long: `Make anew what can be made anew from the steps that are there: the graph, the order of the steps, the catalog. What
is lost for good is named, and the exit code is then 1. Nothing is thrown away but what cannot be read.`,
		Example:     "  ctxweaver repair",
		Args:        arguments(0, 0),
		Annotations: map[string]string{afterInterrupt: "; what was mended is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				p := a.progress("repair", 0)
				defer p.stop()
				r, err := e.Store().Repair(cmd.Context())
				if err != nil {
					return err
				}
				p.stop()
				return a.health(r)
			})
		},
	}
}
