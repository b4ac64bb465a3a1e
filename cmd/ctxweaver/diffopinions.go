package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// diffOpinions compares what two controllers said of a session.
func (a *app) diffOpinions(ctx context.Context, want string, names []string) error {
	if len(names) != 2 || names[0] == names[1] {
		return usage("--controllers: want two names, as rules,smollm2:135m/chat")
	}
	return a.with(ctx, func(e *engine.Engine) error {
		t, err := load(ctx, e, want)
		if err != nil {
			return err
		}
		there, err := e.Store().Opiners(ctx, t.info.Name)
		if err != nil {
			return err
		}
		names := slices.Clone(names)
		var said [2]map[engine.NodeID]engine.Opinion
		for i, want := range names {
			if names[i], err = opiner(there, want, t.info.Name); err != nil {
				return err
			}
			if said[i], err = e.Store().Opinions(ctx, t.info.Name, names[i]); err != nil {
				return err
			}
		}
		if names[0] == names[1] {
			return usage("--controllers: both are %s, want two", names[0])
		}
		g := engine.Agree(t.path, said[0], said[1])
		if a.json {
			return a.printJSON(struct {
				Session string `json:"session"`
				A       string `json:"a"`
				B       string `json:"b"`
				engine.Agreement
			}{t.info.Name, names[0], names[1], g})
		}
		a.printAgreement(t, g, names)
		return nil
	})
}

// opiner is the controller that want names, among those that have said something of a session: by its whole name, or
// by the model alone where that was asked in one way.
func opiner(there []string, want, session string) (string, error) {
	model, ask := asked(want)
	var found []string
	for _, by := range there {
		switch m, how := asked(by); {
		case by == want:
			return by, nil
		case controller.SameModel(m, model) && (ask == "" || how == ask):
			found = append(found, by)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s has said nothing of %s%s; ask with ctxweaver reweave %s --controller %s", want, session, among(there), session, want)
	case 1:
		return found[0], nil
	}
	return "", usage("--controllers: %s was asked in %d ways; name one of %s", want, len(found), strings.Join(found, ", "))
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (but " + strings.Join(names, ", ") + ")"
}

func (a *app) printAgreement(t thread, g engine.Agreement, names []string) {
	tab := table{heads: []column{{head: "STEP", right: true}, {head: "WHAT", stretch: true}, {head: "BOTH"}, {head: "ONLY " + oneLine(names[0])}, {head: "ONLY " + oneLine(names[1])}, {head: "SUMMARIES"}}}
	for _, d := range g.Differences {
		differ := ""
		if d.Summaries != nil {
			differ = "differ"
		}
		tab.add(plain(fmt.Sprint(d.Seq), done(t.node(d.Node), t.info.Dir), t.numbers(d.Both), t.numbers(d.OnlyA), t.numbers(d.OnlyB), differ)...)
	}
	if len(g.Differences) > 0 {
		a.printTable(&tab)
		a.print("")
	}
	edges := g.Both + g.OnlyA + g.OnlyB
	a.print("of %s, %d have the same parents by both and %d the same best parent; of %s, both have %d (%.0f%%), only %s %d, only %s %d", plural(g.Steps, "step"),
		g.Same, g.Best, plural(edges, "edge"), g.Both, 100*float64(g.Both)/float64(max(1, edges)), oneLine(names[0]), g.OnlyA, oneLine(names[1]), g.OnlyB)
	if g.SummedUp > 0 {
		a.print("of %s that both sum up, %d alike", plural(g.SummedUp, "step"), g.Summaries)
	}
}

// numbers names steps by their numbers, up to ten.
func (t thread) numbers(ids []engine.NodeID) string {
	var out []string
	for i, id := range ids {
		if i == 10 {
			out = append(out, "…")
			break
		}
		out = append(out, t.number(id))
	}
	return strings.Join(out, " ")
}
