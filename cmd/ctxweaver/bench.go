package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure policies, their parts and controllers, and fit weights, on trajectories of your own",
		Example: `  ctxweaver bench evidence runs/
  ctxweaver bench ablations runs/
  ctxweaver bench controllers runs/ --models all-minilm,qwen2.5:0.5b/scores
  ctxweaver bench fit runs/ --out mine.json`,
		Args: unknownCommand,
		RunE: help,
	}
	cmd.AddCommand(newBenchEvidence(a), newBenchAblations(a), newBenchControllers(a), newBenchFit(a))
	return cmd
}

// benchSessions reads what to measure on. Files that cannot be read are told of and left out.
func (a *app) benchSessions(ctx context.Context, args []string, b benchEvidence) (sessions []evidence.Session, skipped []string, err error) {
	switch {
	case b.stored:
		err = a.with(ctx, func(e *engine.Engine) error {
			sessions, err = storedSessions(ctx, e, args, b.least)
			return err
		})
		sessions, skipped = a.distinct(sessions, nil)
		return sessions, skipped, err
	case b.contexts != "":
		sessions, err = evidence.ReadSessions(b.file, importer.Options{Format: b.format}, 0)
		if err != nil || len(sessions) == 0 {
			return nil, nil, err
		}
		longest := sessions[0]
		for _, s := range sessions {
			if s.Calls > longest.Calls {
				longest = s
			}
		}
		return []evidence.Session{longest}, nil, nil
	}
	return a.sessionsOfFiles(ctx, args, b)
}

func (a *app) sessionsOfFiles(ctx context.Context, args []string, b benchEvidence) (sessions []evidence.Session, skipped []string, err error) {
	paths, _, failures := gatherFiles(args)
	p := a.progress("read", len(paths))
	defer p.stop()
	type file struct {
		sessions []evidence.Session
		err      error
	}
	files := make([]file, len(paths))
	var group errgroup.Group
	group.SetLimit(2)
	for i, path := range paths {
		group.Go(func() error {
			if ctx.Err() == nil {
				files[i].sessions, files[i].err = evidence.ReadSessions(path, importer.Options{Format: b.format}, b.least)
			}
			p.add(1)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if f.err != nil {
			failures = append(failures, f.err)
		}
		sessions = append(sessions, f.sessions...)
	}
	p.stop()
	for _, f := range failures {
		a.complain(f.Error())
		skipped = append(skipped, f.Error())
	}
	sessions, skipped = a.distinct(sessions, skipped)
	return sessions, skipped, nil
}

// distinct leaves out copies of runs, and tells of them.
func (a *app) distinct(sessions []evidence.Session, skipped []string) ([]evidence.Session, []string) {
	sessions, copies := evidence.Distinct(sessions)
	for _, c := range copies {
		a.complain(c)
	}
	return sessions, append(skipped, copies...)
}

// writable tells before hours of measuring that a file could not be written after them.
func writable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // who reads a pipe would take this for all there is
	}
	file, failed := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if failed != nil {
		return failed
	}
	failed = file.Close()
	if err != nil { // there was none
		failed = errors.Join(failed, os.Remove(path))
	}
	return failed
}

// storedSessions are those that are named, or all, as long as they have enough calls.
func storedSessions(ctx context.Context, e *engine.Engine, names []string, least int) ([]evidence.Session, error) {
	if len(names) == 0 {
		infos, err := e.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			names = append(names, info.Name)
		}
	}
	var out []evidence.Session
	for _, name := range names {
		t, err := load(ctx, e, name)
		if err != nil {
			return nil, err
		}
		nodes, err := whole(ctx, e, t.info.Name, t.path)
		if err != nil {
			return nil, err
		}
		var steps []engine.Step
		for _, n := range nodes {
			steps = append(steps, n.Step)
		}
		s, err := evidence.NewSession(t.info.Name, t.info.Format, filepath.Base(t.info.Dir), steps)
		if err != nil {
			return nil, err
		}
		if s.Calls >= max(1, least) {
			out = append(out, s)
		}
	}
	return out, nil
}
