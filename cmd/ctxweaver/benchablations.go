package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

func newBenchAblations(a *app) *cobra.Command {
	var b benchEvidence
	cmd := &cobra.Command{
		Use:   "ablations [FILE|DIR]...",
		Short: "What each part of a policy brings",
		Long: `Measure a policy with each of its parts left out or set otherwise, against the whole, on the same sessions: without
the labels of validation; without what the graph says; with so many parents walked of a step (m; with 1 the graph is a
tree, with more a DAG) and so many ancestors (W); under each strategy. Of paper and paper-tail the name has m and W.

It is "ctxweaver bench evidence" with these variants as policies, and measures and keeps as that does.`,
		Example: `  ctxweaver bench ablations runs/ --folds 6
  ctxweaver bench ablations runs/ --policies workingset,paper-tail:3/5 --out results/`,
		Args:        arguments(0, -1),
		Annotations: map[string]string{afterInterrupt: "; with --out, what is finished is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, policy := range b.policies {
				variants, err := evidence.Ablations(policy)
				if err != nil {
					return usageError{err}
				}
				names = append(names, variants...)
			}
			b.policies = names
			if err := b.check(args); err != nil {
				return err
			}
			return a.benchEvidence(cmd.Context(), args, b)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVarP(&b.policies, "policies", "p", []string{"workingset"}, "whose parts to measure")
	b.flags(f)
	return cmd
}
