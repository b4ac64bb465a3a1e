package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newGC(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "gc",
		Short:       "Give back the space of what was removed",
		Example:     "  ctxweaver rm --older-than 30d --yes && ctxweaver gc",
		Args:        arguments(0, 0),
		Annotations: map[string]string{afterInterrupt: "; nothing is lost, and gc can be run again"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				p := a.progress("gc", 0)
				defer p.stop()
				space, err := e.Store().Compact(cmd.Context())
				if err != nil {
					return err
				}
				p.stop()
				if a.json {
					return a.printJSON(map[string]int64{"before": space.Before, "after": space.After})
				}
				a.print("%s before, %s after.", size(space.Before), size(space.After))
				return nil
			})
		},
	}
}
