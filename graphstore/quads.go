package graphstore

import (
	"github.com/cayleygraph/quad"
)

// edges are a node's parent quads in stored order, each once. The order is the graph's too: a quad's
// number grows with the time of its making, and traversal follows it.
func edges(session quad.IRI, r record) []quad.Quad {
	q := quadSet{session: session, subject: nodeIRI(r.Node.ID)}
	for _, p := range r.Node.Parents {
		if p.Candidate {
			q.add(iriDependsOn, nodeIRI(p.ID))
		} else {
			q.add(iriRefersTo, nodeIRI(p.ID))
		}
	}
	return q.quads
}

// facts are a node's quads but the edges, each once.
func facts(session quad.IRI, r record) []quad.Quad {
	n := r.Node
	q := quadSet{session: session, subject: nodeIRI(n.ID)}
	q.add(iriType, iriStep)
	q.add(iriSeq, quad.Int(n.Seq))
	q.add(iriInSession, session)
	if n.Seq > 0 {
		q.add(iriPrevious, nodeIRI(n.Previous))
	}
	q.add(iriStatus, statusIRI(n.Validation))
	for _, f := range n.Fixes {
		q.add(iriSupersededBy, nodeIRI(f.By))
	}
	for _, f := range n.listed() {
		q.add(iriTouches, fileIRI(f))
	}
	failed := 0
	for _, t := range n.Tests {
		if t.Status.Failing() && failed < maxListed {
			q.add(iriFails, testIRI(t))
			failed++
		}
	}
	if n.Action != "" {
		q.add(iriKind, text(n.Action))
	}
	for _, c := range n.Step.Calls {
		if c.Name != "" {
			q.add(iriTool, text(c.Name))
		}
	}
	if n.Summary != "" {
		q.add(iriSummary, text(cut(n.Summary, maxSummary)))
	}
	for _, b := range r.Bodies {
		if b.Part == partObservation {
			q.add(iriObserved, bodyIRI(b))
		}
	}
	return q.quads
}

// fileName is the quad by which a file is found. It is the session's, not a node's: made when the file is first
// touched, and never taken away.
func fileName(session quad.IRI, file string) quad.Quad {
	return quad.Quad{Subject: fileIRI(file), Predicate: iriName, Object: text(baseName(file)), Label: session}
}

// listed are the files of a node that become quads.
func (n Node) listed() []string { return n.Files[:min(len(n.Files), maxListed)] }

// quadSet collects quads of one subject, each once: Cayley counts a quad that is added twice twice.
type quadSet struct {
	session quad.IRI
	subject quad.IRI
	quads   []quad.Quad
	seen    map[quad.Quad]bool
}

func (s *quadSet) add(predicate quad.IRI, object quad.Value) {
	q := quad.Quad{Subject: s.subject, Predicate: predicate, Object: object, Label: s.session}
	if s.seen == nil {
		s.seen = map[quad.Quad]bool{}
	}
	if !s.seen[q] {
		s.seen[q] = true
		s.quads = append(s.quads, q)
	}
}

// change is what turns one record's quads into another's. Cayley is given the deletions first, and alone:
// in one delta, a value that loses more quads than it gains loses the gained ones too.
type change struct{ del, add []quad.Quad }

// diff compares records of the same node; old is nil for a new one.
func diff(session quad.IRI, old *record, new record) change {
	var c change
	newFacts, newEdges := facts(session, new), edges(session, new)
	if old == nil {
		c.add = append(newFacts, newEdges...)
		return c
	}
	c.del, c.add = subtract(facts(session, *old), newFacts), subtract(newFacts, facts(session, *old))
	oldEdges := edges(session, *old)
	same := 0 // from the first difference on, edges are made anew, so that they are in order again
	for same < len(oldEdges) && same < len(newEdges) && oldEdges[same] == newEdges[same] {
		same++
	}
	c.del = append(c.del, oldEdges[same:]...)
	c.add = append(c.add, newEdges[same:]...)
	return c
}

func subtract(a, b []quad.Quad) []quad.Quad {
	in := make(map[quad.Quad]bool, len(b))
	for _, q := range b {
		in[q] = true
	}
	var out []quad.Quad
	for _, q := range a {
		if !in[q] {
			out = append(out, q)
		}
	}
	return out
}
