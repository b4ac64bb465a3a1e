package engine

import (
	"fmt"
)

// Strategy says what a working set goes by: the graph, or nearness in time. By the paper, ancestry wins where work is spread
// over files and rests on distant steps, recency where a session goes straight on. On the real runs of benchmarks/evidence,
// none of which goes so straight, recency never paid. The zero value is Auto.
type Strategy string

const (
	// Auto reads off the session's graph which of the others suits it, at each request.
	Auto Strategy = "auto"
	// Structural lets the current step's ancestors come back readily.
	Structural Strategy = "structural"
	// Recency keeps more of the newest observations, and trusts ancestry less.
	Recency Strategy = "recency"
)

// ParseStrategy reads a strategy's name; "" is Auto. The error for a wrong one lists the right ones.
func ParseStrategy(s string) (Strategy, error) {
	switch Strategy(s) {
	case "", Auto:
		return Auto, nil
	case Structural, Recency:
		return Strategy(s), nil
	}
	return "", fmt.Errorf("strategy %q: unknown; there are %s, %s, %s", s, Auto, Structural, Recency)
}

const (
	recencyKeeps = 4   // more observations stay whole than under Structural
	recencyTrust = 0.5 // of what ancestry counts under Structural

	straight  = 0.75 // share of best edges that go to the step before, from which a session goes straight on
	leastSeen = 10   // edges before anything is read off them
	distant   = 5    // steps back, beyond which an edge is a distant one
)

// adapt is the level as the strategy changes it.
func (l level) adapt(s Strategy) level {
	if s == Recency {
		l.keep += recencyKeeps
	}
	return l
}

// trust is how much ancestry counts under the strategy, from 0 to 1.
func (s Strategy) trust() float64 {
	if s == Recency {
		return recencyTrust
	}
	return 1
}

// shape is what the graph of a session looks like: of each step with calls, the best edge to a candidate.
type shape struct {
	steps    map[NodeID]int // with calls, by their number
	files    map[string]bool
	children map[NodeID]int // best edges that end there
	forks    int            // steps on which several rest
	edges    int
	before   int // edges to the step before
	far      int // edges to a distant step
}

func newShape() *shape {
	return &shape{steps: map[NodeID]int{}, files: map[string]bool{}, children: map[NodeID]int{}}
}

func (s *shape) add(n *Node) {
	if len(n.Step.Calls) == 0 {
		return
	}
	at := len(s.steps)
	s.steps[n.ID] = at
	for _, f := range n.Files {
		s.files[f] = true
	}
	for _, p := range n.Selected(1) {
		back, known := s.steps[p.ID]
		if !known {
			continue // a parent without calls
		}
		s.edges++
		switch back = at - back; {
		case back == 1:
			s.before++
		case back > distant:
			s.far++
		}
		if s.children[p.ID]++; s.children[p.ID] == 2 {
			s.forks++
		}
	}
}

// choose gives the strategy to go by, and why.
func (s *shape) choose(wanted Strategy) (Strategy, string) {
	if wanted == Structural || wanted == Recency {
		return wanted, "as asked"
	}
	if s.edges < leastSeen {
		return Structural, fmt.Sprintf("too few steps to tell (%d)", len(s.steps))
	}
	seen := fmt.Sprintf("%s of the steps rest on the one before, %s on one more than %d back; %d files touched, %d steps with several that rest on them",
		percent(s.before, s.edges), percent(s.far, s.edges), distant, len(s.files), s.forks)
	if float64(s.before) >= straight*float64(s.edges) {
		return Recency, seen
	}
	return Structural, seen
}

func percent(part, all int) string { return fmt.Sprintf("%d %%", (100*part+all/2)/all) }
