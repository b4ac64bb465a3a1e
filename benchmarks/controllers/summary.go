package controllers

import (
	"context"
	"errors"

	"github.com/ctxweaver/ctxweaver/controller"
)

// Summaries are what became of a model's summaries of steps.
type Summaries struct {
	// Made are those of made-up steps, before and behind the check for invented words.
	Made controller.WrittenCheck `json:"made_up"`
	// Of real steps so many were asked for. Refused are those of which invented words left nothing, Invalid those that had
	// no valid form or came too late. The rest were kept, with so many Words, of which Passed are invented.
	Asked   int `json:"asked"`
	Refused int `json:"refused"`
	Invalid int `json:"invalid"`
	Words   int `json:"words"`
	Passed  int `json:"passed"`
	// Millis is what one takes, on average, with the summary of what the step rests on.
	Millis float64 `json:"ms"`
	In     float64 `json:"tokens_in"`
	Out    float64 `json:"tokens_out"`
}

// written is a model's summary of a step.
type written struct {
	Summary controller.Summary
	Refused bool
	Wrong   string
}

// summaries has a model sum up steps. nil: it cannot.
func (r *run) summaries(ctx context.Context, m *Model) (*Summaries, error) {
	if m.writer == nil || r.Sums == 0 {
		return nil, nil
	}
	s := &Summaries{}
	var err error
	if s.Made, err = r.made(ctx, m); err != nil {
		return nil, err
	}
	steps := r.toSumUp()
	r.Part(m.Name+": summaries", len(steps))
	for _, q := range steps {
		w, err := r.write(ctx, m, q)
		if err != nil {
			return nil, err
		}
		s.add(q, w)
		r.Done()
	}
	n := float64(max(1, s.Asked))
	s.Millis, s.In, s.Out = s.Millis/n, s.In/n, s.Out/n
	return s, nil
}

// made is the part of a model's exam that is about summaries.
func (r *run) made(ctx context.Context, m *Model) (controller.WrittenCheck, error) {
	var v controller.Verdict
	exam := controller.Exam{Seed: r.Seed, Chains: 1, Steps: r.Sums, Whole: true}
	key := []any{"exam", m.Says.Digest, m.writer.Prompts(), exam}
	if r.cache.get(key, &v) && !v.Begun {
		return v.Written, nil
	}
	r.Part(m.Name+": made-up steps", exam.Steps-v.Written.Of)
	v, err := exam.Resume(ctx, m.writer, v, func(p controller.Progress) {
		if p.Part == "summaries" {
			r.Done()
		}
	})
	if err == nil || v.Begun {
		err = errors.Join(err, r.cache.put(key, v))
	}
	return v.Written, err
}

// toSumUp are real steps: one of those that models are asked about of each session, then another, and so on.
func (r *run) toSumUp() []question {
	var out []question
	for k := 0; len(out) < r.Sums; k++ {
		more := false
		for i, picked := range r.picked {
			if k < len(picked) && len(out) < r.Sums {
				out, more = append(out, r.questions[i][picked[k]]), true
			}
		}
		if !more {
			break
		}
	}
	return out
}

// write has one real step summed up, as the engine would have it.
func (r *run) write(ctx context.Context, m *Model, q question) (written, error) {
	var w written
	key := []any{"summary", m.Says.Digest, m.writer.Prompts(), q.sum.Turn, q.sum.Parents}
	if r.cache.get(key, &w) {
		return w, nil
	}
	once, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	s, err := m.writer.Summarize(once, q.sum)
	w.Summary = s
	if err != nil {
		if !m.useless(ctx, err) {
			return w, err
		}
		w.Refused, w.Wrong = errors.Is(err, controller.ErrInvented), err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			return w, nil
		}
	}
	return w, r.cache.put(key, w)
}

func (s *Summaries) add(q question, w written) {
	s.Asked++
	o := w.Summary.Origin
	s.Millis, s.In, s.Out = s.Millis+float64(o.Took.Microseconds())/1000, s.In+float64(o.In), s.Out+float64(o.Out)
	switch {
	case w.Refused:
		s.Refused++
	case w.Wrong != "":
		s.Invalid++
	default:
		text, sources := w.Summary.Step+"\n"+w.Summary.Dependency, append(q.sum.Turn.Told(), q.sum.Parents...)
		s.Words += len(controller.Invented(text)) // without sources: all of them
		s.Passed += len(controller.Invented(text, sources...))
	}
}
