package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Reweaving says who is asked about a stored session again, and what becomes of the answers.
type Reweaving struct {
	// By names the controller; what it says is kept under that name, beside what others said.
	By string
	// Selector and Summarizer are asked about every step; one that is nil is not. controller.Rules as Selector
	// sees the session as it was at each step, and writes the summaries too.
	Selector   Selector
	Summarizer Summarizer
	// Adopt merges each opinion into its node, as if it had been asked when the step came. Trust is as in Options, for
	// parents and summaries each if somebody is asked for them: what was said of the other before is not trusted by it.
	Adopt bool
	Trust bool
	// Each, if not nil, is told of every step with what is now kept of it: the zero Opinion where nothing is.
	Each func(Node, Opinion)
}

// Rewoven counts what became of a session's steps.
type Rewoven struct {
	Steps  int `json:"steps"`
	Asked  int `json:"asked"`
	There  int `json:"there"`  // not asked again: the same model said it, told the same
	Silent int `json:"silent"` // left to rules
	Failed int `json:"failed"` // without an answer, or with one of which some was refused
	// Err is why, the last time.
	Err string `json:"error,omitempty"`
	// Origin adds up what it took.
	Origin graphstore.Origin `json:"origin"`
}

// ErrController is returned where a controller failed, and not the store: all steps are as they were.
var ErrController = errors.New("the controller failed")

// mostFailures in a row end a Reweave: the server is gone, or the model is of no use at all.
const mostFailures = 5

// Reweave runs a controller over the session once more, from its first step to the head, and keeps what it says as
// opinions. What the same model has said of a step already, told the same, is not asked again; so a Reweave that
// was cut short goes on where it stopped. Several failures in a row end it with ErrController and the last one's
// error, and controller.ErrUnfit does at once. Answers of no use are no such failures once the model has given one of
// use. A failure takes back nothing that the controller said of a step before.
func (s *Session) Reweave(ctx context.Context, r Reweaving) (Rewoven, error) {
	path, err := s.history(ctx, "")
	if err != nil {
		return Rewoven{}, err
	}
	if len(path) == 0 {
		return Rewoven{}, fmt.Errorf("session %s: %w", s.name, ErrNotFound)
	}
	there, err := s.engine.store.Opinions(ctx, s.name, r.By)
	if err != nil {
		return Rewoven{}, err
	}
	w := &reweaver{Reweaving: r, session: s, path: path, there: there, line: make(chan struct{}, 1)}
	if _, ok := r.Selector.(controller.Rules); ok {
		return w.rules(ctx)
	}
	return w.model(ctx)
}

// reweaver is a Reweave at work.
type reweaver struct {
	Reweaving
	session *Session
	path    []kept
	there   map[NodeID]Opinion
	line    chan struct{} // see counsel
	inRow   int           // failures
	heard   bool          // an answer of use
	sum     Rewoven
}

// model asks a model about all steps.
func (w *reweaver) model(ctx context.Context) (Rewoven, error) {
	digest, err := w.digest(ctx)
	if err != nil {
		return w.sum, err
	}
	for _, c := range []any{w.Selector, w.Summarizer} {
		if err := w.session.recount(ctx, c, digest); err != nil {
			return w.sum, err
		}
	}
	for i, k := range w.path {
		if err := ctx.Err(); err != nil {
			return w.sum, err
		}
		q, err := w.session.question(ctx, w.path, i, digest)
		if err != nil {
			return w.sum, err
		}
		o, err := w.step(ctx, q, w.there[k.ID], digest)
		if err != nil {
			return w.sum, err
		}
		w.tell(q.node, o)
	}
	return w.sum, nil
}

// step asks about one step what the same model, told the same, has not said of it, and keeps the answer. It returns
// what is kept then.
func (w *reweaver) step(ctx context.Context, q question, o Opinion, digest string) (Opinion, error) {
	s, z := w.Selector, w.Summarizer
	same := w.same(o, digest)
	if same {
		s, z = w.unheard(o)
	}
	var h heard
	if s != nil || z != nil {
		h = q.put(ctx, s, z, w.session.engine.opts.Patience, w.line)
		if err := ctx.Err(); err != nil {
			return o, err
		}
	}
	switch {
	case h.silent() && !same:
		w.sum.Silent++
		return Opinion{}, nil
	case h.silent():
		w.sum.There++
		return o, w.keep(ctx, q, o, true)
	}
	said := q.opinion(h, w.By)
	w.count(said)
	if err := w.bear(h); err != nil {
		return o, err
	}
	said = h.complete(said, o)
	switch {
	case h.answer != nil || h.summary != nil || !answered(o):
		return said, w.keep(ctx, q, said, false)
	case same: // a failure takes nothing back, and is paid for
		said.Err = o.Err
		return said, w.keep(ctx, q, said, false)
	}
	return o, nil
}

// bear returns an error where a failure ends it all.
func (w *reweaver) bear(h heard) error {
	switch {
	case errors.Is(h.err, controller.ErrUnfit):
		return fmt.Errorf("session %s: %w: %w", w.session.name, ErrController, h.err)
	case h.answer != nil || h.summary != nil:
		w.inRow, w.heard = 0, true
	case w.heard && useless(h.err): // the server works, and the next step may suit the model better
	default:
		w.inRow++
	}
	if w.inRow == mostFailures {
		return fmt.Errorf("session %s: %w %d times in a row: %w", w.session.name, ErrController, w.inRow, h.err)
	}
	return nil
}

// digest is that of the model which is asked, "" if it cannot be known.
func (w *reweaver) digest(ctx context.Context) (string, error) {
	for _, c := range []any{w.Selector, w.Summarizer} {
		if m, ok := c.(modelled); ok {
			model, err := patiently(ctx, w.session.engine.opts.Patience, w.line, m.Model)
			if err != nil {
				err = fmt.Errorf("session %s: %w: %w", w.session.name, ErrController, err)
			}
			return model.Digest, err
		}
	}
	return "", nil
}

// answered reports whether an opinion says anything, if only that there are no parents.
func answered(o Opinion) bool {
	return o.Node != "" && (o.Err == "" || o.Summary != "" || len(o.Parents) > 0)
}

// useless reports whether an error is of answers that came, and were of no use.
func useless(err error) bool {
	return errors.Is(err, controller.ErrBabble) || errors.Is(err, controller.ErrInvented) || errors.Is(err, controller.ErrTooLong)
}

// prompted is a controller that can say what it tells its model before the question.
type prompted interface{ Prompts() []string }

// unheard is who has not said anything of a part of a step, in an opinion that is the same otherwise.
func (w *reweaver) unheard(o Opinion) (s Selector, z Summarizer) {
	choosing, summing := controller.Origin(o.Origin).Prompts()
	if len(o.Parents) == 0 && choosing == "" && summing != "" {
		s = w.Selector
	}
	if o.Summary == "" && summing == "" {
		z = w.Summarizer
	}
	return s, z
}

// same reports whether an opinion is what would be heard again: the same model, told the same, had an answer.
func (w *reweaver) same(o Opinion, digest string) bool {
	if digest == "" || o.Origin.Digest != digest || !answered(o) {
		return false
	}
	var now []string
	for _, c := range []any{w.Selector, w.Summarizer} {
		if p, ok := c.(prompted); ok {
			now = append(now, p.Prompts()...)
		}
	}
	changed := func(hash string) bool { return !slices.Contains(now, hash) }
	return len(now) == 0 || !slices.ContainsFunc(strings.Fields(o.Origin.Prompt), changed)
}

func (w *reweaver) count(o Opinion) {
	w.sum.Asked++
	if o.Err != "" {
		w.sum.Failed++
		w.sum.Err = o.Err
	}
	t := &w.sum.Origin
	t.Model, t.Digest = o.Origin.Model, o.Origin.Digest
	t.Calls, t.In, t.Out, t.Took = t.Calls+o.Origin.Calls, t.In+o.Origin.In, t.Out+o.Origin.Out, t.Took+o.Origin.Took
}

// keep keeps an opinion, unless it is kept already, and merges it into its node if that is wanted. A node that
// left the path meanwhile is left alone.
func (w *reweaver) keep(ctx context.Context, q question, o Opinion, kept bool) error {
	switch {
	case w.Adopt:
		if _, err := w.session.merge(ctx, q, o, belief{w.Trust && w.Selector != nil, w.Trust && w.Summarizer != nil}); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	case kept:
		return nil
	}
	return w.session.engine.store.Opine(ctx, w.session.name, o)
}

func (w *reweaver) tell(n Node, o Opinion) {
	w.sum.Steps++
	if w.Each != nil {
		w.Each(n, o)
	}
}

// rules studies all steps anew, each as the session was then.
func (w *reweaver) rules(ctx context.Context) (Rewoven, error) {
	a := newAnalyst(w.session.engine)
	a.task = taskOf(w.path)
	for from := 0; from < len(w.path); from += batchNodes {
		var batch []Opinion
		var nodes []Node
		for i, k := range w.path[from:min(from+batchNodes, len(w.path))] {
			n, err := w.session.whole(ctx, k)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return w.sum, err
			}
			w.session.restudy(ctx, a, &n, w.path[:from+i])
			batch = append(batch, Opinion{Node: n.ID, By: w.By, Parents: n.Parents, Summary: n.Summary, DependencySummary: n.DependencySummary})
			nodes = append(nodes, n)
		}
		if err := w.session.engine.store.Opine(ctx, w.session.name, batch...); err != nil {
			return w.sum, err
		}
		for i, o := range batch {
			w.count(o)
			w.tell(nodes[i], o)
		}
	}
	return w.sum, nil
}

// restudy finds out by rules what depends on the path before a node, as study does.
func (s *Session) restudy(ctx context.Context, a *analyst, n *Node, before []kept) {
	turn := turnOf(a.task, n)
	facts := controller.Extract(turn)
	n.Parents = a.choose(ctx, turn, before)
	change := a.validate(n, turn)
	summarise(ctx, n, turn, facts, s.dependencies(n))
	a.remember(n, turn, facts)
	for _, id := range change.Superseded {
		_ = a.trace.Mark(id, string(graphstore.Superseded)) // it was added
	}
}
