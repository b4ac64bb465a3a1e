package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newRemove(a *app) *cobra.Command {
	var age string
	var yes, dry bool
	cmd := &cobra.Command{
		Use:   "rm [SESSION]...",
		Short: "Remove sessions with all their steps",
		Long: `Remove sessions with all their steps: those that are named, or those whose newest step is some time old. That goes by
the trace's own clock, where it has one, as sessions shows it, and not by when it was imported. It asks before it
does, unless --yes is given; with --dry-run it only says what it would remove. Run gc afterwards to give the space back at once.`,
		Example: "  ctxweaver rm fix-discounts\n  ctxweaver rm --older-than 30d --dry-run",
		Args:    arguments(0, -1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			var before time.Time
			switch {
			case len(args) == 0 && age == "":
				return usage("say which sessions to remove, by name or with --older-than")
			case len(args) > 0 && age != "":
				return usage("either names or --older-than, not both")
			case age != "":
				d, err := parseAge(age)
				if err != nil {
					return usage("--older-than %w", err)
				}
				before = time.Now().Add(-d)
			}
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				infos, err := e.Sessions(cmd.Context())
				if err != nil {
					return err
				}
				doomed, err := doomed(infos, args, before)
				if err != nil {
					return err
				}
				if dry {
					return a.wouldRemove(doomed)
				}
				return a.remove(cmd.Context(), e, doomed, yes)
			})
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "those whose newest step is so old by the trace's own clock, such as 12h, 30d or 2w")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "say what would be removed, and remove nothing")
	return cmd
}

// parseAge reads a number of hours, days or weeks, such as 12h, 30d or 2w.
func parseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	if len(text) > 1 {
		unit, ok := units[text[len(text)-1:]]
		n, err := strconv.Atoi(text[:len(text)-1])
		if ok && err == nil && n >= 0 && n <= 100_000 {
			return time.Duration(n) * unit, nil
		}
	}
	return 0, fmt.Errorf("%q: want hours, days or weeks, such as 12h, 30d or 2w", text)
}

// doomed are the sessions that are named, or else those whose newest step is from before a time.
func doomed(infos []engine.SessionInfo, names []string, before time.Time) ([]engine.SessionInfo, error) {
	var out []engine.SessionInfo
	seen := map[string]bool{}
	for _, name := range names {
		info, err := pickSession(infos, name)
		if err != nil {
			return nil, err
		}
		if !seen[info.Name] {
			seen[info.Name] = true
			out = append(out, info)
		}
	}
	for _, info := range infos {
		if len(names) == 0 && info.Updated.Before(before) {
			out = append(out, info)
		}
	}
	return out, nil
}

// wouldRemove lists what is to be removed.
func (a *app) wouldRemove(doomed []engine.SessionInfo) error {
	names, steps := sum(doomed)
	if a.json {
		return a.printJSON(map[string]any{"would_remove": names, "steps": steps})
	}
	for _, info := range doomed {
		a.print("%s", oneLine(info.Name))
	}
	if !a.quiet {
		a.print("Would remove %s with %s.", plural(len(doomed), "session"), plural(steps, "step"))
	}
	return nil
}

// sum gives the names of sessions, never nil, and all their steps.
func sum(infos []engine.SessionInfo) (names []string, steps int) {
	names = []string{}
	for _, info := range infos {
		steps += info.Nodes
		names = append(names, info.Name)
	}
	return names, steps
}

func (a *app) remove(ctx context.Context, e *engine.Engine, doomed []engine.SessionInfo, yes bool) error {
	names, steps := sum(doomed)
	what := fmt.Sprintf("%s (%s) with %s", plural(len(doomed), "session"), someNames(doomed), plural(steps, "step"))
	switch {
	case len(doomed) == 0 || yes:
	case !interactive():
		return usage("would remove %s; say --yes, as there is nobody to ask", what)
	default:
		answer, err := a.ask("Remove " + oneLine(what) + "? [y/N]")
		if err != nil {
			return err
		}
		if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
			return errors.New("nothing was removed")
		}
	}
	for _, name := range names {
		if err := e.Delete(ctx, name); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"removed": names, "steps": steps})
	}
	if len(doomed) == 0 {
		a.print("There is nothing to remove.")
		return nil
	}
	a.print("Removed %s.", oneLine(what))
	return nil
}
