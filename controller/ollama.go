package controller

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// Asking is how a model is asked for parents.
type Asking string

const (
	// AskChat has the model write its choices, with confidence and reasons, as JSON of a fixed schema.
	AskChat Asking = "chat"
	// AskScores reads how likely each candidate's letter is as the model's next token, against how likely it
	// is for a question without content.
	AskScores Asking = "scores"
	// AskEmbeddings compares the vectors of an embedding model.
	AskEmbeddings Asking = "embeddings"
)

// What callers may want to tell apart. After each of them rules can go on.
var (
	ErrNoServer = errors.New("no Ollama server")                    // nothing answers at the address
	ErrServer   = errors.New("the Ollama server failed")            // it answers, but with a failure or half an answer
	ErrNoModel  = errors.New("no such model")                       // the server does not have it
	ErrUnfit    = errors.New("the model is not fit for this")       // it cannot chat, embed or keep to a schema
	ErrBusy     = errors.New("too many questions wait")             // the queue is full
	ErrOpen     = errors.New("the model is left alone for a while") // after failures in a row: see Breaker
	ErrBabble   = errors.New("the model's answer is not valid")     // also after one repair
	ErrInvented = errors.New("the model's summary holds words that are not in its sources")
	ErrTooLong  = errors.New("the text does not fit the model's context")
)

// errReplaced is for a model that got another's name.
var errReplaced = fmt.Errorf("%w: another model has its name", ErrUnfit)

// OllamaOptions say which model to ask, and how. The zero value of all but Model is good.
type OllamaOptions struct {
	Host      string           // URL, or host:port; "": OLLAMA_HOST, else http://127.0.0.1:11434
	Model     string           // its name on the server
	Digest    string           // the one model that is asked, as Model tells it: another one by its name is ErrUnfit. "": whichever has the name
	Ask       Asking           // "": AskChat
	NumCtx    int              // context in tokens, 0: 4096. One for all calls: another one makes the server load the model anew
	KeepAlive time.Duration    // how long the server keeps the model loaded after a call, 0: 30 minutes, negative: forever
	Queue     int              // calls that may wait for the one that runs, 0: 8. A further one fails at once
	Threads   int              // processors that the model may use, 0: half of this machine's if it runs the server, negative: as many as the server likes. See options
	Count     func(string) int // tokens of a text, nil: a third of its bytes. Corrected by what the server counts
	Breaker   Breaker
}

// Ollama asks a small model on an Ollama server for parents and summaries. What it answers is checked:
// choices are candidates, summaries hold no specific word that is not in their sources. Each method is one
// call; one runs at a time, in the order they came, for a small server has room for one. Deadlines come
// with the context, also while a call waits. It is safe for concurrent use.
type Ollama struct {
	server
	opts OllamaOptions
	gate *gate

	mu      sync.Mutex
	known   Model
	knownAt time.Time
	heeds   map[string]error // by digest: whether a thinking model keeps to a schema
	stretch float64          // tokens of the server for one that Count counts, at least 1
	priors  map[[sha256.Size]byte][]float64
	vectors vectors
}

// NewOllama checks the options. It does not speak to the server yet.
func NewOllama(o OllamaOptions) (*Ollama, error) {
	srv, err := reach(o.Host)
	if err != nil {
		return nil, err
	}
	if o.Model == "" {
		return nil, errors.New("controller: no model named: say which one Ollama should run")
	}
	if !model.ParseName(o.Model).IsValid() {
		return nil, fmt.Errorf("controller: %q is no name of a model: give one such as qwen2.5:1.5b", o.Model)
	}
	o.Ask = cmp.Or(o.Ask, AskChat)
	if o.Ask != AskChat && o.Ask != AskScores && o.Ask != AskEmbeddings {
		return nil, fmt.Errorf("controller: a model cannot be asked by %q: it is chat, scores or embeddings", o.Ask)
	}
	if o.NumCtx < 0 || o.NumCtx > 0 && o.NumCtx < leastContext && o.Ask != AskEmbeddings {
		return nil, fmt.Errorf("controller: a context of %d tokens is too small to ask anything: give %d or more", o.NumCtx, leastContext)
	}
	o.Host = srv.base.String()
	o.NumCtx = cmp.Or(o.NumCtx, 4096)
	o.KeepAlive = cmp.Or(o.KeepAlive, 30*time.Minute)
	if o.Count == nil {
		o.Count = func(text string) int { return (len(text) + 2) / 3 }
	}
	if o.Queue <= 0 {
		o.Queue = 8
	}
	if o.Threads == 0 && here(srv.base.Hostname()) {
		o.Threads = max(1, runtime.NumCPU()/2)
	}
	return &Ollama{
		opts:   o,
		server: srv,
		gate:   newGate(o.Queue, o.Breaker),
		heeds:  map[string]error{}, priors: map[[sha256.Size]byte][]float64{}, stretch: 1,
	}, nil
}

// leastContext is the smallest context, in tokens, that holds a question of any use.
const leastContext = 2048

// Model is what the server says of a model.
type Model struct {
	Name       string // as the server writes it, without :latest
	Digest     string // of its manifest: another one is another model
	Size       int64  // bytes on disk
	Parameters string // how many, as "135M"
	Context    int    // the most tokens that it was made for, 0: not told

	Completion bool // it can write
	Thinking   bool // it writes thoughts before its answer
	Embedding  bool // it gives vectors
	bert       bool // its words are cut as BERT's are
}

// knownFor is how long what the server said of a model is believed. A model can be replaced under its name.
const knownFor = time.Minute

// Model asks the server for the model of the options.
func (o *Ollama) Model(ctx context.Context) (Model, error) {
	var m Model
	err := o.call(ctx, func(ctx context.Context) (err error) {
		m, err = o.look(ctx)
		return err
	})
	return m, err
}

// model is the model as it was told lately.
func (o *Ollama) model(ctx context.Context) (Model, error) {
	o.mu.Lock()
	m, at := o.known, o.knownAt
	o.mu.Unlock()
	if m.Name != "" && time.Since(at) < knownFor {
		return m, nil
	}
	return o.look(ctx)
}

// SameModel reports whether a server takes two names for the same model: case, the library's name and :latest do not matter.
func SameModel(a, b string) bool { return model.ParseName(a).EqualFold(model.ParseName(b)) }

// look asks the server anew.
func (o *Ollama) look(ctx context.Context) (Model, error) {
	ctx, cancel := o.quickly(ctx)
	defer cancel()
	list, err := o.client.List(ctx)
	if err != nil {
		return Model{}, o.fault(ctx, err)
	}
	m := Model{Name: o.opts.Model}
	want := model.ParseName(m.Name)
	var alike []string
	for _, l := range list.Models {
		switch name := model.ParseName(l.Name); {
		case name.EqualFold(want): // however it was written, one model has one name
			m.Name, m.Digest, m.Size = strings.TrimSuffix(name.DisplayShortest(), ":latest"), l.Digest, l.Size
		case strings.EqualFold(name.Model, want.Model):
			alike = append(alike, l.Name)
		}
	}
	if m.Digest == "" {
		return Model{}, o.missing(alike...)
	}
	show, err := o.client.Show(ctx, &api.ShowRequest{Model: m.Name})
	if err != nil {
		return Model{}, o.fault(ctx, err)
	}
	if want := o.opts.Digest; want != "" && m.Digest != want {
		return Model{}, fmt.Errorf("%w: its digest is %.12s now, and was %.12s", errReplaced, m.Digest, want)
	}
	m.Parameters = show.Details.ParameterSize
	if arch, ok := show.ModelInfo["general.architecture"].(string); ok {
		m.bert = strings.Contains(arch, "bert")
		if n, ok := show.ModelInfo[arch+".context_length"].(float64); ok && n > 0 && n < 1<<40 {
			m.Context = int(n)
		}
	}
	for _, c := range show.Capabilities {
		switch c {
		case "completion":
			m.Completion = true
		case "thinking":
			m.Thinking = true
		case "embedding":
			m.Embedding = true
		}
	}
	o.mu.Lock()
	o.known, o.knownAt = m, time.Now()
	o.mu.Unlock()
	return m, nil
}

// forget makes the next call ask for the model anew, after a failure.
func (o *Ollama) forget() {
	o.mu.Lock()
	o.knownAt = time.Time{}
	o.mu.Unlock()
}

// context is how many tokens a request may have with the answer to it.
func (o *Ollama) context(m Model) int {
	if m.Context > 0 {
		return min(o.opts.NumCtx, m.Context)
	}
	return o.opts.NumCtx
}

// options are the server's options of every call: where those that concern loading differ between two calls, the
// model is loaded anew. Threads of the server wait for each other many times a token, so where other work (the
// agent's own builds and tests) takes one of their processors away all of them stand still: on two busy
// processors two threads wrote 1.5 tokens a second, one wrote 60.
func (o *Ollama) options(m Model) map[string]any {
	options := map[string]any{"num_ctx": o.context(m)}
	if o.opts.Threads > 0 {
		options["num_thread"] = o.opts.Threads
	}
	return options
}

// Select asks the model what the turn of q depends on, among the newest of q.Candidates (§3.2). All that it
// chooses, at most three, are of these, with scores from 0 to 1. No choice is an
// answer too. With an error there are no choices, but Origin tells what it took.
func (o *Ollama) Select(ctx context.Context, q Question) (Answer, error) {
	if len(q.Candidates) == 0 {
		return Answer{By: o.opts.Model}, nil
	}
	start := time.Now()
	var a Answer
	err := o.call(ctx, func(ctx context.Context) error {
		m, err := o.model(ctx)
		if err != nil {
			return err
		}
		a = Answer{By: m.Name, Origin: Origin{Model: m.Name, Digest: m.Digest}}
		switch o.opts.Ask {
		case AskScores:
			return o.byScores(ctx, m, q, &a)
		case AskEmbeddings:
			return o.byEmbeddings(ctx, m, q, &a)
		}
		return o.byChat(ctx, m, q, &a)
	})
	a.Origin.Took = time.Since(start)
	if err != nil {
		return Answer{By: a.By, Origin: a.Origin}, err
	}
	return a, nil
}

// call runs work when its turn has come, and tells the breaker how it went.
func (o *Ollama) call(ctx context.Context, work func(context.Context) error) (err error) {
	pass, err := o.gate.enter(ctx)
	if err != nil {
		return fmt.Errorf("controller: %s: %w", o.opts.Model, err)
	}
	outcome := noNews
	defer func() { pass.leave(outcome) }()
	if err = work(ctx); err != nil {
		if errors.Is(err, ErrServer) || errors.Is(err, ErrUnfit) {
			o.forget()
		}
		err = fmt.Errorf("controller: %s: %w", o.opts.Model, err)
	}
	outcome = judge(err)
	return err
}

// judge says what an outcome tells of the server and its model. A caller who gave up, a text that was too long
// and an honest answer that is of no use tell nothing.
func judge(err error) news {
	switch {
	case err == nil:
		return goodNews
	case errors.Is(err, context.Canceled), errors.Is(err, ErrTooLong), errors.Is(err, ErrInvented):
		return noNews
	}
	return badNews
}
