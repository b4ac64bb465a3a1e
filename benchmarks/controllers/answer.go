package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/ctxweaver/ctxweaver/controller"
)

// answer is what a controller said to a question.
type answer struct {
	Choices []controller.Choice `json:"choices"`
	Origin  controller.Origin   `json:"origin"`
	Vector  []float32           `json:"vector,omitempty"` // of the turn
	Wrong   string              `json:"wrong,omitempty"`  // why there is none: what it said is of no use
}

// first reports whether one of the first n choices is wanted.
func (a answer) first(n int, wanted func(id string) bool) bool {
	for _, c := range a.Choices[:min(n, len(a.Choices))] {
		if wanted(c.ID) {
			return true
		}
	}
	return false
}

// slowest is how long an answer may take. A later one is of no use, but on a machine with less to do it may come in time: it
// is asked for again the next time.
const slowest = 2 * time.Minute

// ask asks a model, if it has not been asked before.
func (r *run) ask(ctx context.Context, m *Model, q controller.Question, hash string) (answer, error) {
	var a answer
	key := []string{"answer", m.key, hash}
	if r.cache.get(key, &a) {
		return a, nil
	}
	once, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	got, err := m.ollama.Select(once, q)
	a = answer{Choices: got.Choices, Origin: got.Origin, Vector: got.Vector}
	if err != nil {
		if !m.useless(ctx, err) {
			return answer{}, err
		}
		a.Wrong = err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			return a, nil
		}
	}
	return a, r.cache.put(key, a)
}

// useless tells an answer of no use from a server or a model that cannot be asked. A server ends the answer of a model that
// repeats itself: if it still answers something simple, the model is at fault.
func (m *Model) useless(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	for _, e := range []error{controller.ErrBabble, controller.ErrInvented, controller.ErrTooLong, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	if !errors.Is(err, controller.ErrServer) {
		return false
	}
	once, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	simple := controller.Question{Turn: controller.Turn{ID: "b", Seq: 1, Thought: "I go on."}, Candidates: []controller.Past{{ID: "a", Kind: controller.Run, Summary: "It began."}}}
	_, err = m.ollama.Select(once, simple)
	return err == nil || errors.Is(err, controller.ErrBabble)
}
