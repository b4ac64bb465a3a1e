package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine/validation"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// analyst derives what is known of a step beyond its text. It remembers the path of its session as
// the controller and the validation layer see it.
type analyst struct {
	engine  *Engine
	task    string
	trace   *controller.Trace
	tracker *validation.Tracker
}

func newAnalyst(e *Engine) *analyst {
	return &analyst{engine: e, trace: controller.NewTrace(), tracker: &validation.Tracker{}}
}

// study turns a step into the node that follows the path, in the stages of the design: extract,
// validate, select, summarise. It returns also the earlier nodes whose failures the step fixed.
func (s *Session) study(ctx context.Context, step Step) (node *Node, changed []*Node) {
	a := s.analyst
	previous := graphstore.Root(s.name)
	if n := len(s.path); n > 0 {
		previous = s.path[n-1].ID
	}
	node = &Node{ID: graphstore.Identify(previous, step), Previous: previous, Seq: len(s.path), Step: step}
	if a.task == "" {
		a.task = task(step)
	}
	a.engine.measure(node)

	turn := turnOf(a.task, node)
	facts := controller.Extract(turn)
	node.Files, node.Action = facts.Files, string(facts.Kind)
	node.Parents = a.choose(ctx, turn, s.path)
	change := a.validate(node, turn)
	summarise(ctx, node, turn, facts, s.dependencies(node))
	a.remember(node, turn, facts)
	return node, s.fixed(change)
}

// answer gives the node with the answers that step has and it lacks, studied anew where they matter.
// What it depends on does not change: that was said before the answers came.
func (s *Session) answer(ctx context.Context, node *Node, step Step) (filled *Node, changed []*Node) {
	a, n := s.analyst, *node
	n.Step = n.Step.Clone()
	var came []Observation
	for i, c := range step.Clone().Calls {
		if mine := &n.Step.Calls[i]; mine.Open() {
			mine.Observation, mine.Joined = c.Observation, c.Joined
			if c.Observation != nil {
				came = append(came, *c.Observation)
			}
		}
	}
	a.engine.measure(&n)
	turn := turnOf(a.task, &n)
	change := a.validate(&n, turn)
	summarise(ctx, &n, turn, controller.Extract(turn), s.dependencies(&n))
	for _, o := range came {
		_ = a.trace.Observe(turn.ID, o.Text, failed(&o)) // fails only for a turn that was never added
	}
	a.mark(&n)
	return &n, s.fixed(change)
}

// measure counts the node's tokens and lines.
func (e *Engine) measure(n *Node) {
	t := graphstore.Tokens{Thinking: e.count.Count(n.Step.Thinking), Thought: e.count.Count(n.Step.Thought)}
	for _, m := range n.Step.Before {
		t.Before = append(t.Before, e.count.Count(m.Text))
	}
	n.Lines = make([]int, len(n.Step.Calls))
	for i, c := range n.Step.Calls {
		t.Calls = append(t.Calls, e.count.Count(c.Name)+e.count.Count(c.Args))
		t.Observations = append(t.Observations, 0)
		if c.Observation != nil {
			t.Observations[i] = e.count.Count(c.Observation.Text)
			n.Lines[i] = compress.Lines(c.Observation.Text)
		}
	}
	n.Tokens = t
}

// guessScore is that of an edge which is only assumed.
const guessScore = 0.01

// choose finds a turn's parents by rules (§3.2). Where all that was found has failed and is no candidate, the
// newest candidate, as a guess, keeps the node from being an orphan.
func (a *analyst) choose(ctx context.Context, turn controller.Turn, before []kept) []graphstore.Parent {
	answer, _ := controller.Rules{}.Select(ctx, controller.Question{Turn: turn, Trace: a.trace}) // rules cannot fail
	var parents []graphstore.Parent
	for _, c := range answer.Choices {
		parents = append(parents, a.parent(c, answer.By))
	}
	newest := a.newestCandidate(before)
	if newest != nil && !slices.ContainsFunc(parents, func(p graphstore.Parent) bool { return p.Candidate }) {
		parents = append(parents, graphstore.Parent{ID: newest.ID, Kind: graphstore.Previous, Score: guessScore,
			Reason: "the newest step that has not failed, as no link to one was found", By: "rules", Candidate: true})
	}
	return parents
}

// newestCandidate is the newest node of a path that may be a parent, or nil.
func (a *analyst) newestCandidate(path []kept) *Node {
	for _, k := range slices.Backward(path) {
		if a.trace.Candidate(string(k.ID)) {
			return k.Node
		}
	}
	return nil
}

func (a *analyst) parent(c controller.Choice, by string) graphstore.Parent {
	return graphstore.Parent{ID: NodeID(c.ID), Kind: graphstore.EdgeKind(c.Kind), Score: c.Score, Reason: c.Reason,
		Words: c.Words, By: by, Candidate: a.trace.Candidate(c.ID)}
}

// validate labels the node from its tests (§3.3) and tells which earlier failures it fixed.
func (a *analyst) validate(n *Node, turn controller.Turn) validation.Change {
	n.Tests, n.Evidence = nil, nil
	if a.engine.ablation.NoValidation {
		n.Validation = graphstore.Unknown
		return validation.Change{}
	}
	for i, c := range n.Step.Calls {
		o := c.Observation
		if o == nil {
			continue
		}
		report := validation.Parse(o.Text, controller.Command(turn.Calls[i]))
		for _, r := range report.Results {
			n.Tests = append(n.Tests, graphstore.TestResult{Runner: r.Runner, Name: r.Name, Status: graphstore.TestStatus(r.Status), Call: i})
		}
		for _, e := range report.Evidence {
			n.Evidence = append(n.Evidence, graphstore.Evidence{Source: e.Source, Failed: e.Failed, Detail: e.Detail, Call: i})
		}
		n.Evidence = append(n.Evidence, outcome(o, i)...)
	}
	change := a.tracker.Add(string(n.ID), results(n.Tests))
	n.Validation = graphstore.Validation(change.Label)
	return change
}

// results are a node's tests as the validation layer has them.
func results(tests []graphstore.TestResult) []validation.Result {
	var out []validation.Result
	for _, t := range tests {
		out = append(out, validation.Result{Runner: t.Runner, Name: t.Name, Status: validation.Status(t.Status)})
	}
	return out
}

// outcome is what the harness says of an observation: weaker evidence than a test.
func outcome(o *Observation, call int) []graphstore.Evidence {
	switch {
	case o.ExitCode != nil:
		return []graphstore.Evidence{{Source: "exit code", Failed: *o.ExitCode != 0, Detail: fmt.Sprint(*o.ExitCode), Call: call}}
	case o.Failed:
		return []graphstore.Evidence{{Source: "harness", Failed: true, Call: call}}
	}
	return nil
}

// failed reports whether the harness or the exit code calls an observation a failure.
func failed(o *Observation) bool { return o.Failed || o.ExitCode != nil && *o.ExitCode != 0 }

// fixed gives the earlier nodes that a change concerns, with the pointers to what fixed them.
func (s *Session) fixed(change validation.Change) []*Node {
	var changed []*Node
	at := map[string]*Node{}
	for _, f := range change.Fixes {
		n := at[f.Node]
		if n == nil {
			i, ok := s.at[NodeID(f.Node)]
			if !ok {
				continue // the node itself: a test that failed and then passed within one turn
			}
			clone := *s.path[i].Node
			clone.Fixes = slices.Clone(clone.Fixes)
			n = &clone
			at[f.Node] = n
			changed = append(changed, n)
		}
		n.Fixes = append(n.Fixes, graphstore.Fix{Test: f.Test, By: NodeID(f.By)})
	}
	for _, id := range change.Superseded {
		if n := at[id]; n != nil {
			n.Validation = graphstore.Superseded
		}
	}
	for _, n := range changed {
		s.analyst.mark(n)
	}
	return changed
}

// summarise writes the node's two summaries by rules (§3.1).
func summarise(ctx context.Context, n *Node, turn controller.Turn, facts controller.Facts, parents []string) {
	question := controller.SummaryQuestion{Turn: turn, Facts: facts, Parents: parents}
	summary, _ := controller.Rules{}.Summarize(ctx, question) // rules cannot fail
	n.Summary, n.DependencySummary = summary.Step, summary.Dependency
}

// dependencies are the dependency summaries of the node's best parents, best first.
func (s *Session) dependencies(n *Node) []string {
	var out []string
	for _, p := range n.Parents {
		if parent, ok := s.find(p.ID); ok && p.Candidate && len(out) < mostChosen {
			out = append(out, parent.DependencySummary)
		}
	}
	return out
}

// remember adds the node to what later steps are judged by.
func (a *analyst) remember(n *Node, turn controller.Turn, facts controller.Facts) {
	a.trace.Add(turn, facts)
	a.mark(n)
}

// mark tells the trace what is known of a node that is in it.
func (a *analyst) mark(n *Node) {
	// These fail only for a node that was never added, and all of the path was.
	id := string(n.ID)
	_ = a.trace.Mark(id, string(n.Validation))
	_ = a.trace.Failing(id, n.Failures())
	_ = a.trace.Describe(id, n.Summary)
}

// replay takes in a node that was studied before, as it was kept.
func (a *analyst) replay(n *Node) {
	if a.task == "" {
		a.task = task(n.Step)
	}
	a.tracker.Add(string(n.ID), results(n.Tests))
	turn := turnOf(a.task, n)
	a.remember(n, turn, controller.Extract(turn))
}

// turnOf is the node as the controller sees it.
func turnOf(task string, n *Node) controller.Turn {
	t := controller.Turn{ID: string(n.ID), Seq: n.Seq, Task: task, Thought: n.Step.Thought}
	for _, m := range n.Step.Before {
		if m.Role == graphstore.User && !m.Compaction {
			t.User = append(t.User, m.Text)
		}
	}
	for _, c := range n.Step.Calls {
		call := controller.Call{Name: c.Name, Args: c.Args, Answered: !c.Open()}
		if o := c.Observation; o != nil {
			call.Observation, call.Failed = o.Text, failed(o)
		}
		t.Calls = append(t.Calls, call)
	}
	return t
}

// taskOf is the first thing the user says on a path, or "".
func taskOf(path []kept) string {
	for _, k := range path {
		if text := task(k.Step); text != "" {
			return text
		}
	}
	return ""
}

// task is the first thing the user says in a step, or "".
func task(s Step) string {
	for _, m := range s.Before {
		if m.Role == graphstore.User && !m.Compaction && m.Text != "" {
			return m.Text
		}
	}
	return ""
}
