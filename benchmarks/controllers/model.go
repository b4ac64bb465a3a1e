package controllers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/ctxweaver/ctxweaver/controller"
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
