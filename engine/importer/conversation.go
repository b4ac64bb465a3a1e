package importer

import (
	"cmp"
	"slices"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// request is what one request to a model shows of its conversation.
type request struct {
	*Trajectory
	ids []graphstore.NodeID // of the steps that are said; a last one with only Before is not
}

func newRequest(t *Trajectory) request {
	r := request{Trajectory: t}
	var previous graphstore.NodeID
	for _, s := range t.Steps {
		if s.Thought == "" && len(s.Calls) == 0 && s.Thinking == "" {
			break
		}
		previous = graphstore.Identify(previous, s)
		r.ids = append(r.ids, previous)
	}
	return r
}

// conversations puts the requests of a log together. A request that goes on where an earlier one
// ended belongs to it; one that says something else is a fork, and keeps only what it has of its
// own. Whether two steps are the same is for graphstore.Identify to say, so that a client which
// shortens old results or strips thinking makes no fork. The longest conversation comes first.
func conversations(requests []*Trajectory) []*Trajectory {
	var all []request
	for _, t := range requests {
		r := newRequest(t)
		if !slices.ContainsFunc(all, func(c request) bool { return c.holds(r) }) {
			i := slices.IndexFunc(all, r.holds)
			if i < 0 {
				all = append(all, r)
				continue
			}
			r.remember(all[i])
			all[i] = r
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return len(b.ids) - len(a.ids) })
	var out []*Trajectory
	for i, r := range all {
		if i > 0 {
			r.forkFrom(all[0])
		}
		out = append(out, r.Trajectory)
	}
	if len(out) > 1 {
		out[0].Name = ":"
	}
	return out
}

// common counts the steps that both begin with.
func (r request) common(o request) int {
	n := 0
	for n < len(r.ids) && n < len(o.ids) && r.ids[n] == o.ids[n] {
		n++
	}
	return n
}

// holds reports whether r says all that o says.
func (r request) holds(o request) bool {
	n := len(o.ids)
	if r.common(o) != n {
		return false
	}
	asked := questions(o.Steps[n:])
	if n == 0 && len(asked) == 0 {
		return false // nothing by which to know it again
	}
	answered := questions(r.Steps[n:])
	return len(asked) <= len(answered) && slices.Equal(asked, answered[:len(asked)])
}

// questions are the user's messages before the first of the steps.
func questions(steps []graphstore.Step) []string {
	var texts []string
	if len(steps) > 0 {
		for _, m := range steps[0].Before {
			if m.Role == graphstore.User && !m.Compaction {
				texts = append(texts, m.Text)
			}
		}
	}
	return texts
}

// remember takes over the thinking and the results that an earlier request showed: a later one may
// have dropped them.
func (r request) remember(earlier request) {
	for i := range earlier.ids {
		r.Steps[i].Thinking = cmp.Or(earlier.Steps[i].Thinking, r.Steps[i].Thinking)
		for j, c := range earlier.Steps[i].Calls {
			if c.Observation != nil {
				r.Steps[i].Calls[j].Observation = c.Observation
			}
		}
	}
	r.Notes = tally(r.Steps)
}

// forkFrom leaves to main what both have.
func (r request) forkFrom(main request) {
	n := r.common(main)
	if n == 0 {
		return
	}
	r.Steps = r.Steps[n:]
	r.Name, r.Parent = ":fork", ":"
	if n < len(r.ids) {
		r.Name += "-" + string(r.ids[n][:8])
	}
	r.Notes = tally(r.Steps)
}

// tally counts anew what Notes say of steps.
func tally(steps []graphstore.Step) Notes {
	n := Notes{Unanswered: open(steps)}
	for _, s := range steps {
		for _, m := range s.Before {
			n.Images += m.Images
			if m.Role == graphstore.Orphan {
				n.Orphans++
			}
		}
		for _, c := range s.Calls {
			if o := c.Observation; o != nil {
				n.Images += o.Images
				if o.Failed {
					n.Failed++
				}
			}
		}
	}
	return n
}
