package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newUndo(a *app) *cobra.Command {
	var spec string
	cmd := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Take a page-out back",
		Long: `Take the newest page-out of a working set back: the agent's next request has whole again what it took, and for
the next 20 observations no page-out takes that again, unless a budget could not be kept otherwise. Called again
it takes back the page-out before.

It is for agents whose requests are woven by Session.Weave in Go. The commands weave, diff and replay only look: what
they show as paged out is not so for any agent, and there is nothing to take back.`,
		Example: "  ctxweaver undo\n  ctxweaver undo fix-discounts --policy workingset:lean",
		Args:    arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			policy, err := engine.ParsePolicy(spec)
			if err != nil {
				return usageError{err}
			}
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				info, err := session(cmd.Context(), e, firstOf(args))
				if err != nil {
					return err
				}
				if err := e.Session(info.Name).Undo(cmd.Context(), policy); err != nil {
					return err
				}
				switch {
				case a.json:
					return a.printJSON(struct {
						Session string        `json:"session"`
						Policy  engine.Policy `json:"policy"`
					}{info.Name, policy})
				case !a.quiet:
					a.print("The newest page-out of %s under %s is taken back.", oneLine(info.Name), policy)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&spec, "policy", "p", engine.DefaultPolicy.String(), "whose page-out")
	return cmd
}
