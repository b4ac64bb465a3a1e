// Package controllers measures who chooses a step's parents and sums it up: rules, baselines, and small models on an
// Ollama server, each by the same questions.
//
// A question is what a controller is shown of a real step: what the agent says and does, and the summaries of the
// steps before it. What it should have answered is known from outside: the literal parents are the newest holders of
// the specific words that the step uses and that nobody but observations had said. Beside that stand planted chains
// (controller.Planted), what the answers cost, and what contexts gain by them.
//
// Run does it all. Whatever a model says is kept in a cache and never asked for twice.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// Kind is what sort of controller it is.
type Kind string

const (
	ByRules    Kind = "rules"
	ByBaseline Kind = "baseline" // needs no model and no thought
	ByModel    Kind = "model"
)

// Model is a model of an Ollama server and how it is asked.
type Model struct {
	Name   string // with how it is asked: "smollm2:135m/chat"
	Says   controller.Model
	ask    controller.Asking
	ollama *controller.Ollama
	writer *controller.Ollama // asks it for summaries, which does not depend on ask; nil if it cannot write
	host   string
	key    string // all that its answers depend on but the question
}

// NewModel gets ready to ask the model of the options, which must name it. A model that makes only vectors is asked for
// those if Ask is "". The error is controller.ErrNoServer, controller.ErrNoModel, or says what option is wrong.
func NewModel(ctx context.Context, o controller.OllamaOptions) (*Model, error) {
	o.Breaker.Failures = math.MaxInt // failures are what is counted
	asks, err := controller.NewOllama(o)
	if err != nil {
		return nil, err
	}
	m := &Model{ollama: asks, ask: o.Ask}
	if m.Says, err = asks.Model(ctx); err != nil {
		return nil, err
	}
	if m.ask == "" {
		m.ask = controller.AskChat
		if m.Says.Embedding && !m.Says.Completion {
			m.ask = controller.AskEmbeddings
		}
		o.Ask = m.ask
		if m.ollama, err = controller.NewOllama(o); err != nil {
			return nil, err
		}
	}
	m.Name = o.Model + "/" + string(m.ask)
	m.key = fmt.Sprint(m.Says.Digest, m.ask, o.NumCtx, m.ollama.Prompts())
	if m.Says.Completion {
		o.Ask = controller.AskChat
		if m.writer, err = controller.NewOllama(o); err != nil {
			return nil, err
		}
	}
	library, err := controller.NewLibrary(o.Host)
	if err != nil {
		return nil, err
	}
	m.host = library.Host()
	return m, nil
}

// memory is what the model takes while it is loaded, in bytes; 0 if it is not, or the server does not tell.
func (m *Model) memory(ctx context.Context) (int64, error) {
	base, err := url.Parse(m.host)
	if err != nil {
		return 0, err
	}
	running, err := api.NewClient(base, http.DefaultClient).ListRunning(ctx)
	var status api.StatusError
	if errors.As(err, &status) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("what %s has loaded: %w", m.host, err)
	}
	for _, r := range running.Models {
		if strings.TrimSuffix(r.Name, ":latest") == strings.TrimSuffix(m.Says.Name, ":latest") {
			return r.Size, nil
		}
	}
	return 0, nil
}

// baselines are what a model has to beat. They see what it sees.
var baselines = []struct {
	name   string
	choose func(q controller.Question, seed uint64) []string // ids, the best first
}{
	{"newest", func(q controller.Question, _ uint64) []string { return ids(q.Candidates) }},
	{"bm25", func(q controller.Question, _ uint64) []string {
		texts, n := compress.NewBM25(), len(q.Candidates)
		for i := range q.Candidates { // the oldest first: of two alike the newer counts
			texts.Add(q.Candidates[n-1-i].Summary)
		}
		var out []string
		for _, i := range texts.Best(intent(q.Turn), n, most, false) {
			out = append(out, q.Candidates[n-1-i].ID)
		}
		return out
	}},
	{"random", func(q controller.Question, seed uint64) []string {
		h := fnv.New64a()
		h.Write([]byte(q.Turn.ID))
		all := ids(q.Candidates)
		rand.New(rand.NewPCG(seed, h.Sum64())).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all
	}},
}

// most is how many choices count.
const most = 3

func ids(past []controller.Past) []string {
	var out []string
	for _, p := range past {
		out = append(out, p.ID)
	}
	return out
}

// intent is what a turn says and does.
func intent(t controller.Turn) string {
	text := t.Thought
	for _, c := range t.Calls {
		text += "\n" + c.Name + " " + c.Args
	}
	return text
}

// ranked makes an answer of ids, the best first.
func ranked(by string, chosen []string) controller.Answer {
	a := controller.Answer{By: by}
	for i, id := range chosen[:min(most, len(chosen))] {
		a.Choices = append(a.Choices, controller.Choice{ID: id, Kind: controller.ModelLink, Score: 0.9 - 0.1*float64(i)})
	}
	return a
}

// book is what a controller has said, by the turn's id. As a Selector it says it again, and is silent on all else.
type book struct {
	name string
	said map[string]answer
}

var _ engine.Selector = (*book)(nil)

// Select is engine.Selector's.
func (b *book) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	a, ok := b.said[q.Turn.ID]
	if !ok || a.Wrong != "" {
		return controller.Answer{}, nil
	}
	return controller.Answer{Choices: a.Choices, By: b.name, Origin: a.Origin}, nil
}
