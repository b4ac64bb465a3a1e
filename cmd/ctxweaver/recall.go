package main

import (
	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newRecall(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recall HANDLE",
		Short: "Bring back what a placeholder stands for",
		Long: `Bring back an observation by its handle, as weave and show print it: the first digits of a step's id, a dot and
the call's number. Without dot and number it is all observations of the step. The text comes out byte for
byte; only on a terminal are control characters shown instead of sent.`,
		Example: "  ctxweaver recall 3fa9c2d1b0.1\n  ctxweaver recall 3fa9c2d1b0 > all.txt",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				r, err := e.Recall(cmd.Context(), engine.Handle(args[0]))
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(recalled(r))
				}
				text := r.Text()
				if onTerminal() {
					text = visible(text)
				}
				_, err = a.out.WriteString(text)
				return err
			})
		},
	}
}

// recall is what a handle stands for, with where it comes from.
type recall struct {
	Session string        `json:"session"`
	Step    engine.NodeID `json:"step"`
	Seq     int           `json:"seq"`
	Calls   []recallCall  `json:"calls"`
}

type recallCall struct {
	Handle      engine.Handle       `json:"handle"`
	Name        string              `json:"name"`
	Args        string              `json:"args"`
	Tokens      int                 `json:"tokens"`
	Lines       int                 `json:"lines"`
	Observation *engine.Observation `json:"observation"`
}

func recalled(r engine.Recalled) recall {
	out := recall{Session: r.Session, Step: r.Node.ID, Seq: r.Node.Seq, Calls: []recallCall{}}
	for i, c := range r.Node.Step.Calls {
		if c.Observation != nil && (r.Call < 0 || r.Call == i) {
			out.Calls = append(out.Calls, recallCall{engine.NewHandle(r.Node.ID, i), c.Name, c.Args,
				at(r.Node.Tokens.Observations, i), at(r.Node.Lines, i), c.Observation})
		}
	}
	return out
}
