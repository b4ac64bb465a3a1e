package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Summarize has the model sum up the turn of q, given the task, and then that summary with the parents': the
// history before them is never read again (§3.1). The bounds are those of Rules. A specific word that is
// in none of the sources (the task, the turn, the parents) is never in what is returned: the model is asked once
// more, then the sentences that hold it are dropped, and if nothing is left the error is ErrInvented.
func (o *Ollama) Summarize(ctx context.Context, q SummaryQuestion) (Summary, error) {
	start := time.Now()
	var s Summary
	err := o.call(ctx, func(ctx context.Context) error {
		m, err := o.model(ctx)
		if err != nil {
			return err
		}
		if err := o.fit(ctx, m); err != nil {
			return err
		}
		s = Summary{By: m.Name, Origin: Origin{Model: m.Name, Digest: m.Digest, Prompt: stepPrompt.hash}}
		known := sources(append(q.Turn.Told(), q.Parents...)...)
		r := o.roomIn(m)
		task := o.cut(plainText(q.Turn.Task), r.task)
		s.Step, err = o.summary(ctx, m, stepPrompt, filling{Task: task, Turn: o.account(q.Turn, 2*r.turn)}, stepWords, known, &s.Origin)
		if err != nil {
			return err
		}
		s.Dependency = s.Step
		if len(q.Parents) == 0 {
			return nil
		}
		f := filling{Task: task, Turn: s.Step}
		for _, p := range q.Parents[:min(len(q.Parents), mostChoices)] {
			f.Past = append(f.Past, labelled{Text: o.cut(plainText(p), r.past*mostShown/mostChoices)})
		}
		s.Origin.Prompt += " " + dependencyPrompt.hash
		s.Dependency, err = o.summary(ctx, m, dependencyPrompt, f, dependencyWords, known, &s.Origin)
		return err
	})
	s.Origin.Took = time.Since(start)
	if err != nil {
		return Summary{By: s.By, Origin: s.Origin}, err
	}
	return s, nil
}

var summarySchema = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","maxLength":600}},"required":["summary"]}`)

// summary has one summary written, of at most so many words.
func (o *Ollama) summary(ctx context.Context, m Model, p prompt, f filling, most int, known vocabulary, origin *Origin) (string, error) {
	messages, err := p.messages(f)
	if err != nil {
		return "", err
	}
	var text string
	err = o.ask(ctx, m, request{messages: messages, schema: summarySchema, predict: mostWritten}, origin, func(answer string) (err error) {
		text, err = summaryIn(answer, most)
		if err != nil {
			return err
		}
		if made := known.invented(text); len(made) > 0 {
			return fmt.Errorf("%w: %s", ErrInvented, some(made))
		}
		return nil
	})
	if errors.Is(err, ErrInvented) {
		if left := salvaged(text, known); left != "" {
			return left, nil
		}
	}
	if err != nil {
		return "", err
	}
	return text, nil
}

// leastWords are what a summary must have left when sentences were dropped.
const leastWords = 4

// salvaged is a summary without the sentences that hold invented words, or "" if too little is left. Putting the
// others together must make no new words either.
func salvaged(text string, known vocabulary) string {
	left := known.honest(text)
	if len(strings.Fields(left)) < leastWords || len(known.invented(left)) > 0 {
		return ""
	}
	return left
}

// summaryIn reads a model's answer.
func summaryIn(answer string, most int) (string, error) {
	var written struct {
		Summary *string `json:"summary"`
	}
	if err := decode(answer, &written); err != nil {
		return "", err
	}
	if written.Summary == nil {
		return "", errors.New("the summary is missing")
	}
	text := clip(once(plainText(seen(*written.Summary))), most)
	if !strings.ContainsFunc(text, alphanumeric) {
		return "", errors.New("the summary is empty")
	}
	return text, nil
}

// once is text without what it says again, be it in part: small models fall into loops, and are cut off in them.
func once(text string) string {
	var out []string
	for _, s := range sentences(text) {
		again := func(said string) bool { return strings.Contains(said, strings.TrimRight(s, ".…")) }
		if !slices.ContainsFunc(out, again) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// account is what a turn did and what came of it, in at most n tokens: of each observation the beginning and
// the end, where what decides stands.
func (o *Ollama) account(t Turn, n int) string {
	lines := []string{}
	if thought := plainText(t.Thought); thought != "" {
		lines = append(lines, "thought: "+o.cut(thought, n/5))
	}
	each := max(n*4/5/max(1, len(t.Calls)), 16)
	for _, c := range t.Calls {
		lines = append(lines, "action: "+o.cut(plainText(c.Name+" "+c.Args), each/3))
		switch {
		case !c.Answered:
		case strings.TrimSpace(c.Observation) == "":
			lines = append(lines, "result: no output")
		default:
			lines = append(lines, "result: "+o.bothEnds(c.Observation, each*3/5))
		}
		if c.Failed {
			lines = append(lines, "It failed.")
		}
	}
	return o.cut(strings.Join(lines, "\n"), n)
}

// bothEnds keeps lines of both ends of text, in at most n tokens or so.
func (o *Ollama) bothEnds(text string, n int) string {
	var lines []string
	for _, line := range ends(text) {
		if line = plainText(line); line != "" {
			lines = append(lines, o.cut(line, n/4))
		}
	}
	head, left := 0, n/2
	for head < len(lines) && left > 0 {
		left -= o.opts.Count(lines[head]) + 1
		head++
	}
	tail := len(lines)
	for left = n / 2; tail > head && left > 0; tail-- {
		left -= o.opts.Count(lines[tail-1]) + 1
	}
	kept := slices.Clone(lines[:head])
	if head < tail {
		kept = append(kept, "…")
	}
	return strings.Join(append(kept, lines[tail:]...), "\n")
}
