package importer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBranches: in any tree, and in what is no tree at all, each record of the conversation is in exactly
// one branch, in the file's order, and the newest is in the first.
func TestBranches(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		tree := make([]leaf, 1+r.IntN(30))
		for i := range tree {
			l := leaf{id: fmt.Sprint(i), talk: r.IntN(4) > 0}
			switch r.IntN(8) {
			case 0: // a root
			case 1:
				l.parent = "lost"
			case 2:
				l.parent = fmt.Sprint(r.IntN(len(tree))) // may be later, or itself
			default:
				l.parent = fmt.Sprint(max(0, i-1-r.IntN(3)))
			}
			if r.IntN(3) == 0 {
				l.group = fmt.Sprint("g", i/4)
			}
			tree[i] = l
		}
		seen := map[int]int{}
		for i, b := range branches(tree) {
			if !slices.IsSorted(b.records) || b.from >= i || len(b.records) == 0 {
				t.Fatalf("seed %d: branch %d is %+v", seed, i, b)
			}
			for _, j := range b.records {
				seen[j]++
			}
			for j := len(tree) - 1; i == 0 && j >= 0; j-- {
				if tree[j].talk {
					if !slices.Contains(b.records, j) {
						t.Fatalf("seed %d: the newest record %d is not in %+v", seed, j, b)
					}
					break
				}
			}
		}
		for i, l := range tree {
			if want := map[bool]int{true: 1}[l.talk]; seen[i] != want {
				t.Fatalf("seed %d: record %d is in %d branches, want %d", seed, i, seen[i], want)
			}
		}
	}
}
