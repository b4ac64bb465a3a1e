package controllers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// question is what all controllers are asked about one step.
type question struct {
	seq     int
	ask     controller.Question
	hash    string
	parents []string // literal ones among the candidates, the newest first
	rules   []string // what rules select, the best first
	edges   tally    // holders of any word that the step uses: how many have an edge by rules
	sum     controller.SummaryQuestion
}

// near reports whether a literal parent is the newest candidate.
func (q *question) near() bool {
	return len(q.parents) > 0 && q.parents[0] == q.ask.Candidates[0].ID
}

// questions gathers what a session's steps are asked, in their order, as far as there are candidates.
func questions(ctx context.Context, s evidence.Session, first int) ([]question, error) {
	var out []question
	r := newReader()
	var asked *controller.Question
	o := engine.ReplayOptions{First: first, Selector: listener(func(q controller.Question) { asked = &q })}
	o.Each = func(n engine.Node) {
		if asked != nil {
			out = append(out, r.question(*asked, n))
		}
		r.read(n)
		asked = nil
	}
	err := engine.ReplayEach(ctx, s.Steps, nil, o, nil)
	return out, err
}

// listener hears questions and has nothing to say.
type listener func(controller.Question)

// Select is engine.Selector's.
func (l listener) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	l(q)
	return controller.Answer{}, nil
}

// reader knows who holds and who said which word, step by step, without what rules know.
type reader struct {
	holders map[string]engine.NodeID // newest
	said    map[string]bool
	nodes   map[engine.NodeID]string // dependency summaries
}

func newReader() *reader {
	return &reader{map[string]engine.NodeID{}, map[string]bool{}, map[engine.NodeID]string{}}
}

// question adds what is known of the answer.
func (r *reader) question(q controller.Question, n engine.Node) question {
	q.Trace, q.Found = nil, nil // a model is to find them by itself
	out := question{seq: n.Seq, ask: q, hash: hashed(q)}
	for _, m := range n.Step.Before {
		r.hear(m.Text)
	}
	edge := map[engine.NodeID]bool{}
	out.sum = controller.SummaryQuestion{Turn: q.Turn, Facts: controller.Extract(q.Turn)}
	for _, p := range n.Parents {
		edge[p.ID] = true
		if !p.Candidate {
			continue
		}
		out.rules = append(out.rules, string(p.ID))
		if len(out.sum.Parents) < most {
			out.sum.Parents = append(out.sum.Parents, r.nodes[p.ID])
		}
	}
	parent := map[string]bool{}
	holds := map[engine.NodeID]bool{}
	for _, w := range out.sum.Facts.Words {
		if id, ok := r.holders[w]; ok {
			holds[id] = true
			parent[string(id)] = parent[string(id)] || !r.said[w]
		}
	}
	for id := range holds {
		out.edges.add(edge[id])
	}
	for _, c := range q.Candidates {
		if parent[c.ID] {
			out.parents = append(out.parents, c.ID)
		}
	}
	return out
}

// read takes in a step and what came of it.
func (r *reader) read(n engine.Node) {
	r.nodes[n.ID] = n.DependencySummary
	for _, m := range n.Step.Before {
		r.hear(m.Text)
	}
	r.hear(n.Step.Thought)
	for _, c := range n.Step.Calls {
		r.hear(c.Name + " " + c.Args)
	}
	for _, c := range n.Step.Calls {
		if c.Observation == nil {
			continue
		}
		for _, w := range controller.Words(c.Observation.Text) {
			r.holders[w] = n.ID
		}
	}
}

func (r *reader) hear(text string) {
	for _, w := range controller.Words(text) {
		r.said[w] = true
	}
}

// hashed names all of a question that an answer may depend on.
func hashed(q controller.Question) string {
	parts := []string{q.Turn.ID, q.Turn.Task, intent(q.Turn)}
	for _, c := range q.Candidates {
		parts = append(parts, c.ID, fmt.Sprint(c.Seq), string(c.Kind), c.Summary)
	}
	return sum(parts)
}

// sum is a hash of a value that JSON can hold.
func sum(v any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		fmt.Fprintf(h, "%+v", v)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// drawSteps takes k of a session's questions by a seed and its name, in their order; all where k is 0 or more than there
// are. Those with a literal parent come before others, as nothing else tells who is right. The same draw of fewer
// is part of it.
func drawSteps(qs []question, k int, seed uint64, name string) []int {
	h := fnv.New64a()
	h.Write([]byte(name))
	all := rand.New(rand.NewPCG(seed, h.Sum64())).Perm(len(qs))
	slices.SortStableFunc(all, func(i, j int) int { return min(1, len(qs[j].parents)) - min(1, len(qs[i].parents)) })
	if k > 0 {
		all = all[:min(k, len(qs))]
	}
	slices.Sort(all)
	return all
}

// drawSessions takes k sessions by a seed, in their order. Which ones does not depend on the order, and little on
// which others there are.
func drawSessions(all []evidence.Session, k int, seed uint64) []evidence.Session {
	if k <= 0 || k >= len(all) {
		return all
	}
	at := make([]int, len(all))
	for i := range at {
		at[i] = i
	}
	rank := func(i int) string { return sum([]any{seed, all[i].Hash, all[i].Name}) }
	slices.SortFunc(at, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	at = at[:k]
	slices.Sort(at)
	var out []evidence.Session
	for _, i := range at {
		out = append(out, all[i])
	}
	return out
}
