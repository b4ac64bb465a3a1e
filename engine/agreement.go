package engine

import "github.com/ctxweaver/ctxweaver/graphstore"

// Agreement is how the opinions of two controllers on one session differ.
type Agreement struct {
	Steps     int `json:"steps"`          // of which both said something
	Same      int `json:"same"`           // of them, that have the same parents by both
	Best      int `json:"best"`           // of them, that have the same best parent, or none, by both
	Both      int `json:"both"`           // edges that both have
	OnlyA     int `json:"only_a"`         // that only the first has
	OnlyB     int `json:"only_b"`         // that only the second has
	Summaries int `json:"same_summaries"` // steps that both sum up alike; of those that both sum up
	SummedUp  int `json:"summed_up"`
	// Differences list the steps where parents or summaries differ, in order.
	Differences []Disagreement `json:"differences"`
}

// Disagreement is a step of which two controllers differ.
type Disagreement struct {
	Seq   int      `json:"seq"`
	Node  NodeID   `json:"node"`
	Both  []NodeID `json:"both,omitempty"`   // by falling score of the first
	OnlyA []NodeID `json:"only_a,omitempty"` // by falling score
	OnlyB []NodeID `json:"only_b,omitempty"`
	// Summaries are the two, where both have one and they differ.
	Summaries []string `json:"summaries,omitempty"`
}

// Agree compares what two controllers said of the nodes of a path. Edges to steps that were no candidates are left
// out, for no model may choose them.
func Agree(path []Node, a, b map[NodeID]Opinion) Agreement {
	out := Agreement{Differences: []Disagreement{}}
	for _, n := range path {
		x, inA := a[n.ID]
		y, inB := b[n.ID]
		if !inA || !inB {
			continue
		}
		out.Steps++
		out.add(n, x, y)
	}
	return out
}

func (g *Agreement) add(n Node, x, y Opinion) {
	d := Disagreement{Seq: n.Seq, Node: n.ID}
	p, q := chosen(x.Parents), chosen(y.Parents)
	d.Both, d.OnlyA = split(p, q)
	_, d.OnlyB = split(q, p)
	g.Both, g.OnlyA, g.OnlyB = g.Both+len(d.Both), g.OnlyA+len(d.OnlyA), g.OnlyB+len(d.OnlyB)
	if len(p) == 0 && len(q) == 0 || len(p) > 0 && len(q) > 0 && p[0] == q[0] {
		g.Best++
	}
	same := len(d.OnlyA)+len(d.OnlyB) == 0
	if same {
		g.Same++
	}
	if x.Summary != "" && y.Summary != "" {
		g.SummedUp++
		if x.Summary == y.Summary {
			g.Summaries++
		} else {
			d.Summaries = []string{x.Summary, y.Summary}
		}
	}
	if !same || d.Summaries != nil {
		g.Differences = append(g.Differences, d)
	}
}

// chosen are the candidates among parents.
func chosen(parents []graphstore.Parent) []NodeID {
	var out []NodeID
	for _, p := range parents {
		if p.Candidate {
			out = append(out, p.ID)
		}
	}
	return out
}

// split parts a list into what is in another and what is not.
func split(list, other []NodeID) (in, out []NodeID) {
	there := map[NodeID]bool{}
	for _, id := range other {
		there[id] = true
	}
	for _, id := range list {
		if there[id] {
			in = append(in, id)
		} else {
			out = append(out, id)
		}
	}
	return in, out
}
