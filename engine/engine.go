package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// What is handed in and kept is graphstore's; these are its names here.
type (
	Step        = graphstore.Step
	Call        = graphstore.Call
	Observation = graphstore.Observation
	Message     = graphstore.Message
	Node        = graphstore.Node
	NodeID      = graphstore.NodeID
	SessionInfo = graphstore.SessionInfo
)

// Selector chooses what a step depends on (§3.2). Rules always come first: what literal information
// flow shows is recorded as fact. A Selector adds an opinion for what they leave open.
//
// It sees Question.Candidates, which are neither failed nor superseded, and nothing it is given
// changes afterwards. Choices outside the candidates are dropped, so is all beyond the best three. It may
// fail, hang or panic: then rules alone decide. If it has a method Wants(found []controller.Choice) bool, it is
// asked only about steps for which that is true of what rules chose. Append waits for Wants.
type Selector interface {
	Select(context.Context, controller.Question) (controller.Answer, error)
}

// Summarizer says in few words what a step did, given the task (§3.1). It is asked once all calls of the
// step are answered. If it fails, or says a specific word that is in none of its sources, rules write the summary.
type Summarizer interface {
	Summarize(context.Context, controller.SummaryQuestion) (controller.Summary, error)
}

// Options change how an Engine works. The zero value is the careful one: durable, offline, rules only.
type Options struct {
	// NoSync lets an acknowledged step be lost with the power, though not with the process.
	NoSync bool
	// InMemory keeps the store in memory; the folder is not used.
	InMemory bool
	// Encoding counts tokens; "" is o200k_base.
	Encoding string
	// Selector and Summarizer add to what rules decide; nil is rules alone. They are asked in the background, one
	// question at a time. What they say is kept as an opinion beside the node (see Store), and changes no context
	// unless Trust is set.
	Selector   Selector
	Summarizer Summarizer
	// Trust lets what they say count: their choices are selected like what rules found, after it but before a
	// guess, and their summaries replace those of rules. Set it for a model that has shown that it earns it.
	Trust bool
	// Weights rank what a working set pages in; nil is the built-in ones.
	Weights *compress.Weights
	// Deadline is how long Append waits for Selector and Summarizer, if they have nothing else to do; 0 is one
	// second, negative not at all.
	Deadline time.Duration
	// Patience bounds each call of them; 0 is one minute.
	Patience time.Duration
}

// Engine is an open store. It is safe for concurrent use.
type Engine struct {
	store   *graphstore.Store
	count   *compress.Counter
	opts    Options
	counsel *counsel // nil without a Selector or Summarizer
	// ablation is set by a replay alone.
	ablation Ablation

	mu       sync.Mutex
	sessions map[string]*Session
}

// ErrNotFound is returned for a session, step or handle that the store does not have.
var ErrNotFound = graphstore.ErrNotFound

// Open opens the store in the folder dir, and makes it if there is none. opts may be nil.
func Open(dir string, opts *Options) (*Engine, error) {
	if opts == nil {
		opts = &Options{}
	}
	count, err := compress.NewCounter(opts.Encoding)
	if err != nil {
		return nil, err
	}
	store, err := graphstore.Open(dir, &graphstore.Options{NoSync: opts.NoSync, InMemory: opts.InMemory})
	if err != nil {
		return nil, err
	}
	e := &Engine{store: store, count: count, opts: *opts, sessions: map[string]*Session{}}
	if e.opts.Deadline == 0 {
		e.opts.Deadline = time.Second
	}
	if e.opts.Patience <= 0 {
		e.opts.Patience = time.Minute
	}
	if opts.Selector != nil || opts.Summarizer != nil {
		e.counsel = newCounsel(e)
	}
	return e, nil
}

// Close gives up what is asked of Selector and Summarizer, and closes the store. Sessions of the engine
// fail afterwards.
func (e *Engine) Close() error {
	e.counsel.close()
	return e.store.Close()
}

// Store gives the graph underneath, for questions about it.
func (e *Engine) Store() *graphstore.Store { return e.store }

// Encoding names the encoding that tokens are counted in.
func (e *Engine) Encoding() string { return e.count.Encoding() }

// Session gives the session of that name, which comes into being with its first step. All callers
// of one name share it.
func (e *Engine) Session(name string) *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[name]
	if s == nil {
		s = &Session{engine: e, name: name, desks: map[string]*desk{}}
		e.sessions[name] = s
	}
	return s
}

// Sessions lists what the store has, newest first.
func (e *Engine) Sessions(ctx context.Context) ([]SessionInfo, error) { return e.store.Sessions(ctx) }

// Delete removes a session and all its steps.
func (e *Engine) Delete(ctx context.Context, name string) error {
	s := e.Session(name)
	s.appending.Lock()
	defer s.appending.Unlock()
	if err := e.store.Delete(ctx, name); err != nil {
		return err
	}
	s.forget()
	s.weaving.Lock()
	defer s.weaving.Unlock()
	clear(s.desks)
	s.index = nil
	return nil
}

// Recalled is what a Handle stands for.
type Recalled struct {
	Session string `json:"session"`
	Node    Node   `json:"node"`
	Call    int    `json:"call"` // index of the call; -1 where the handle names the whole step
}

// Text is the observation, or all observations of the step, one after the other.
func (r Recalled) Text() string {
	text := ""
	for i, c := range r.Node.Step.Calls {
		if c.Observation != nil && (r.Call < 0 || r.Call == i) {
			text += c.Observation.Text
		}
	}
	return text
}

// Recall finds what a handle stands for, in any session. It returns ErrNotFound if there is nothing, and
// an error that names them if several steps match.
func (e *Engine) Recall(ctx context.Context, h Handle) (Recalled, error) {
	prefix, call, err := h.parse()
	if err != nil {
		return Recalled{}, err
	}
	found, err := e.store.Find(ctx, prefix)
	switch {
	case err != nil:
		return Recalled{}, err
	case len(found) == 0:
		return Recalled{}, fmt.Errorf("handle %q: %w", h, ErrNotFound)
	case len(found) > 1:
		return Recalled{}, fmt.Errorf("handle %q: matches %d steps, among them %s and %s; give more digits", h, len(found), found[0].ID, found[1].ID)
	}
	node, err := e.store.Get(ctx, found[0].Session, found[0].ID)
	if err != nil {
		return Recalled{}, err
	}
	if call >= len(node.Step.Calls) || call >= 0 && node.Step.Calls[call].Observation == nil {
		return Recalled{}, fmt.Errorf("handle %q: step %d of %s has no such observation: %w", h, node.Seq, found[0].Session, ErrNotFound)
	}
	return Recalled{Session: found[0].Session, Node: node, Call: call}, nil
}
