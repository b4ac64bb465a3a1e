package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// What a model must reach to be used.
const (
	leastFound   = 0.8  // of the planted chains, with its first choice
	leastWritten = 0.8  // of the summaries that it is asked for: valid ones
	leastTelling = 0.5  // of the summaries: with the one word that a later step needs
	mostInvented = 0.02 // of the specific words in its summaries before they are checked
	mostAstray   = 0.03 // by which the server's count of a prompt may differ from what it must be
)

// Exam finds out whether a model may do a controller's work. The zero value is ready.
type Exam struct {
	Seed   uint64 `json:"seed"`   // of the planted cases
	Chains int    `json:"chains"` // planted cases, 0: 50
	Steps  int    `json:"steps"`  // that are summed up, 0: 20
	Whole  bool   `json:"whole"`  // whether all of them are asked, also when the verdict is certain
}

// Verdict is what came of an Exam, with all figures.
type Verdict struct {
	Model      string   `json:"model"`
	Digest     string   `json:"digest"`
	Parameters string   `json:"parameters"`
	Size       int64    `json:"size"` // bytes on the server's disk
	Ask        Asking   `json:"ask"`
	NumCtx     int      `json:"num_ctx"`
	Prompts    []string `json:"prompts"` // hashes of those it was given
	Exam       Exam     `json:"exam"`

	Parents      bool   `json:"parents"` // whether it may choose parents
	ParentsWhy   string `json:"parents_why"`
	Summaries    bool   `json:"summaries"` // whether it may write summaries
	SummariesWhy string `json:"summaries_why"`

	Context ContextCheck `json:"context"`
	Planted PlantedCheck `json:"planted"`
	Written WrittenCheck `json:"written"`
	Speed   Speed        `json:"speed"`
	When    time.Time    `json:"when"`

	Begun bool `json:"begun,omitempty"` // it is none yet: the exam was broken off, and Resume goes on with it
}

// Cut reports whether less was asked than the Exam has, as the outcome was certain.
func (v Verdict) Cut() bool { return v.Planted.Cut || v.Written.Cut }

// ContextCheck says whether the server reads as much as it says. Counts are in tokens.
type ContextCheck struct {
	Size    int    `json:"size"`    // of the context that is asked for, and the model has
	Sent    int    `json:"sent"`    // of a prompt that nearly fills it
	Read    int    `json:"read"`    // of it, as the server says
	Refused bool   `json:"refused"` // a prompt that is too long, instead of being cut
	Said    string `json:"said,omitempty"`
}

// Honest reports whether prompts are read whole or not at all.
func (c ContextCheck) Honest() bool {
	return c.Refused && math.Abs(float64(c.Read-c.Sent)) <= mostAstray*float64(c.Sent)
}

// why says what is wrong with the context.
func (c ContextCheck) why() string {
	switch {
	case c.Said != "":
		return "its context is not to be relied on: " + c.Said
	case !c.Refused:
		return "a prompt that is too long is not refused"
	}
	return fmt.Sprintf("of a prompt of %d tokens the server read %d", c.Sent, c.Read)
}

// PlantedCheck says how the model did on the planted chains.
type PlantedCheck struct {
	Of      int           `json:"of"`
	Found   int           `json:"found"`             // by its first choice
	Third   int           `json:"third"`             // within its first three
	None    int           `json:"none"`              // answered that there is no parent
	Valid   int           `json:"valid"`             // answers of the wanted form
	AtOnce  int           `json:"at_once"`           // of them, without being asked again
	Cut     bool          `json:"cut,omitempty"`     // the rest was not asked: what it has missed is too much already
	Took    time.Duration `json:"took"`              // a question, the median
	Invalid string        `json:"invalid,omitempty"` // what was wrong, once
}

// WrittenCheck says how the model did at summaries.
type WrittenCheck struct {
	Of       int    `json:"of"`
	Valid    int    `json:"valid"`             // of the wanted form, before the words are checked
	Words    int    `json:"words"`             // specific words in these
	Invented int    `json:"invented"`          // of them, in none of the sources
	Kept     int    `json:"kept"`              // summaries that are left when they are checked
	Passed   int    `json:"passed"`            // invented words in those, which must be none
	Telling  int    `json:"telling"`           // of those, with the id that a later step needs
	Cut      bool   `json:"cut,omitempty"`     // the rest was not asked: the model is refused whatever it would say
	Example  string `json:"example,omitempty"` // an invented word
}

// Share is the part of the specific words that were invented.
func (c WrittenCheck) Share() float64 { return float64(c.Invented) / float64(max(1, c.Words)) }

// Speed is in tokens a second; 0 is not known.
type Speed struct {
	Prompt float64 `json:"prompt"`
	Output float64 `json:"output"`
}

// Progress says how far an Exam has come: Done of Of in a part.
type Progress struct {
	Part     string
	Done, Of int
}

// Examine asks the model of o all that is needed to judge it, with the options of o. It takes minutes on a small
// machine. The error is of a server or a model that cannot be asked at all, or of the context; the Verdict is then what
// was found so far, to be resumed. A model that does badly is a Verdict.
func (e Exam) Examine(ctx context.Context, o *Ollama, progress func(Progress)) (Verdict, error) {
	return e.Resume(ctx, o, Verdict{}, progress)
}

// Resume is Examine that does not ask again what was answered for a verdict that was broken off, or cut short, by the
// same exam. One of another is as good as none.
func (e Exam) Resume(ctx context.Context, o *Ollama, from Verdict, progress func(Progress)) (Verdict, error) {
	e = e.whole()
	// Failures are what is looked for, so none may open the breaker, and what is learned of the context is
	// not for others.
	opts, server := o.opts, o.server
	opts.Breaker.Failures = math.MaxInt
	o, err := NewOllama(opts)
	if err != nil {
		return Verdict{}, err
	}
	o.server = server
	m, err := o.Model(ctx)
	if err != nil {
		return Verdict{}, err
	}
	o.opts.Digest = m.Digest // a verdict is on one model, also where another one gets its name meanwhile
	x := &examination{Exam: e, o: o, m: m, progress: progress, cases: Planted(e.Seed, e.Chains)}
	x.v = Verdict{Model: m.Name, Digest: m.Digest, Parameters: m.Parameters, Size: m.Size, Ask: o.opts.Ask, NumCtx: o.opts.NumCtx,
		Prompts: promptsOf(o.opts.Ask), Exam: e, Begun: true}
	if on(from) == on(x.v) {
		x.v.Planted, x.v.Written = from.Planted, from.Written
		x.v.Planted.Cut, x.v.Written.Cut = false, false
	}
	same := func(ctx context.Context) error { _, err := o.Model(ctx); return err }
	for _, part := range []func(context.Context) error{x.planted, x.written, x.context, same} {
		if err := part(ctx); err != nil {
			if errors.Is(err, errReplaced) {
				return Verdict{}, err
			}
			return x.v, err
		}
	}
	x.judge()
	x.v.Begun = false
	x.v.When = time.Now().UTC().Truncate(time.Second)
	return x.v, nil
}

// whole is the exam with nothing left open.
func (e Exam) whole() Exam {
	if e.Chains <= 0 {
		e.Chains = 50
	}
	if e.Steps <= 0 {
		e.Steps = 20
	}
	return e
}

// promptsOf are the hashes of the prompts that a model is given which is asked this way.
func promptsOf(ask Asking) []string {
	switch ask {
	case AskScores:
		return []string{scoresPrompt.hash, stepPrompt.hash, dependencyPrompt.hash}
	case AskEmbeddings:
		return []string{}
	}
	return []string{parentsPrompt.hash, stepPrompt.hash, dependencyPrompt.hash}
}

// examination is an Exam at work.
type examination struct {
	Exam
	o        *Ollama
	m        Model
	v        Verdict
	cases    []PlantedCase
	progress func(Progress)
}

func (x *examination) tell(part string, done, of int) {
	if x.progress != nil {
		x.progress(Progress{part, done, of})
	}
}

// slowest is how long one answer may take. A later one is as good as none.
const slowest = 2 * time.Minute

// excuse is nil for an answer that is of no use, and the error that ends the exam for a server that cannot be
// asked.
func (x *examination) excuse(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrServer), errors.Is(err, context.DeadlineExceeded):
		// A server ends the answer of a model that repeats itself. If it still answers something simple, the model is
		// at fault.
		once, cancel := context.WithTimeout(ctx, slowest)
		defer cancel()
		if _, _, dead := x.read(once, "A", 1); dead != nil {
			return err
		}
		return nil
	case errors.Is(err, errReplaced): // which is unfit for more than a question
		return err
	case errors.Is(err, ErrBabble), errors.Is(err, ErrInvented), errors.Is(err, ErrTooLong), errors.Is(err, ErrUnfit):
		return nil
	}
	return err
}

// planted asks for the parents of all planted cases.
func (x *examination) planted(ctx context.Context) error {
	c := &x.v.Planted
	took := slices.Repeat([]time.Duration{c.Took}, c.Valid) // of those that were answered before
	for i := c.Of; i < len(x.cases) && !x.settled(); i++ {
		planted := x.cases[i]
		x.tell("planted chains", i, len(x.cases))
		once, cancel := context.WithTimeout(ctx, slowest)
		a, err := x.o.Select(once, planted.Question)
		cancel()
		if err != nil {
			if stop := x.excuse(ctx, err); stop != nil {
				return stop
			}
			c.Invalid = err.Error()
		} else {
			took = append(took, a.Origin.Took)
		}
		x.mark(planted, a, err)
		if slices.Sort(took); len(took) > 0 {
			c.Took = took[len(took)/2]
		}
		if errors.Is(err, ErrUnfit) {
			return nil // it cannot be asked
		}
	}
	c.Cut = c.Of < len(x.cases)
	return nil
}

// settled reports whether the model is refused for parents whatever else it would answer, and no more is to be asked.
func (x *examination) settled() bool {
	c, all := x.v.Planted, len(x.cases)
	certain := float64(c.Found+all-c.Of) < leastFound*float64(all)
	return !x.Whole && (certain || c.Of >= 5 && c.Valid == 0)
}

// mark counts an answer about a planted case.
func (x *examination) mark(planted PlantedCase, a Answer, err error) {
	c := &x.v.Planted
	if c.Of++; err != nil {
		return
	}
	c.Valid++
	if x.o.opts.Ask != AskChat || a.Origin.Calls == 1 {
		c.AtOnce++
	}
	switch {
	case len(a.Choices) == 0:
		c.None++
	case planted.Found(a, 1):
		c.Found++
		c.Third++
	case planted.Found(a, mostChoices):
		c.Third++
	}
}

// written has steps summed up: once as the model does it, and once as it is checked.
func (x *examination) written(ctx context.Context) error {
	if !x.m.Completion {
		return nil
	}
	c := &x.v.Written
	for i := c.Of; i < x.Steps && !x.refused(); i++ {
		x.tell("summaries", i, x.Steps)
		before := *c
		once, cancel := context.WithTimeout(ctx, slowest)
		err := x.write(once, x.cases[i%len(x.cases)])
		cancel()
		if err != nil {
			if stop := x.excuse(ctx, err); stop != nil {
				*c = before
				return stop
			}
		}
	}
	c.Cut = c.Of < x.Steps
	return nil
}

// refused reports whether the model is refused for summaries whatever else it would write, and no more is to be asked.
func (x *examination) refused() bool {
	c := x.v.Written
	left := x.Steps - c.Of
	certain := c.Passed > 0 || float64(c.Valid+left) < leastWritten*float64(x.Steps) || float64(c.Telling+left) < leastTelling*float64(x.Steps)
	return certain && !x.Whole
}

// write has the step summed up that printed what a later one needs.
func (x *examination) write(ctx context.Context, planted PlantedCase) error {
	c := &x.v.Written
	c.Of++
	at := slices.IndexFunc(planted.Turns, func(t Turn) bool { return t.ID == planted.Want })
	t := planted.Turns[at]
	q := SummaryQuestion{Turn: t, Facts: Extract(t)}
	for _, parent := range planted.Turns[max(0, at-2):at] {
		s, _ := Rules{}.Summarize(ctx, SummaryQuestion{Turn: parent, Facts: Extract(parent)}) // rules cannot fail
		q.Parents = append(q.Parents, s.Dependency)
	}
	known := sources(append(t.Told(), q.Parents...)...)
	raw, err := x.raw(ctx, t)
	if err != nil {
		return err
	}
	c.Valid++
	c.Words += len(sources().invented(raw)) // without sources: all of them
	if made := known.invented(raw); len(made) > 0 {
		c.Invented += len(made)
		c.Example = made[0]
	}
	s, err := x.o.Summarize(ctx, q)
	if err != nil {
		return err
	}
	c.Kept++
	if strings.Contains(s.Step, planted.ID) {
		c.Telling++
	}
	c.Passed += len(known.invented(s.Step + "\n" + s.Dependency))
	return nil
}

// raw is the model's summary of a step as it writes it.
func (x *examination) raw(ctx context.Context, t Turn) (text string, err error) {
	err = x.o.call(ctx, func(ctx context.Context) error {
		if err := x.o.fit(ctx, x.m); err != nil {
			return err
		}
		r := x.o.roomIn(x.m)
		messages, err := stepPrompt.messages(filling{Task: x.o.cut(plainText(t.Task), r.task), Turn: x.o.account(t, r.turn+r.past*mostShown)})
		if err != nil {
			return err
		}
		reply, err := x.o.chat(ctx, x.m, request{messages: messages, schema: summarySchema, predict: mostWritten})
		if err != nil {
			return err
		}
		if text, err = summaryIn(reply.text, stepWords); err != nil {
			return fmt.Errorf("%w: %w", ErrBabble, err)
		}
		return nil
	})
	return text, err
}

// judge makes up its mind.
func (x *examination) judge() {
	v := &x.v
	p, w := v.Planted, v.Written
	switch {
	case p.Valid == 0:
		v.ParentsWhy = p.Invalid
	case !v.Context.Honest():
		v.ParentsWhy = v.Context.why()
	default:
		v.Parents = !p.Cut && float64(p.Found) >= leastFound*float64(p.Of)
		v.ParentsWhy = fmt.Sprintf("found %d of %d planted chains%s, %.0f %% are needed", p.Found, p.Of, atMost(p.Cut, p.Found, p.Of, x.Chains), 100*leastFound)
	}
	switch {
	case !x.m.Completion:
		v.SummariesWhy = "it cannot write"
	case !v.Context.Honest():
		v.SummariesWhy = v.Context.why()
	case float64(w.Valid+x.Steps-w.Of) < leastWritten*float64(x.Steps):
		v.SummariesWhy = fmt.Sprintf("%d of %d summaries have the wanted form%s, %.0f %% are needed", w.Valid, w.Of, atMost(w.Cut, w.Valid, w.Of, x.Steps), 100*leastWritten)
	case w.Passed > 0:
		v.SummariesWhy = fmt.Sprintf("it made words up, such as %s, that got through the check", w.Example)
	case (w.Cut || w.Share() <= mostInvented) && float64(w.Telling+x.Steps-w.Of) < leastTelling*float64(x.Steps):
		v.SummariesWhy = fmt.Sprintf("%d of %d summaries hold the id that a later step needs%s, %.0f %% are needed", w.Telling, w.Of, atMost(w.Cut, w.Telling, w.Of, x.Steps), 100*leastTelling)
	default:
		v.Summaries = w.Share() <= mostInvented
		v.SummariesWhy = fmt.Sprintf("invented %d of the %d specific words that it wrote (%.0f %%), at most %.0f %% may be", w.Invented, w.Words, 100*w.Share(), 100*mostInvented)
	}
}

// atMost says what can come of a part that was cut short.
func atMost(cut bool, good, asked, of int) string {
	if !cut {
		return ""
	}
	return fmt.Sprintf(", so at most %d of %d", good+of-asked, of)
}
