package engine

import (
	"strings"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Feed lets a ranker take in a node, as a working set does and as weights must be fitted: its step, and what it rests on,
// which was known before its observations were. each, if not nil, is told of every call, by index, with the numbers of
// the runs of what answered it: from, to, which are equal if nothing did.
func Feed(r *compress.Ranker, n Node, each func(call, from, to int)) {
	s := n.Step
	for _, m := range s.Before {
		if !m.Compaction {
			r.Hear(m.Text)
		}
	}
	said := strings.TrimSpace(s.Thinking + "\n" + s.Thought)
	if len(s.Calls) == 0 {
		r.Hear(said)
		return
	}
	turn := controller.Turn{Thought: s.Thought}
	for _, c := range s.Calls {
		turn.Calls = append(turn.Calls, controller.Call{Name: c.Name, Args: c.Args})
	}
	facts := controller.Extract(turn)
	for i, c := range s.Calls {
		act := compress.Act{Thought: said, Further: i > 0, Action: strings.TrimSpace(c.Name + " " + c.Args)}
		act.Kind, act.Files = does(facts, i)
		if i == 0 {
			act.Step, act.Links = string(n.ID), links(n.Parents)
		}
		r.Act(act)
		said = ""
		from, to := r.Len(), r.Len()
		if c.Observation != nil {
			from, to = r.See(c.Observation.Text)
		}
		if each != nil {
			each(i, from, to)
		}
	}
}

// links are the edges to parents, chosen or not: also one that has failed is what the step rests on.
func links(parents []graphstore.Parent) []compress.Link {
	out := make([]compress.Link, len(parents))
	for i, p := range parents {
		out[i] = compress.Link{Step: string(p.ID), Kind: string(p.Kind), Score: p.Score}
	}
	return out
}

// does gives the weightiest kind of a call's actions, and the files of them all.
func does(facts controller.Facts, call int) (kind string, files []string) {
	var k controller.Kind
	for _, a := range facts.Actions {
		if a.Call != call {
			continue
		}
		if k == "" || a.Kind.Weight() > k.Weight() {
			k = a.Kind
		}
		files = append(files, a.Files...)
	}
	return string(k), files
}
