package main

import (
	"fmt"
	"strconv"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// graph is a session as nodes and edges, for other programs.
type graph struct {
	Session string        `json:"session"`
	Head    engine.NodeID `json:"head,omitempty"`
	Nodes   []graphNode   `json:"nodes"`
	Edges   []graphEdge   `json:"edges"`
}

type graphNode struct {
	Seq        int                   `json:"seq"`
	ID         engine.NodeID         `json:"id"`
	Previous   engine.NodeID         `json:"previous,omitempty"` // none for the first step
	Validation graphstore.Validation `json:"validation,omitempty"`
	Action     string                `json:"action,omitempty"`
	Summary    string                `json:"summary,omitempty"`
	Files      []string              `json:"files,omitempty"`
	Tokens     int                   `json:"tokens"`
}

type graphEdge struct {
	From     engine.NodeID       `json:"from"` // the step
	To       engine.NodeID       `json:"to"`   // what it rests on
	Kind     graphstore.EdgeKind `json:"kind"`
	Score    float64             `json:"score"`
	Reason   string              `json:"reason"`
	By       string              `json:"by"`
	Selected bool                `json:"selected"` // among the best that are drawn
}

// graphOf gives all branches with all edges.
func graphOf(t thread, m int) graph {
	g := graph{Session: t.info.Name, Head: t.info.Head, Nodes: []graphNode{}, Edges: []graphEdge{}}
	for _, n := range t.all {
		v := graphNode{n.Seq, n.ID, n.Previous, n.Validation, n.Action, n.Summary, n.Files, n.Tokens.Total()}
		if _, ok := t.at[n.Previous]; !ok {
			v.Previous = ""
		}
		g.Nodes = append(g.Nodes, v)
		best := map[engine.NodeID]bool{}
		for _, p := range n.Selected(m) {
			best[p.ID] = true
		}
		for _, p := range n.Parents {
			g.Edges = append(g.Edges, graphEdge{n.ID, p.ID, p.Kind, p.Score, p.Reason, p.By, best[p.ID]})
		}
	}
	return g
}

// printDot writes the drawn edges in Graphviz's language.
func (a *app) printDot(t thread, m int) {
	a.print("digraph %s {", strconv.Quote(visible(t.info.Name)))
	a.print("  rankdir=BT; node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\"]; edge [fontname=\"Helvetica\", fontsize=9];")
	colours := map[graphstore.Validation]string{graphstore.Passed: "palegreen", graphstore.Failed: "lightcoral", graphstore.Superseded: "khaki"}
	for _, n := range t.all {
		colour := ""
		if c := colours[n.Validation]; c != "" {
			colour = ", fillcolor=" + c
		}
		a.print("  n%s [label=%s%s];", n.ID[:12], quoteDot(fmt.Sprintf("%d %s\n%s", n.Seq, n.Action, shorten(done(n, t.info.Dir), 60))), colour)
	}
	for _, n := range t.all {
		for _, p := range n.Selected(m) {
			line := ""
			if p.Kind == graphstore.Previous {
				line = ", style=dashed"
			}
			a.print("  n%s -> n%s [label=%s%s];", n.ID[:12], p.ID[:12], quoteDot(string(p.Kind)), line)
		}
	}
	a.print("}")
}

// quoteDot quotes text as Graphviz has it: a quotation mark and a backslash are escaped, nothing
// else is.
func quoteDot(text string) string {
	out := []byte{'"'}
	for _, b := range []byte(visible(text)) {
		switch b {
		case '"', '\\':
			out = append(out, '\\', b)
		case '\n':
			out = append(out, '\\', 'n')
		default:
			out = append(out, b)
		}
	}
	return string(append(out, '"'))
}
