package compress

import "slices"

// Link is an edge of the session's graph: a step rests on an earlier one.
type Link struct {
	Step  string  // the earlier one, by the name that Act gave it
	Kind  string  // literal, file, edit or test; all others are one
	Score float64 // from 0 to 1
}

type kindOfLink byte

const (
	otherLink kindOfLink = iota
	literalLink
	fileLink
	editLink
	testLink
	kindsOfLink
)

var linkKinds = []string{"other", "literal", "file", "edit", "test"}

// step is what the graph knows of a turn. Steps are counted from 0.
type step struct {
	links          []edge
	rested, edited float32 // scores of the links to it, and of those from steps that edit
	restedAt       int32   // the newest step that rests on it, counted from 1; 0 is none
}

// edge is a Link to a step.
type edge struct {
	to    int32
	kind  kindOfLink
	score float32
}

// link takes in the step that a new turn's first call begins.
func (r *Ranker) link(a Act, kind kindOfCall) {
	n := int32(len(r.steps))
	var s step
	for _, l := range a.Links {
		to, ok := r.stepOf[l.Step]
		if !ok {
			continue // it had no call
		}
		e := edge{to, kindOfLink(max(0, slices.Index(linkKinds, l.Kind))), float32(l.Score)}
		s.links = append(s.links, e)
		p := &r.steps[to]
		p.rested += e.score
		p.restedAt = n + 1
		if kind == editCall {
			p.edited += e.score
		}
	}
	r.steps = append(r.steps, s)
	if a.Step != "" {
		r.stepOf[a.Step] = n
	}
}

// kin is how a step meets the newest one in the graph.
type kin struct {
	// The best path to it, as the product of its scores: from the newest step, and from the newest five, where
	// an older one counts less.
	ancestor, late float32
	// How much of the newest step rests on it, if each step rests on its parents by their scores.
	share   float32
	parent  [kindsOfLink]float32 // the newest step's links to it
	recent  [2]float32           // scores of the links to it from the newest three, and the newest ten
	sibling float32              // by what it rests on together with the newest step
	cousin  float32              // by what it rests on together with the newest five
	mate    float32              // by being what siblings rest on
	next    float32              // by being what the steps after siblings rest on
}

// meetSteps walks the graph from the newest step, as far as steps are ranked.
func (s *sight) meetSteps(r *Ranker) {
	const fading, passed, own = 0.7, 0.7, 0.3 // of lateness by step; of a share by link; what a step owes to none
	var now int32
	s.firstStep, now = r.calls[s.oldest].step, r.calls[s.turn].step
	s.kin = zero(s.kin, int(now-s.firstStep)+1)
	newest := s.relative(now)
	newest.ancestor, newest.share = 1, 1
	late := float32(1)
	for i := now; i >= s.firstStep && i > now-recentCalls; i-- {
		s.relative(i).late = late
		late *= fading
	}
	for i := now; i >= s.firstStep; i-- {
		k := s.relative(i)
		sum := float32(own)
		for _, e := range r.steps[i].links {
			sum += e.score
		}
		for _, e := range r.steps[i].links {
			p := s.relative(e.to)
			p.ancestor = max(p.ancestor, k.ancestor*e.score)
			p.late = max(p.late, k.late*e.score)
			p.share += passed * k.share * e.score / sum
			if i == now {
				p.parent[e.kind] = max(p.parent[e.kind], e.score)
			}
			if i > now-3 {
				p.recent[0] += e.score
			}
			if i > now-10 {
				p.recent[1] += e.score
			}
		}
	}
	s.meetSiblings(r, now)
}

// meetSiblings finds the steps that rest on what the newest ones rest on, and what they and those after them rest on
// too: work of one kind takes from the same places.
func (s *sight) meetSiblings(r *Ranker, now int32) {
	for i := s.firstStep; i < now; i++ {
		k := s.relative(i)
		for _, e := range r.steps[i].links {
			p := s.relative(e.to)
			k.sibling = max(k.sibling, slices.Max(p.parent[:])*e.score)
			k.cousin = max(k.cousin, p.late*e.score)
		}
	}
	for i := s.firstStep; i < now; i++ {
		sibling := s.relative(i).sibling
		if sibling == 0 {
			continue
		}
		for _, e := range r.steps[i].links {
			p := s.relative(e.to)
			p.mate = max(p.mate, sibling*e.score)
		}
		if i+1 == now {
			break
		}
		for _, e := range r.steps[i+1].links {
			p := s.relative(e.to)
			p.next = max(p.next, sibling*e.score)
		}
	}
}

// relative is how a step meets the newest; of one that is too old to be ranked, nothing is told.
func (s *sight) relative(step int32) *kin {
	if step < s.firstStep {
		return &kin{}
	}
	return &s.kin[step-s.firstStep]
}

// ofStep are the features of the graph.
var ofStep = []feature{
	{"ancestor", func(v *view) float32 { return v.kin.ancestor }},
	{"is ancestor", func(v *view) float32 { return indicator(v.kin.ancestor > 0.05) }},
	{"ancestor of newest 5", func(v *view) float32 { return v.kin.late }},
	{"share of newest step", func(v *view) float32 { return log1(100 * v.kin.share) }},
	{"parent, literal", func(v *view) float32 { return v.kin.parent[literalLink] }},
	{"parent, file", func(v *view) float32 { return v.kin.parent[fileLink] }},
	{"parent, edit", func(v *view) float32 { return v.kin.parent[editLink] }},
	{"parent, test", func(v *view) float32 { return v.kin.parent[testLink] }},
	{"parent, other", func(v *view) float32 { return v.kin.parent[otherLink] }},
	{"links from newest 3", func(v *view) float32 { return log1(v.kin.recent[0]) }},
	{"links from newest 10", func(v *view) float32 { return log1(v.kin.recent[1]) }},
	{"links", func(v *view) float32 { return log1(v.step.rested) }},
	{"links by age", func(v *view) float32 { return v.step.rested / (v.age() + 3) }},
	{"links from edits", func(v *view) float32 { return log1(v.step.edited) }},
	{"linked lately", func(v *view) float32 { return v.linkedLately() }},
	{"never linked", func(v *view) float32 { return indicator(v.step.restedAt == 0) }},
	{"links to others", func(v *view) float32 { return log1(float32(len(v.step.links))) }},
	{"sibling", func(v *view) float32 { return v.kin.sibling }},
	{"sibling of newest 5", func(v *view) float32 { return v.kin.cousin }},
	{"siblings rest on it", func(v *view) float32 { return v.kin.mate }},
	{"next of siblings rest on it", func(v *view) float32 { return v.kin.next }},
}

// OfGraph reports whether a feature, by name, is one of the graph.
func OfGraph(name string) bool {
	return slices.ContainsFunc(ofStep, func(f feature) bool { return f.name == name })
}

func (v *view) linkedLately() float32 {
	if v.step.restedAt == 0 {
		return 0
	}
	return 1 / float32(len(v.ranker.steps)+1-int(v.step.restedAt))
}
