package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ctxweaver/ctxweaver/controller"
)

// counsel asks the Selector and the Summarizer, one question at a time, away from those who append. What they
// say is merged into the node when it comes.
type counsel struct {
	engine *Engine
	stop   context.CancelFunc
	wake   chan struct{} // holds one: there may be something in the queue
	ended  chan struct{} // closed when no more is asked
	line   chan struct{} // holds one: a call that has not come back, also one that nobody waits for any more

	mu     sync.Mutex
	queue  []*asked
	busy   bool
	closed bool
	idle   chan struct{} // closed when nothing is pending any more; nil while nothing is
	tally  Tally
	digest string // of the model that answered last, "": not known yet
}

// asked is a question that waits for its answer.
type asked struct {
	session *Session
	node    NodeID
	parents bool // what depends on the node's thought and calls
	summary bool // what needs its answers too

	done   chan struct{} // closed when the node has what it will get
	result *Node         // as it is then; nil if nothing was merged
}

// maxQueue is how many questions wait at most. When another comes the oldest is given up: rules have decided it.
const maxQueue = 256

// Tally counts what became of the questions to the Selector and Summarizer since the engine was opened.
type Tally struct {
	Asked   int `json:"asked"`   // put to them
	Merged  int `json:"merged"`  // answers that came and were kept
	Silent  int `json:"silent"`  // that they left to rules
	Failed  int `json:"failed"`  // that brought an error, a panic or nothing in time
	Dropped int `json:"dropped"` // given up, as too many waited or the engine was closed
	Gone    int `json:"gone"`    // whose node was not on its session's path any more
	Pending int `json:"pending"` // not answered yet
	// Err is the newest failure.
	Err error `json:"-"`
}

// newCounsel starts the worker. It ends with close.
func newCounsel(e *Engine) *counsel {
	ctx, stop := context.WithCancel(context.Background())
	c := &counsel{engine: e, stop: stop, wake: make(chan struct{}, 1), ended: make(chan struct{}), line: make(chan struct{}, 1)}
	go c.work(ctx)
	return c
}

// Tally tells what became of the questions so far.
func (e *Engine) Tally() Tally {
	if e.counsel == nil {
		return Tally{}
	}
	c := e.counsel
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tally
	t.Pending = c.pending()
	return t
}

// Settle waits until no question is pending, and so all that will be merged is.
func (e *Engine) Settle(ctx context.Context) error {
	if e.counsel == nil {
		return nil
	}
	e.counsel.mu.Lock()
	idle := e.counsel.idle
	e.counsel.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask queues a question about a node that is stored: about its parents if it is fresh, about its summaries once
// all its calls are answered. It returns nil if there is nothing to ask. alone reports whether nothing
// else is pending, so that an answer may come soon.
func (c *counsel) ask(s *Session, n *Node, fresh bool) (a *asked, alone bool) {
	if c == nil {
		return nil, false
	}
	opts := c.engine.opts
	a = &asked{session: s, node: n.ID, done: make(chan struct{})}
	a.parents = fresh && opts.Selector != nil && n.Seq > 0 && wants(opts.Selector, n)
	a.summary = opts.Summarizer != nil && !slices.ContainsFunc(n.Step.Calls, Call.Open)
	if !a.parents && !a.summary {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	alone = c.pending() == 0
	if len(c.queue) == maxQueue {
		close(c.queue[0].done)
		c.queue = c.queue[1:]
		c.tally.Dropped++
	}
	c.queue = append(c.queue, a)
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return a, alone
}

// wants reports whether a Selector wants to be asked about a node; one that does not say, or panics, wants all.
func wants(s Selector, n *Node) (want bool) {
	defer func() {
		if recover() != nil {
			want = true // the question itself will tell why
		}
	}()
	choosy, ok := s.(interface {
		Wants(found []controller.Choice) bool
	})
	return !ok || choosy.Wants(found(n))
}

// pending counts the questions that are not answered; mu is held.
func (c *counsel) pending() int {
	n := len(c.queue)
	if c.busy {
		n++
	}
	return n
}

// work answers questions until ctx ends.
func (c *counsel) work(ctx context.Context) {
	defer close(c.ended)
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			c.giveUp()
			return
		}
		for ctx.Err() == nil {
			a := c.next()
			if a == nil {
				break
			}
			how, err := c.hear(ctx, a)
			c.mark(how, err)
			c.rest() // before anyone goes on: the next question is alone again
			close(a.done)
		}
	}
}

func (c *counsel) next() *asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil
	}
	a := c.queue[0]
	c.queue = c.queue[1:]
	c.busy = true
	return a
}

// rest notes that a question is done with.
func (c *counsel) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	if len(c.queue) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// giveUp drops all that waits, when the engine closes.
func (c *counsel) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, a := range c.queue {
		close(a.done)
		c.tally.Dropped++
	}
	c.queue = nil
	if c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// close ends what is pending, and returns when nothing is written any more.
func (c *counsel) close() {
	if c == nil {
		return
	}
	c.stop()
	<-c.ended
}

// ending is what became of a question.
type ending int

const (
	merged ending = iota
	silent
	gone
	failure
)

func (c *counsel) mark(how ending, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.tally
	switch how {
	case merged:
		t.Merged++
	case silent:
		t.Silent++
	case gone:
		t.Gone++
	}
	if err != nil {
		t.Failed++
		t.Err = err
	}
}

// hear puts a question, waits for the answer as long as there is patience, and merges it.
func (c *counsel) hear(ctx context.Context, a *asked) (ending, error) {
	q, err := c.question(ctx, a)
	if errors.Is(err, ErrNotFound) {
		return gone, nil
	} else if err != nil {
		return failure, err
	}
	c.mu.Lock()
	c.tally.Asked++
	c.mu.Unlock()
	h := c.put(ctx, q, a)
	switch {
	case h.silent():
		return silent, nil
	case h.answer == nil && h.summary == nil:
		return failure, errors.Join(h.err, c.pay(context.WithoutCancel(ctx), a, q.opinion(h, "")))
	}
	if h.answer != nil && h.answer.Origin.Digest != "" {
		c.mu.Lock()
		c.digest = h.answer.Origin.Digest
		c.mu.Unlock()
	}
	o := q.opinion(h, "")
	// What has come is kept also when the engine is closing.
	ctx = context.WithoutCancel(ctx)
	if !a.parents { // they were asked for before the step had its answers
		o, err = c.completed(ctx, a, h, o)
	}
	if err == nil {
		a.result, err = a.session.merge(ctx, q, o, belief{c.engine.opts.Trust, c.engine.opts.Trust})
	}
	if errors.Is(err, ErrNotFound) {
		return gone, h.err
	} else if err != nil {
		return failure, err
	}
	return merged, h.err
}

// completed adds to an opinion what the same controller said of the node before.
func (c *counsel) completed(ctx context.Context, a *asked, h heard, o Opinion) (Opinion, error) {
	earlier, err := c.earlier(ctx, a, o.By)
	return h.complete(o, earlier), err
}

// earlier is what a controller said of the node before, or the zero Opinion.
func (c *counsel) earlier(ctx context.Context, a *asked, by string) (Opinion, error) {
	said, err := c.engine.store.OpinionsOn(ctx, a.session.name, a.node)
	if i := slices.IndexFunc(said, func(earlier Opinion) bool { return earlier.By == by }); i >= 0 {
		return said[i], err
	}
	return Opinion{}, err
}

// pay keeps an opinion that says only what it took, and why there is no more of it. One that was there keeps all that
// it says.
func (c *counsel) pay(ctx context.Context, a *asked, o Opinion) error {
	if o.Origin.Calls == 0 {
		return nil
	}
	earlier, err := c.earlier(ctx, a, o.By)
	if err != nil {
		return err
	}
	o = heard{}.complete(o, earlier)
	if answered(earlier) {
		o.Err = earlier.Err
	}
	return c.engine.store.Opine(ctx, a.session.name, o)
}

// question is what a node is asked about, as its session is now.
func (c *counsel) question(ctx context.Context, a *asked) (question, error) {
	path, err := a.session.history(ctx, a.node)
	if err != nil {
		return question{}, err
	}
	digest, known := c.model(ctx)
	for _, s := range []any{c.engine.opts.Selector, c.engine.opts.Summarizer} {
		if known {
			err = errors.Join(err, a.session.recount(ctx, s, digest))
		}
	}
	if err != nil {
		return question{}, err
	}
	return a.session.question(ctx, path, len(path)-1, digest)
}

// model is the digest of the model that the Selector or the Summarizer asks: for the vectors that an earlier process
// kept, and the account of what it spent. It is not known while there is no server that tells it, and "" of one that
// has none.
func (c *counsel) model(ctx context.Context) (digest string, known bool) {
	c.mu.Lock()
	digest = c.digest
	c.mu.Unlock()
	if digest != "" {
		return digest, true
	}
	for _, asked := range []any{c.engine.opts.Selector, c.engine.opts.Summarizer} {
		if asked, ok := asked.(modelled); ok {
			m, err := patiently(ctx, c.engine.opts.Patience, c.line, asked.Model)
			if err != nil {
				return "", false // the question itself will tell why
			}
			c.mu.Lock()
			c.digest = m.Digest
			c.mu.Unlock()
			return m.Digest, true
		}
	}
	return "", true
}

// modelled is a controller that can say which model it asks.
type modelled interface {
	Model(context.Context) (controller.Model, error)
}

// put asks the controllers themselves.
func (c *counsel) put(ctx context.Context, q question, a *asked) heard {
	opts := c.engine.opts
	if !a.parents {
		opts.Selector = nil
	}
	if !a.summary {
		opts.Summarizer = nil
	}
	return q.put(ctx, opts.Selector, opts.Summarizer, opts.Patience, c.line)
}

// put asks those that are not nil, each as long as there is patience.
func (q question) put(ctx context.Context, s Selector, z Summarizer, patience time.Duration, line chan struct{}) heard {
	var h heard
	if s != nil && len(q.choose.Candidates) > 0 {
		answer, err := patiently(ctx, patience, line, func(ctx context.Context) (controller.Answer, error) {
			return s.Select(ctx, q.choose)
		})
		h.answered(answer, err)
	}
	if z != nil {
		summary, err := patiently(ctx, patience, line, func(ctx context.Context) (controller.Summary, error) {
			return z.Summarize(ctx, q.sum)
		})
		h.summedUp(summary, err)
	}
	return h
}

// merge adds an opinion to its node as it is now, in one transaction, and shows it to Weave.
func (s *Session) merge(ctx context.Context, q question, o Opinion, trust belief) (*Node, error) {
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	n, err := s.take(ctx, q, o, trust)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// take is merge for who holds appending.
func (s *Session) take(ctx context.Context, q question, o Opinion, trust belief) (Node, error) {
	k, ok := s.find(q.node.ID)
	if !ok {
		return Node{}, fmt.Errorf("session %s: step %s: %w", s.name, q.node.ID, ErrNotFound)
	}
	n := adopt(*k.Node, o, s.find, q.answered, trust)
	if err := s.engine.store.Adopt(ctx, s.name, n, o); err != nil {
		return Node{}, err
	}
	s.show([]*Node{&n})
	if s.analyst != nil {
		s.analyst.mark(&n)
	}
	return s.whole(ctx, kept{&n, k.light})
}

// errStuck is for a question that comes while an earlier one hangs and does not heed its context.
var errStuck = errors.New("the controller has not come back from an earlier question")

// patiently runs f for at most d. A panic in f is an error. If f does not heed its context it is left behind,
// and holds the line: no more than one call is ever under way.
func patiently[T any](ctx context.Context, d time.Duration, line chan struct{}, f func(context.Context) (T, error)) (T, error) {
	var none T
	select {
	case line <- struct{}{}:
	default:
		return none, errStuck
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("controller panicked: %v", p)
			}
			<-line
			done <- r
		}()
		r.value, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(comeback)
	defer late.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-late.C:
		return none, ctx.Err()
	}
}

// comeback is how long a call whose time is over has to return. One that heeds its context does so at once, but not
// before the next question, which would find the line taken.
const comeback = 100 * time.Millisecond
