package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

func newExport(a *app) *cobra.Command {
	var output, step string
	cmd := &cobra.Command{
		Use:   "export [SESSION]",
		Short: "Write a session as an ATIF file",
		Long: `Write a session as ATIF v1.7, the Agent Trajectory Interchange Format, with the graph's data in "extra". Importing
the file gives the same steps.`,
		Example: "  ctxweaver export fix-discounts > run.json\n  ctxweaver export fix-discounts --at 20 --output run.json",
		Args:    arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				t, err := load(cmd.Context(), e, firstOf(args))
				if err != nil {
					return err
				}
				end, err := pickStep(t.path, t.all, step)
				if err != nil {
					return err
				}
				nodes, err := whole(cmd.Context(), e, t.info.Name, pathTo(t.all, end.ID))
				if err != nil {
					return err
				}
				return a.export(t.info, nodes, output)
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "file to write (-: standard output)")
	cmd.Flags().StringVar(&step, "at", "head", "up to this step")
	return cmd
}

// whole reads the nodes again, with the text of their observations.
func whole(ctx context.Context, e *engine.Engine, session string, nodes []engine.Node) ([]engine.Node, error) {
	out := make([]engine.Node, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = e.Store().Get(ctx, session, n.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *app) export(info engine.SessionInfo, nodes []engine.Node, output string) (err error) {
	if output == "-" {
		var b bytes.Buffer
		if err := importer.Export(&b, info, nodes); err != nil {
			return err
		}
		_, err := a.out.Write(escaped(b.Bytes()))
		return err
	}
	file, err := os.Create(filepath.Clean(output))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	if err = importer.Export(w, info, nodes); err == nil {
		err = w.Flush()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "Wrote %s to %s.\n", plural(len(nodes), "step"), output)
	}
	return nil
}
