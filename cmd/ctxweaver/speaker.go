package main

import (
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// speaker is the controller that a command names: rules, or a model of an Ollama server and how to ask it.
type speaker struct {
	name   string // "" is none
	host   string
	noGate bool

	rules  bool
	doctor doctor
	ollama *controller.Ollama
	model  controller.Model
}

// helpOnControllers says what --controller takes.
const helpOnControllers = `A controller is "rules", or a model of an Ollama server and how to ask it: smollm2:135m/chat has it write its choices,
smollm2:135m/scores reads how likely each candidate is as its next word, all-minilm:22m/embeddings compares vectors.
Without such an ending a model that only makes vectors is asked for these, any other to chat.`

func (s *speaker) flags(f *pflag.FlagSet, purpose string) {
	f.StringVarP(&s.name, "controller", "c", "", purpose)
	f.StringVar(&s.host, "host", "", hostUsage)
	f.BoolVar(&s.noGate, "no-gate", false, "take a model as it is, without examining it: what it says is kept and not selected")
}

// find finds the controller, and the whole of its name.
func (s *speaker) find(ctx context.Context) (err error) {
	if s.name == "rules" {
		s.rules = true
		return nil
	}
	s.doctor.OllamaOptions = s.options()
	s.doctor.ask = string(s.doctor.Ask)
	if s.ollama, s.model, err = s.doctor.open(ctx); err != nil {
		return err
	}
	s.name = s.model.Name + "/" + string(cmp.Or(s.doctor.Ask, controller.AskChat))
	return nil
}

// options are how the model is asked that is named.
func (s *speaker) options() controller.OllamaOptions {
	model, ask := asked(s.name)
	// A stored session has time. When it is of no use to ask on, a Reweave ends by itself.
	return controller.OllamaOptions{Host: s.host, Model: model, Ask: ask, Breaker: controller.Breaker{Failures: math.MaxInt}}
}

// isModel reports whether a model is named, which somebody must serve.
func (s *speaker) isModel() bool { return s.name != "" && s.name != "rules" }

// wellNamed refuses what can be no model or no server before anything is done.
func (s *speaker) wellNamed() error {
	if !s.isModel() {
		return nil
	}
	if _, err := controller.NewOllama(s.options()); err != nil {
		return usageError{err}
	}
	return nil
}

// asked takes a controller's name apart: the model, and how it is asked for parents, "" if that is not said.
func asked(name string) (model string, ask controller.Asking) {
	for _, ask := range []controller.Asking{controller.AskChat, controller.AskScores, controller.AskEmbeddings} {
		if model, ok := strings.CutSuffix(name, "/"+string(ask)); ok {
			return model, ask
		}
	}
	return name, ""
}

// reweaving is how the controller is asked about all steps of a session.
func (s *speaker) reweaving(parents, summaries bool) engine.Reweaving {
	r := engine.Reweaving{By: s.name}
	if s.rules {
		r.Selector = controller.Rules{}
		return r
	}
	if parents {
		r.Selector = s.ollama
	}
	if summaries {
		r.Summarizer = s.ollama
	}
	return r
}

// trusted is what the model may do, of what it is wanted for, by the verdict on it, which may take minutes to come to.
// What it is refused for is told in one line, and left to rules. From then on no other model is asked by that name.
func (a *app) trusted(ctx context.Context, s *speaker, parents, summaries bool) (bool, bool, error) {
	v, err := a.verdict(ctx, s.doctor, s.ollama, s.model)
	if err != nil {
		return false, false, cancelled(ctx, err)
	}
	if refused := refusals(v, parents, summaries); refused != "" {
		a.complain(s.name + ": Refused " + refused + "; the engine goes on by rules.")
	}
	s.doctor.Digest = v.Digest
	s.ollama, err = controller.NewOllama(s.doctor.OllamaOptions)
	return parents && v.Parents, summaries && v.Summaries, err
}

// refusals says for what of that which is wanted a model is refused, and why; "" for nothing.
func refusals(v controller.Verdict, parents, summaries bool) string {
	var refused []string
	if parents && !v.Parents {
		refused = append(refused, "for parents: "+oneLine(v.ParentsWhy))
	}
	if summaries && !v.Summaries {
		refused = append(refused, "for summaries: "+oneLine(v.SummariesWhy))
	}
	return strings.Join(refused, "; ")
}

// warn says of a model that is asked for an opinion alone if it is known to be of little use. It is not examined for that.
func (a *app) warn(s *speaker, summaries bool) {
	kept, err := controller.UserVerdicts()
	if err != nil {
		return // there is no verdict to tell of
	}
	v, known, err := kept.Find(controller.Exam{}, s.ollama, s.model)
	if err != nil || !known {
		return // doctor tells of a verdict that cannot be read
	}
	if refused := refusals(v, true, summaries); refused != "" {
		a.complain(s.name + ": its examination refused it " + refused + "; it is asked for an opinion all the same")
	}
}
