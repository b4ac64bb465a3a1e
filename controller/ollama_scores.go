package controller

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
)

const (
	contentFree = "N/A" // a turn that says nothing, to find out what a model likes to answer by itself
	mostPairs   = 3     // candidates that are asked for one by one; letters of so few say little, and of one nothing
	mostPriors  = 512   // answers to questions without content that are remembered
)

// byScores reads off the first token of the answer how likely the model finds each candidate, against how likely
// it finds it where the question says nothing (contextual calibration).
func (o *Ollama) byScores(ctx context.Context, m Model, q Question, a *Answer) error {
	if err := o.fit(ctx, m); err != nil {
		return err
	}
	f, past := o.offered(q, m)
	by := o.byLetters
	if len(past) <= mostPairs {
		by = o.byPairs
	}
	scores, least, err := by(ctx, m, f, &a.Origin)
	if err != nil {
		return err
	}
	for i, p := range past {
		if scores[i] > least {
			a.Choices = append(a.Choices, Choice{ID: p.ID, Kind: ModelLink, Score: scores[i], Reason: fmt.Sprintf("the model scores it %.2f, above chance", scores[i])})
		}
	}
	a.Choices = nearest(a.Choices, q.Candidates)
	return nil
}

// byLetters asks once, for the letter of a candidate. least is what each would score if the model had no opinion.
func (o *Ollama) byLetters(ctx context.Context, m Model, f filling, origin *Origin) (scores []float64, least float64, err error) {
	origin.Prompt = scoresPrompt.hash
	var letters []string
	for _, p := range slices.Concat(f.Past, f.Older) {
		letters = append(letters, p.Label)
	}
	asked, prior, err := o.calibrated(ctx, m, scoresPrompt, f, letters, origin)
	if err != nil {
		return nil, 0, err
	}
	sum := 0.0
	for i := range asked {
		asked[i] /= prior[i]
		sum += asked[i]
	}
	for i := range asked {
		asked[i] /= sum
	}
	return asked, 1 / float64(len(asked)), nil
}

// byPairs asks once for each candidate, for yes or no.
func (o *Ollama) byPairs(ctx context.Context, m Model, f filling, origin *Origin) (scores []float64, least float64, err error) {
	origin.Prompt = yesNoPrompt.hash
	one := f
	one.Older = nil
	for _, p := range slices.Concat(f.Past, f.Older) {
		one.Past = []labelled{p}
		asked, prior, err := o.calibrated(ctx, m, yesNoPrompt, one, []string{"yes", "no"}, origin)
		if err != nil {
			return nil, 0, err
		}
		yes, no := asked[0]/prior[0], asked[1]/prior[1]
		scores = append(scores, yes/(yes+no))
	}
	return scores, 0.5, nil
}

// calibrated tells how likely each answer is, and how likely it is where the question says nothing. The same
// candidates are in both, so that the second costs little more than its last tokens.
func (o *Ollama) calibrated(ctx context.Context, m Model, p prompt, f filling, answers []string, origin *Origin) (asked, prior []float64, err error) {
	messages, err := p.messages(f)
	if err != nil {
		return nil, nil, err
	}
	if asked, err = o.likely(ctx, m, messages, answers, origin); err != nil {
		return nil, nil, err
	}
	f.Turn = contentFree
	if messages, err = p.messages(f); err != nil {
		return nil, nil, err
	}
	key := sha256.Sum256([]byte(m.Digest + messages[0].Content + messages[1].Content))
	o.mu.Lock()
	prior = o.priors[key]
	o.mu.Unlock()
	if prior != nil {
		return asked, prior, nil
	}
	if prior, err = o.likely(ctx, m, messages, answers, origin); err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	if len(o.priors) >= mostPriors {
		clear(o.priors)
	}
	o.priors[key] = prior
	o.mu.Unlock()
	return asked, prior, nil
}

// likely asks for one token, and tells how likely each answer is.
func (o *Ollama) likely(ctx context.Context, m Model, messages []api.Message, answers []string, origin *Origin) ([]float64, error) {
	r, err := o.chat(ctx, m, request{messages: messages, predict: 1, top: 20})
	origin.Calls++
	origin.In += r.in
	origin.Out += r.out
	if err != nil {
		return nil, err
	}
	return likelihoods(r.logprobs, answers)
}

// likelihoods are how likely each answer is as the first token, with or without a blank before it, and also
// capitalised. One that is not among the likeliest tokens counts as the last of these.
func likelihoods(first []api.Logprob, answers []string) ([]float64, error) {
	if len(first) == 0 || len(first[0].TopLogprobs) == 0 {
		return nil, fmt.Errorf("%w: the server gives no likelihoods of tokens", ErrUnfit)
	}
	least, told := math.Inf(1), 0.0
	sums := make([]float64, len(answers))
	for _, t := range first[0].TopLogprobs {
		p := math.Exp(t.Logprob)
		if !(p >= 0 && p <= 1.001) {
			return nil, fmt.Errorf("%w: %v is no logarithm of a likelihood", ErrBabble, t.Logprob)
		}
		least = min(least, p)
		token := strings.TrimSpace(t.Token)
		for i, answer := range answers {
			if token == answer || len(answer) > 1 && strings.EqualFold(token, answer) {
				sums[i] += p
				told += p
			}
		}
	}
	if told == 0 {
		return nil, fmt.Errorf("%w: none of %s is among its first tokens", ErrBabble, strings.Join(answers, ", "))
	}
	for i := range sums {
		sums[i] = max(sums[i], least, 1e-12)
	}
	return sums, nil
}
