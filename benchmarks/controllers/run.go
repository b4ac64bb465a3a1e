package controllers

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// Version names the definitions of what is measured. Figures of different versions are not comparable.
const Version = "1"

// Options say how much is measured. The zero value takes all steps of all sessions, and no planted case.
type Options struct {
	First    int    `json:"first"`             // calls of each session that count; 0 is all
	Sessions int    `json:"sessions"`          // drawn from those at hand; 0 is all
	Steps    int    `json:"steps_per_session"` // about which models are asked, first those with a literal parent; 0 is all
	Planted  int    `json:"planted"`           // cases
	Sums     int    `json:"summaries"`         // steps that each model sums up: so many real ones, and made-up ones
	Seed     uint64 `json:"seed"`
	Folds    int    `json:"folds"` // weights of the working set are fitted on other folds; below 2 they are the built-in ones
	// Replay says how policies are replayed; First, Weights, Selector, Trust and Each are set here.
	Replay engine.ReplayOptions `json:"-"`
	// Cache is a folder for what models say and what was measured; "" is none.
	Cache string `json:"-"`
	// Program names the build that measures. What another one has measured is not taken from the Cache; what a model has
	// said is.
	Program string `json:"-"`
	// Part, if not nil, is told of each part of the work before it begins, and of how many pieces; Done of each
	// piece, from several goroutines.
	Part func(name string, pieces int) `json:"-"`
	Done func()                        `json:"-"`
}

// run is a measurement under way.
type run struct {
	Options
	cache     cache
	sessions  []evidence.Session // drawn
	questions [][]question       // by session
	picked    [][]int            // of the questions, those that models are asked
	cases     []controller.PlantedCase
	speakers  []*speaker // rules, baselines, models
}

// speaker is a controller with all that it has said.
type speaker struct {
	name    string
	kind    Kind
	model   *Model // nil but for a ByModel
	planted []answer
	said    [][]answer // by session and question
	heard   [][]bool   // whether it was asked
	memory  int64
	sums    *Summaries
	modes   map[mode]*adoption
}

// Run asks rules, baselines and models about the sessions and sums up what came of it. Cancelled, it has kept in the
// Cache what was done. The error of a model names it; controller.ErrNoServer and the like tell why.
func Run(ctx context.Context, all []evidence.Session, models []*Model, o Options) (*Report, error) {
	r := &run{Options: o, cache: cache(o.Cache), cases: controller.Planted(o.Seed, o.Planted)}
	if r.Part == nil {
		r.Part = func(string, int) {}
	}
	if r.Done == nil {
		r.Done = func() {}
	}
	weights, err := r.weights(ctx, all)
	if err != nil {
		return nil, err
	}
	r.sessions = drawSessions(all, o.Sessions, o.Seed)
	if len(r.sessions) == 0 {
		return nil, errors.New("there is no session to ask about")
	}
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	r.withoutModels(ctx)
	for _, m := range models {
		s := r.speaker(m.Name, ByModel)
		s.model = m
		if err := r.interview(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if err := r.adopt(ctx, weights); err != nil {
		return nil, err
	}
	return r.report()
}

// gather finds the questions and picks those that models are asked.
func (r *run) gather(ctx context.Context) error {
	r.Part("read", len(r.sessions))
	r.questions = make([][]question, len(r.sessions))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range r.sessions {
		group.Go(func() (err error) {
			if r.questions[i], err = questions(working, s, r.First); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			r.Done()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	for i, s := range r.sessions {
		r.picked = append(r.picked, drawSteps(r.questions[i], r.Steps, r.Seed, s.Hash))
	}
	return nil
}

func (r *run) speaker(name string, kind Kind) *speaker {
	s := &speaker{name: name, kind: kind, modes: map[mode]*adoption{}}
	for _, qs := range r.questions {
		s.said, s.heard = append(s.said, make([]answer, len(qs))), append(s.heard, make([]bool, len(qs)))
	}
	r.speakers = append(r.speakers, s)
	return s
}

// withoutModels has rules and baselines answer everything.
func (r *run) withoutModels(ctx context.Context) {
	s := r.speaker("rules", ByRules)
	for _, c := range r.cases {
		a, _ := controller.Rules{}.Select(ctx, c.Question) // rules cannot fail
		s.planted = append(s.planted, answer{Choices: a.Choices})
	}
	r.all(s, func(q question) controller.Answer { return ranked(s.name, q.rules) })
	for _, b := range baselines {
		s := r.speaker(b.name, ByBaseline)
		for _, c := range r.cases {
			s.planted = append(s.planted, answer{Choices: ranked(b.name, b.choose(c.Question, r.Seed)).Choices})
		}
		r.all(s, func(q question) controller.Answer { return ranked(b.name, b.choose(q.ask, r.Seed)) })
	}
}

func (r *run) all(s *speaker, say func(question) controller.Answer) {
	for i, qs := range r.questions {
		for k, q := range qs {
			s.said[i][k], s.heard[i][k] = answer{Choices: say(q).Choices}, true
		}
	}
}

// interview asks a model all that it is to be asked.
func (r *run) interview(ctx context.Context, s *speaker) error {
	n := len(r.cases)
	for _, picked := range r.picked {
		n += len(picked)
	}
	r.Part(s.name, n)
	for _, c := range r.cases {
		a, err := r.ask(ctx, s.model, c.Question, hashed(c.Question))
		if err != nil {
			return err
		}
		s.planted = append(s.planted, a)
		r.Done()
	}
	for i, picked := range r.picked {
		for _, k := range picked {
			q := r.questions[i][k]
			a, err := r.ask(ctx, s.model, q.ask, q.hash)
			if err != nil {
				return err
			}
			s.said[i][k], s.heard[i][k] = a, true
			r.Done()
		}
	}
	var err error
	if s.memory, err = r.memory(ctx, s.model); err != nil {
		return err
	}
	s.sums, err = r.summaries(ctx, s.model)
	return err
}

// memory is what a model takes; what was seen before counts where it is not loaded any more.
func (r *run) memory(ctx context.Context, m *Model) (int64, error) {
	var size int64
	key := []string{"memory", m.key}
	if r.cache.get(key, &size) {
		return size, nil
	}
	size, err := m.memory(ctx)
	if err != nil || size == 0 {
		return 0, err
	}
	return size, r.cache.put(key, size)
}
