package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
)

// pickSession finds the session that want names: by its name, or by what no other has: a prefix of the name, a piece of
// it, of the name of the file it came from, or of what it is about. "" is the only session there is.
func pickSession(infos []engine.SessionInfo, want string) (engine.SessionInfo, error) {
	if len(infos) == 0 {
		return engine.SessionInfo{}, errors.New("the store has no sessions yet; fill it with ctxweaver import")
	}
	if want == "" && len(infos) > 1 {
		return engine.SessionInfo{}, usage("say which session: the store has %d; ctxweaver sessions lists them", len(infos))
	}
	for _, fits := range []func(engine.SessionInfo) bool{
		func(info engine.SessionInfo) bool { return info.Name == want },
		func(info engine.SessionInfo) bool { return strings.HasPrefix(info.Name, want) },
		func(info engine.SessionInfo) bool { return strings.Contains(info.Name, want) },
		func(info engine.SessionInfo) bool {
			return info.Source != "" && strings.Contains(filepath.Base(info.Source), want)
		},
		func(info engine.SessionInfo) bool {
			return strings.Contains(strings.ToLower(what(info)), strings.ToLower(want))
		},
	} {
		var found []engine.SessionInfo
		for _, info := range infos {
			if fits(info) {
				found = append(found, info)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return engine.SessionInfo{}, fmt.Errorf("%q fits %d sessions: %s", want, len(found), someNames(found))
		}
	}
	return engine.SessionInfo{}, fmt.Errorf("no session is named like %q, nor its file or title; ctxweaver sessions lists them", want)
}

// someNames lists up to five.
func someNames(infos []engine.SessionInfo) string {
	var names []string
	for _, info := range infos[:min(5, len(infos))] {
		names = append(names, info.Name)
	}
	if len(infos) > 5 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// session finds the session an argument names.
func session(ctx context.Context, e *engine.Engine, want string) (engine.SessionInfo, error) {
	infos, err := e.Sessions(ctx)
	if err != nil {
		return engine.SessionInfo{}, err
	}
	return pickSession(infos, want)
}

// pickStep finds the step that want names among a session's nodes: by its number on the path to the
// head, by a prefix of its id, or "head". path holds the nodes on that path, all holds those on other
// branches too.
func pickStep(path, all []engine.Node, want string) (engine.Node, error) {
	if len(path) == 0 {
		return engine.Node{}, errors.New("the session has no steps")
	}
	if want == "head" || want == "" {
		return path[len(path)-1], nil
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 0 && n < len(path) {
		return path[n], nil
	}
	var found []engine.Node
	for _, n := range all {
		if strings.HasPrefix(string(n.ID), want) {
			found = append(found, n)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return engine.Node{}, fmt.Errorf("step %q: %d steps have an id that begins so; give more digits", want, len(found))
	}
	return engine.Node{}, fmt.Errorf("step %q: none; name it by its number (0 to %d), by the first digits of its id, or as head", want, len(path)-1)
}

// firstOf gives an argument that may be left out.
func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// sessionAndStep splits the arguments [SESSION] STEP.
func sessionAndStep(args []string) (session, step string) {
	if len(args) == 1 {
		return "", args[0]
	}
	return args[0], args[1]
}

// completeSession offers the names of sessions to the shell.
func (a *app) completeSession(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || a.settle(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	err := a.with(cmd.Context(), func(e *engine.Engine) error {
		infos, err := e.Sessions(cmd.Context())
		for _, info := range infos {
			if oneLine(info.Name) == info.Name { // a shell would print it as it is
				names = append(names, cobra.CompletionWithDesc(info.Name, oneLine(info.Title)))
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
