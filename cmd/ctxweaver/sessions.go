package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

func newSessions(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"ls"},
		Short:   "List the sessions in the store, newest first",
		Example: "  ctxweaver sessions\n  ctxweaver sessions --json",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				infos, err := e.Sessions(cmd.Context())
				if err != nil {
					return err
				}
				return a.listSessions(infos)
			})
		},
	}
}

func (a *app) listSessions(infos []engine.SessionInfo) error {
	if a.json {
		if infos == nil {
			infos = []engine.SessionInfo{}
		}
		return a.printJSON(infos)
	}
	if len(infos) == 0 {
		a.print("No sessions yet; fill the store with ctxweaver import.")
		return nil
	}
	t := table{heads: []column{{head: "SESSION", stretch: true, name: true}, {head: "WHAT", stretch: true},
		{head: "STEPS", right: true}, {head: "TOKENS", right: true}, {head: "FORMAT"}, {head: "UPDATED"}}}
	s := a.style()
	for _, info := range infos {
		row := plain(oneLine(info.Name), shorten(what(info), 120), fmt.Sprint(info.Nodes), count(info.Tokens), info.Format, ago(info.Updated, time.Now()))
		row[5].paint = s.dim
		t.add(row...)
	}
	a.printTable(&t)
	return nil
}

// what says in one line what a session is about.
func what(info engine.SessionInfo) string {
	if info.Title != "" {
		return oneLine(info.Title)
	}
	return oneLine(info.Task)
}

// count shortens a number: 950, 12.4k, 3.1M.
func count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// size says how many bytes: 950 B, 12.4 kB, 3.1 MB.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// ago says how long before now a time was, or its day where that is longer ago than a month.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return t.Format("2006-01-02")
}

// plural says how many of something there are.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
