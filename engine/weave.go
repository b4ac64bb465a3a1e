package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine/validation"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Request asks for a context. The zero value asks for everything up to the head.
type Request struct {
	Policy Policy
	// At weaves as it was after this node of the session's path; "" is the head.
	At NodeID
	// Pending is what comes after the last step, such as the user's next words. It is always whole.
	Pending []Message
	// Budget bounds the Window in tokens; 0 is no bound, and nothing fits a negative one. See ErrBudget.
	Budget int
	// Strategy is what a working set goes by; "" is Auto.
	Strategy Strategy
	// Prices decide when a working set pages out; the zero value is the first preset of ParsePrices.
	Prices Prices
	// Now is when the request is made. A working set uses it to tell a cold cache; zero: it does not.
	Now time.Time
	// Cold says that the upstream has nothing of this session cached, for another reason than time: the model or its tools
	// have changed, or the agent begins anew with a summary.
	Cold bool
	// Dry keeps nothing: what a working set decides for this request will be decided anew. One that has kept no
	// decision in this session yet decides as if it had been asked before every turn.
	Dry bool
	// Recall names observations to be paged in at the tail of this request, by a policy that pages: whole, or as
	// many of their first lines as the budget has room for. They stay as long as what else is paged in.
	Recall []Handle
}

// ErrBudget says that what must stay is alone larger than the budget. The Window that comes with it is
// the smallest that can be had.
var ErrBudget = errors.New("over the budget")

// Weave builds the context of the next request. System and user messages, thoughts and actions are
// always kept, in their order, but where Summary sums them up; the policy decides which observations are whole and
// which a placeholder stands for.
func (s *Session) Weave(ctx context.Context, r Request) (*Window, error) {
	path, err := s.history(ctx, r.At)
	if err != nil {
		return nil, err
	}
	ruling, err := s.ruling(ctx, r, path)
	if err != nil {
		return nil, err
	}
	status := ""
	if r.Policy.name == "paper" {
		status = testStatus(path)
	}
	w := &Window{Session: s.name, Policy: r.Policy, Epoch: ruling.epoch, Messages: make([]Prompt, 0, 2*len(path)+len(r.Pending)), Items: make([]Item, 0, len(path))}
	l := loom{session: s, window: w, placeholder: map[string]int{}}
	for i, k := range path {
		if i < ruling.fold.steps {
			l.folded(k, ruling.fold.listed[k.Seq])
			continue
		}
		if i == ruling.fold.steps && ruling.fold.text != "" {
			l.add(Prompt{Role: string(graphstore.User), Content: ruling.fold.text}, l.tokens(ruling.fold.text), 0)
			w.Full -= frameTokens // it is not there when nothing is left out
		}
		if err := l.step(ctx, k, ruling.of); err != nil {
			return nil, err
		}
	}
	l.status(status)
	for _, m := range r.Pending {
		l.message(m, s.engine.count.Count(m.Text))
	}
	if r.Budget != 0 && w.Tokens > r.Budget {
		return w, fmt.Errorf("%s of %s takes %s: %w of %d tokens", r.Policy, s.name, w.parts(), ErrBudget, r.Budget)
	}
	return w, nil
}

// history is the path up to the node at, or to the head.
func (s *Session) history(ctx context.Context, at NodeID) ([]kept, error) {
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	path := s.snapshot()
	if at == "" {
		return path, nil
	}
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].ID == at {
			return path[:i+1], nil
		}
	}
	return nil, fmt.Errorf("session %s: step %s is not on the way to the head: %w", s.name, at, ErrNotFound)
}

// verdict is a policy's word on an observation.
type verdict struct {
	fate   Fate
	reason string
	text   string // what stands in its place unless it is Whole; "" is the paper's placeholder
	tail   part   // what is paged in behind it
	in     []Part // what of it is paged in behind others
}

// judge is to be asked about every observation of a path, in order.
type judge func(NodeID) verdict

// ruling is all that a policy says of a path.
type ruling struct {
	of    judge
	epoch *Epoch // of a policy that pages
	fold  fold
}

// ruling asks the policy about the path.
func (s *Session) ruling(ctx context.Context, r Request, path []kept) (ruling, error) {
	if len(r.Recall) > 0 && !r.Policy.pages() {
		return ruling{}, fmt.Errorf("session %s: policy %s pages nothing in, and so cannot recall %s", s.name, r.Policy, r.Recall[0])
	}
	switch {
	case r.Policy.name == "paper":
		of, err := s.judgeAncestry(ctx, r.Policy, path)
		return ruling{of: of}, err
	case r.Policy.name == "bm25":
		of, err := s.lexical(ctx, r.Policy, path)
		return ruling{of: of}, err
	case r.Policy.pages():
		return s.paged(ctx, r, path)
	}
	gone, old, young := boundary(r.Policy, path)
	asked := 0
	var fold fold
	if r.Policy.name == "summary" {
		fold = folded(r.Policy, path, s.engine.count.Count)
		young = fmt.Sprintf("its step has one of the newest %d observations", r.Policy.a)
	}
	return ruling{fold: fold, of: func(NodeID) verdict {
		asked++
		if asked <= gone {
			return verdict{fate: Omitted, reason: old}
		}
		return verdict{fate: Whole, reason: young}
	}}, nil
}

// judgeAncestry is the paper's choice (§3.4): the newest step and its ancestors are whole. While there
// are no more steps than w, everything is (warm-up).
func (s *Session) judgeAncestry(ctx context.Context, p Policy, path []kept) (judge, error) {
	reasons := make(map[NodeID]string)
	current, acted := current(path)
	if current != nil {
		reached, err := s.engine.store.Ancestry(ctx, s.name, current.ID, graphstore.Walk{W: p.b, M: p.a})
		if err != nil {
			return nil, err
		}
		reasons[current.ID] = "the current step"
		explain(reasons, path, current, reached, p.a)
	}
	other := verdict{fate: Omitted, reason: fmt.Sprintf("not among the %d nearest ancestors of the current step", p.b)}
	if acted <= p.b {
		other = verdict{fate: Whole, reason: fmt.Sprintf("warm-up: no more than %d steps so far", p.b)}
	}
	return func(id NodeID) verdict {
		if reason, ok := reasons[id]; ok {
			return verdict{fate: Whole, reason: reason}
		}
		return other
	}, nil
}

// current is the newest node that has calls, nil if there is none, and how many there are.
func current(path []kept) (newest *Node, acted int) {
	for _, k := range path {
		if len(k.Step.Calls) > 0 {
			acted++
			newest = k.Node
		}
	}
	return newest, acted
}

// explain says of each ancestor through which edge it was reached first.
func explain(reasons map[NodeID]string, path []kept, current *Node, reached []graphstore.Reached, m int) {
	ancestor := map[NodeID]*Node{}
	for _, r := range reached {
		ancestor[r.ID] = nil
	}
	for _, k := range path {
		if _, ok := ancestor[k.ID]; ok {
			ancestor[k.ID] = k.Node
		}
	}
	queue := []*Node{current}
	for _, r := range reached {
		if n := ancestor[r.ID]; n != nil {
			queue = append(queue, n)
		}
	}
	for _, from := range queue {
		for _, p := range from.Selected(m) {
			if _, done := reasons[p.ID]; ancestor[p.ID] != nil && !done {
				reasons[p.ID] = fmt.Sprintf("step %d rests on it: %s", from.Seq, p.Reason)
			}
		}
	}
}

// shownTests bounds the tests that a context names.
const shownTests = 40

// testStatus is the newest verdict of each test, as the paper shows it to the agent (§3.3).
func testStatus(path []kept) string {
	var tracker validation.Tracker
	for _, k := range path {
		tracker.Add(string(k.ID), results(k.Tests))
	}
	return validation.StatusLine(tracker.Results(), shownTests)
}

// loom lays the messages of a Window one after the other.
type loom struct {
	session     *Session
	window      *Window
	placeholder map[string]int // tokens of placeholders seen so far
	newest      int            // index in window.Messages of the newest observation that is whole; 0 is none
}

// Every message costs a few tokens for its frame, beside its text. What is put behind an observation is reckoned to take
// so many more than it would alone, until it is counted there: a line's end and blank lines after it are cut otherwise.
const (
	frameTokens = 4
	seamTokens  = 2
)

func (l *loom) add(p Prompt, tokens, full int) {
	p.Tokens = tokens + frameTokens
	l.window.Messages = append(l.window.Messages, p)
	l.window.Tokens += tokens + frameTokens
	l.window.Full += full + frameTokens
}

func (l *loom) message(m Message, tokens int) {
	if m.Compaction {
		return
	}
	role := string(m.Role)
	if m.Role == graphstore.Orphan {
		role = string(graphstore.User) // no API takes a tool message without its call
	}
	l.add(Prompt{Role: role, Content: m.Text}, tokens, tokens)
}

// step adds a step's messages: what came before it, what it said, and an answer to each of its calls.
func (l *loom) step(ctx context.Context, k kept, judge judge) error {
	step, tokens := k.Step, k.Tokens
	for i, m := range step.Before {
		l.message(m, tokens.Before[i])
	}
	if step.Thought == "" && step.Thinking == "" && len(step.Calls) == 0 {
		return nil
	}
	said := Prompt{Role: "assistant", Content: step.Thought, Thinking: step.Thinking}
	cost := tokens.Thought + tokens.Thinking
	for i, c := range step.Calls {
		said.Calls = append(said.Calls, PromptCall{callID(k.Node, i), c.Name, c.Args})
		cost += tokens.Calls[i]
	}
	l.add(said, cost, cost)
	if len(step.Calls) == 0 {
		l.window.Items = append(l.window.Items, Item{Node: k.ID, Seq: k.Seq, Call: -1, Fate: Said, Reason: "thoughts are always kept"})
	}
	for i := range step.Calls {
		if err := l.observation(ctx, k, i, judge); err != nil {
			return err
		}
	}
	return nil
}

// What stands where a call has no observation of its own: every API wants an answer to each call.
const (
	notAnswered = "(no result was recorded)"
	joined      = "(answered together with the last call of this turn)"
)

func (l *loom) observation(ctx context.Context, k kept, call int, judge judge) error {
	c := k.Step.Calls[call]
	answer := Prompt{Role: "tool", CallID: callID(k.Node, call)}
	switch {
	case c.Joined:
		answer.Content = joined
		l.add(answer, l.tokens(joined), l.tokens(joined))
		return nil
	case c.Observation == nil:
		answer.Content = notAnswered
		l.item(k.Node, call, Waiting, "not answered yet", l.tokens(notAnswered))
		l.add(answer, l.tokens(notAnswered), l.tokens(notAnswered))
		return nil
	}
	v := judge(k.ID)
	tokens := k.Tokens.Observations[call]
	switch {
	case v.fate == Whole:
		n, err := l.session.whole(ctx, k)
		if err != nil {
			return err
		}
		answer.Content = n.Step.Calls[call].Observation.Text
		l.newest = len(l.window.Messages)
	case v.text != "":
		answer.Content = v.text
		tokens = l.tokens(v.text)
	default:
		answer.Content = compress.Placeholder(k.Lines[call], c.Observation.Images)
		tokens = l.tokens(answer.Content)
	}
	l.item(k.Node, call, v.fate, v.reason, tokens)
	l.window.Items[len(l.window.Items)-1].In = v.in
	answer.Content += v.tail.text
	l.add(answer, tokens+v.tail.tokens, k.Tokens.Observations[call])
	return nil
}

// status shows the state of the tests to the agent at the end of the newest observation (§3.3): at
// the tail, so that nothing before it changes from request to request.
func (l *loom) status(text string) {
	if text == "" || l.newest == 0 {
		return
	}
	text = "\n\n" + text
	newest := &l.window.Messages[l.newest]
	tokens := l.session.engine.count.Behind(newest.Content, text)
	newest.Content += text
	newest.Tokens += tokens
	l.window.Tokens += tokens
}

// item accounts for a call's observation.
func (l *loom) item(n *Node, call int, fate Fate, reason string, tokens int) {
	full := n.Tokens.Observations[call]
	if fate == Waiting {
		full = tokens
	}
	l.window.Items = append(l.window.Items, Item{Node: n.ID, Seq: n.Seq, Call: call, Handle: NewHandle(n.ID, call),
		Fate: fate, Reason: reason, Tokens: tokens, Full: full, Lines: n.Lines[call]})
}

// tokens counts a text that is not a part of a step. Short ones repeat.
func (l *loom) tokens(text string) int {
	if len(text) > 200 {
		return l.session.engine.count.Count(text)
	}
	n, ok := l.placeholder[text]
	if !ok {
		n = l.session.engine.count.Count(text)
		l.placeholder[text] = n
	}
	return n
}

// callID is the client's id of a call, or one made from its place where the trace has none or the
// turn has it twice.
func callID(n *Node, call int) string {
	id := n.Step.Calls[call].ID
	for i, c := range n.Step.Calls {
		if id == "" || i != call && c.ID == id {
			return fmt.Sprintf("call_%d_%d", n.Seq, call)
		}
	}
	return id
}
