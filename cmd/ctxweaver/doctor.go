package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// doctor is an examination as the flags ask for it.
type doctor struct {
	controller.OllamaOptions
	ask    string
	chosen bool // --ask was given: parents are wanted
	hosted bool // --host was given: a server is wanted
	again  bool
	whole  bool
}

func newDoctor(a *app) *cobra.Command {
	var d doctor
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether all is in order, and whether a model is of use",
		Long: `Without --model: does the store open, is there room on its disk, do token counts and weights load, is there an
Ollama server, and which models does it have?

With --model a model of that server is examined: does it keep to the form that it is asked for, does the server
read all that it is sent, how fast is it, does it find the steps that made-up chains of steps rest on, and does it
make words up in its summaries? It takes some minutes on a small machine, and ends sooner where so much was missed
that the rest cannot change the verdict; --whole asks the rest too. The verdict is kept in the user's cache folder
(ctxweaver/verdicts) until the model, the prompts or the examination change; --again examines anew.

A model that is refused for parents or for summaries is not used for them: the engine goes on by rules. The exit
code is 1 if the model is refused for all, or for parents where --ask was given.`,
		Example: `  ctxweaver doctor
  ctxweaver doctor --model qwen2.5:1.5b
  ctxweaver doctor --model all-minilm --ask embeddings --json`,
		Args:        arguments(0, 0),
		Annotations: map[string]string{afterInterrupt: "; what a model answered is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.chosen, d.hosted = cmd.Flags().Changed("ask"), cmd.Flags().Changed("host")
			if model, ask := asked(d.Model); ask != "" && !d.chosen { // the name of a controller is as good
				d.Model, d.ask, d.chosen = model, string(ask), true
			}
			d.Ask = controller.Asking(d.ask)
			if d.Model != "" {
				return a.examine(cmd.Context(), d)
			}
			if d.chosen || d.again || d.whole {
				return usage("--ask, --again and --whole are about a model; say which with --model")
			}
			return a.checkup(cmd.Context(), d)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&d.Model, "model", "", "examine this model")
	f.StringVar(&d.ask, "ask", "", "how to ask it for parents: chat, scores or embeddings (default: as the model can)")
	f.StringVar(&d.Host, "host", "", hostUsage)
	f.IntVar(&d.NumCtx, "num-ctx", 4096, "tokens of context to ask for")
	f.BoolVar(&d.again, "again", false, "examine it even if there is a verdict")
	f.BoolVar(&d.whole, "whole", false, "ask all, also when the verdict is certain")
	return cmd
}

// symptom is the outcome of one check. Bad is for what was asked for and is not usable.
type symptom struct {
	Check  string `json:"check"`
	State  state  `json:"state"`
	Detail string `json:"detail"`
}

type state string

const (
	fine   state = "ok"
	absent state = "none" // not there, and not needed
	bad    state = "bad"
)

// checkup looks at all but a model.
func (a *app) checkup(ctx context.Context, d doctor) error {
	library, err := controller.NewLibrary(d.Host)
	if err != nil {
		return usageError{err}
	}
	symptoms := []symptom{a.checkStore(ctx), a.checkRoom(), checkTokens(), checkWeights()}
	models, err := library.Models(ctx)
	s := symptom{"ollama", fine, fmt.Sprintf("%s has %s", library.Host(), modelNames(models))}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s = symptom{"ollama", absent, err.Error() + " (rules need none)"}
		if d.hosted {
			s.State, s.Detail = bad, err.Error()
		}
	}
	return a.tellSymptoms(append(symptoms, s))
}

func modelNames(models []controller.Model) string {
	if len(models) == 0 {
		return "no models; get one with `ollama pull NAME` or `ctxweaver model import FILE`"
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

func (a *app) tellSymptoms(list []symptom) error {
	if a.json {
		if err := a.printJSON(map[string]any{"checks": list}); err != nil {
			return err
		}
	} else {
		for _, s := range list {
			a.tell(s)
		}
	}
	if slices.ContainsFunc(list, func(s symptom) bool { return s.State == bad }) {
		return errReported
	}
	return nil
}

// tell prints one check.
func (a *app) tell(s symptom) {
	paint := map[state]func(string) string{fine: a.style().green, absent: a.style().yellow, bad: a.style().red}[s.State]
	a.print("%s %-9s %s", paint(fmt.Sprintf("%-4s", s.State)), s.Check, oneLine(s.Detail))
}

func (a *app) checkStore(ctx context.Context) symptom {
	if _, err := os.Stat(a.store); errors.Is(err, fs.ErrNotExist) {
		return symptom{"store", absent, "there is none in " + a.store + " yet; ctxweaver import makes one"}
	}
	var sessions int
	err := a.with(ctx, func(e *engine.Engine) error {
		infos, err := e.Sessions(ctx)
		sessions = len(infos)
		return err
	})
	if err != nil {
		return symptom{"store", bad, err.Error()}
	}
	return symptom{"store", fine, fmt.Sprintf("%s opens, with %s", a.store, plural(sessions, "session"))}
}

func (a *app) checkRoom() symptom {
	left, err := graphstore.Room(a.store)
	switch {
	case err != nil:
		return symptom{"disk", bad, err.Error()}
	case left < 0:
		return symptom{"disk", fine, "this system does not say how much is left"}
	}
	return symptom{"disk", fine, size(left) + " are left"}
}

func checkTokens() symptom {
	encodings := []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"}
	for _, name := range encodings {
		c, err := compress.NewCounter(name)
		if err != nil {
			return symptom{"tokens", bad, err.Error()}
		}
		if n := c.Count("hello world"); n != 2 {
			return symptom{"tokens", bad, fmt.Sprintf("%s counts %d tokens in \"hello world\"; build the program again", name, n)}
		}
	}
	return symptom{"tokens", fine, strings.Join(encodings, ", ")}
}

func checkWeights() symptom {
	w := compress.BuiltIn()
	if w == nil {
		return symptom{"weights", bad, "the built-in ones do not load; build the program again"}
	}
	return symptom{"weights", fine, fmt.Sprintf("built in, %d features", len(w.Features))}
}

// examine tells of a model, by the verdict that is kept or by a new one.
func (a *app) examine(ctx context.Context, d doctor) error {
	o, m, err := d.open(ctx)
	if err != nil {
		return err
	}
	v, err := a.verdict(ctx, d, o, m)
	if err != nil {
		return cancelled(ctx, err)
	}
	if a.json {
		err = a.printJSON(v)
	} else {
		a.tellVerdict(v)
	}
	if err == nil && (!v.Parents && !v.Summaries || d.chosen && !v.Parents) {
		return errReported
	}
	return err
}

// open finds the model, and how to ask it if nobody said.
func (d *doctor) open(ctx context.Context) (*controller.Ollama, controller.Model, error) {
	o, err := controller.NewOllama(d.OllamaOptions)
	if err != nil {
		return nil, controller.Model{}, usageError{err}
	}
	m, err := o.Model(ctx)
	if err != nil {
		return nil, controller.Model{}, cancelled(ctx, err)
	}
	if d.ask == "" && m.Embedding && !m.Completion {
		d.Ask = controller.AskEmbeddings
		o, err = controller.NewOllama(d.OllamaOptions)
	}
	return o, m, err
}

func (a *app) verdict(ctx context.Context, d doctor, o *controller.Ollama, m controller.Model) (controller.Verdict, error) {
	exam := controller.Exam{Whole: d.whole}
	kept, lost := controller.UserVerdicts()
	var begun controller.Verdict
	if !d.again && lost == nil {
		v, ok, err := kept.Find(exam, o, m)
		if ok {
			return v, nil
		}
		if err != nil { // a new verdict takes its place
			a.complain(err.Error() + "; the model is examined again")
		}
		begun = v
	}
	a.announce("Examining %s by %s; this may take minutes.", m.Name, cmp.Or(d.Ask, controller.AskChat))
	var bar *progress
	part, done := "", 0
	v, err := exam.Resume(ctx, o, begun, func(p controller.Progress) {
		if p.Part != part {
			bar.stop()
			part, done, bar = p.Part, 0, a.progress("examine "+m.Name+": "+p.Part, p.Of)
		}
		bar.add(p.Done - done)
		done = p.Done
	})
	bar.stop()
	if _, there, _ := kept.Find(exam, o, m); lost == nil && (err == nil || v.Begun && !there) {
		lost = kept.Keep(v)
	}
	if lost != nil && err == nil { // what was found out is of use all the same
		a.complain("the verdict is not kept for the next time: " + lost.Error())
	}
	return v, err
}

// tellVerdict says what was found, and what follows.
func (a *app) tellVerdict(v controller.Verdict) {
	p, w, c := v.Planted, v.Written, v.Context
	if p.Invalid == v.ParentsWhy { // it is told at the end
		p.Invalid = ""
	}
	yes := func(ok bool) state {
		if ok {
			return fine
		}
		return bad
	}
	summaries := symptom{"summaries", yes(v.Summaries), fmt.Sprintf("%d of %d have the wanted form; %d of their %d specific words are invented; checked, %d are left with %d, and %d hold what a later step needs%s", w.Valid, w.Of, w.Invented, w.Words, w.Kept, w.Passed, w.Telling, unasked(w.Cut, v.Exam.Steps-w.Of))}
	if w.Of == 0 {
		summaries = symptom{"summaries", absent, v.SummariesWhy}
	}
	for _, s := range []symptom{
		{"model", fine, fmt.Sprintf("%s, %s parameters, %s, digest %.12s, asked by %s, examined %s", v.Model, v.Parameters, size(v.Size), v.Digest, v.Ask, ago(v.When, time.Now()))},
		{"form", yes(p.Valid == p.Of), strings.TrimSpace(fmt.Sprintf("%d of %d answers have the wanted form, %d of them at once. %s", p.Valid, p.Of, p.AtOnce, p.Invalid))},
		{"context", yes(c.Honest()), strings.TrimSpace(fmt.Sprintf("of %d tokens sent to %d the server read %d; %s. %s", c.Sent, c.Size, c.Read, longer(c), c.Said))},
		{"planted", yes(v.Parents), fmt.Sprintf("%d of %d found by the first choice, %d within three, %d times none; seed %d%s", p.Found, p.Of, p.Third, p.None, v.Exam.Seed, unasked(p.Cut, v.Exam.Chains-p.Of))},
		summaries,
		{"speed", fine, fmt.Sprintf("%s a question; %.0f tokens a second read, %.0f written", p.Took.Round(10*time.Millisecond), v.Speed.Prompt, v.Speed.Output)},
	} {
		a.tell(s)
	}
	a.print("")
	a.print("%s", conclusion("parents", v.Parents, v.ParentsWhy))
	a.print("%s", conclusion("summaries", v.Summaries, v.SummariesWhy))
	if v.Cut() {
		a.print("What could not change that was not asked; --whole asks it too.")
	}
}

// unasked says how much was left out of a part.
func unasked(cut bool, n int) string {
	if !cut {
		return ""
	}
	return fmt.Sprintf("; %d more were not asked", n)
}

func longer(c controller.ContextCheck) string {
	if c.Refused {
		return "a longer prompt is refused"
	}
	return "a longer prompt is not refused"
}

func conclusion(what string, ok bool, why string) string {
	if ok {
		return fmt.Sprintf("Accepted for %s: %s.", what, oneLine(why))
	}
	return fmt.Sprintf("Refused for %s: %s; the engine goes on by rules.", what, oneLine(why))
}
