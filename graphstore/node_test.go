package graphstore

import (
	"slices"
	"testing"
)

// What failed, or was no candidate when the edge was made, is not selected, however well it scores (§3.2).
func TestSelected(t *testing.T) {
	n := Node{Parents: []Parent{{ID: "failed"}, {ID: "a", Candidate: true}, {ID: "opinion", Kind: Model}, {ID: "b", Candidate: true}, {ID: "c", Candidate: true}}}
	for m, want := range map[int][]NodeID{0: {"a", "b", "c"}, 1: {"a"}, 2: {"a", "b"}, 9: {"a", "b", "c"}} {
		var got []NodeID
		for _, p := range n.Selected(m) {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the best %d: %v, want %v", m, got, want)
		}
	}
	if got := (Node{}).Selected(3); len(got) > 0 {
		t.Errorf("of a first node: %v", got)
	}
}

func TestFailures(t *testing.T) {
	n := Node{Tests: []TestResult{{Name: "ok", Status: TestPassed}, {Name: "late", Status: TestFailed}, {Name: "none", Status: TestSkipped},
		{Name: "early", Status: TestErrored}, {Name: "late", Status: TestFailed, Call: 1}}}
	if got, want := n.Failures(), []string{"late", "early"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q: each once, in order, errors among them", got, want)
	}
}
