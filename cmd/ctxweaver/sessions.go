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
		Long: `List the sessions in the store, newest first. Other commands take a session by its name, or by what no other has: the
beginning or a piece of its name, a piece of the name of the file that it came from, or of what it is about.`,
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
