package engine

import (
	"cmp"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Ablation leaves parts of the method out of a replay, to measure what they bring. The zero value leaves out nothing.
type Ablation struct {
	// NoValidation labels no step: all stay candidates for parents, and no open failure stays in sight.
	NoValidation bool
	// NoGraph lets a working set predict from text and use alone.
	NoGraph bool
	// Walk is how much of the current step's ancestry a working set looks at: W ancestors, by at most M parents
	// of a step; with M = 1 the graph is a tree. 0 is as usual.
	Walk graphstore.Walk
}

// walk is how a working set walks the ancestry of the current step.
func (a Ablation) walk() graphstore.Walk {
	return graphstore.Walk{W: cmp.Or(a.Walk.W, kinAncestors), M: cmp.Or(a.Walk.M, kinParents)}
}
