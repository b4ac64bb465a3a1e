package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func TestAgree(t *testing.T) {
	path := []engine.Node{{ID: "0"}, {ID: "1", Seq: 1}, {ID: "2", Seq: 2}, {ID: "3", Seq: 3}, {ID: "4", Seq: 4}}
	say := func(summary string, parents ...engine.NodeID) (o engine.Opinion) {
		o.Summary = summary
		for _, p := range parents {
			o.Parents = append(o.Parents, graphstore.Parent{ID: p, Candidate: true})
		}
		return o
	}
	failed := say("", "2")
	failed.Parents = append(failed.Parents, graphstore.Parent{ID: "0"}) // a fact that no model may choose
	got := engine.Agree(path,
		map[engine.NodeID]engine.Opinion{"0": say("a"), "1": say("a", "0"), "2": say("", "1", "0"), "3": failed, "4": say("")},
		map[engine.NodeID]engine.Opinion{"0": say("a"), "1": say("b", "0"), "2": say("c", "0"), "3": say("", "2"), "5": say("")})
	want := engine.Agreement{Steps: 4, Same: 3, Best: 3, Both: 3, OnlyA: 1, Summaries: 1, SummedUp: 2, Differences: []engine.Disagreement{
		{Seq: 1, Node: "1", Both: []engine.NodeID{"0"}, Summaries: []string{"a", "b"}},
		{Seq: 2, Node: "2", Both: []engine.NodeID{"0"}, OnlyA: []engine.NodeID{"1"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
