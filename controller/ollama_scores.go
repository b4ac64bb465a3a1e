package controller

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ollama/ollama/api"
)

// contentFree stands for a turn that says nothing, to find out which letters a model likes by themselves.
const contentFree = "N/A"

// byScores reads how likely each candidate's letter is as the first token of the answer, divided by how likely it
// is where the question says nothing, over the same candidates (contextual calibration).
func (o *Ollama) byScores(ctx context.Context, m Model, q Question, a *Answer) error {
	if err := o.fit(ctx, m); err != nil {
		return err
	}
	past := shown(q.Candidates)
	r := o.roomIn(m)
	f := filling{Task: o.cut(plainText(q.Turn.Task), r.task), Past: o.listed(past, r), Turn: o.intent(q.Turn, r.turn)}
	a.Origin.Prompt = scoresPrompt.hash
	asked, err := o.letters(ctx, m, f, &a.Origin)
	if err != nil {
		return err
	}
	prior, err := o.prior(ctx, m, f, &a.Origin)
	if err != nil {
		return err
	}
	shares := calibrated(asked, prior)
	for i, p := range past {
		if s := shares[i]; s > 1/float64(len(past)) || len(past) == 1 {
			a.Choices = append(a.Choices, Choice{ID: p.ID, Kind: ModelLink, Score: s, Reason: fmt.Sprintf("the model gives it %.2f of its trust among %d", s, len(past))})
		}
	}
	a.Choices = nearest(a.Choices)
	return nil
}

// calibrated are the shares of what is likelier than without a question.
func calibrated(asked, prior []float64) []float64 {
	out := make([]float64, len(asked))
	sum := 0.0
	for i := range asked {
		out[i] = asked[i] / prior[i]
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// letters are the shares of the candidates' letters among the first tokens.
func (o *Ollama) letters(ctx context.Context, m Model, f filling, origin *Origin) ([]float64, error) {
	messages, err := scoresPrompt.messages(f)
	if err != nil {
		return nil, err
	}
	r, err := o.chat(ctx, m, request{messages: messages, predict: 1, top: 20})
	origin.Calls++
	origin.In += r.in
	origin.Out += r.out
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range f.Past {
		names = append(names, p.Label)
	}
	return likelihoods(r.logprobs, names)
}

// prior is letters for a question that says nothing.
func (o *Ollama) prior(ctx context.Context, m Model, f filling, origin *Origin) ([]float64, error) {
	f.Turn = contentFree
	return o.letters(ctx, m, f, origin)
}

// likelihoods are how likely each name is as the first token, with or without a blank before it. A name that is
// not among the likeliest counts as the last of these.
func likelihoods(first []api.Logprob, names []string) ([]float64, error) {
	if len(first) == 0 || len(first[0].TopLogprobs) == 0 {
		return nil, fmt.Errorf("%w: the server gives no likelihoods of tokens", ErrUnfit)
	}
	least, told := math.Inf(1), 0.0
	sums := make([]float64, len(names))
	for _, t := range first[0].TopLogprobs {
		p := math.Exp(t.Logprob)
		if !(p >= 0 && p <= 1.001) {
			return nil, fmt.Errorf("%w: %v is no logarithm of a likelihood", ErrBabble, t.Logprob)
		}
		least = min(least, p)
		for i, name := range names {
			if strings.TrimSpace(t.Token) == name {
				sums[i] += p
				told += p
			}
		}
	}
	if told == 0 {
		return nil, fmt.Errorf("%w: no letter is among its first tokens", ErrBabble)
	}
	for i := range sums {
		sums[i] = max(sums[i], least, 1e-12)
	}
	return sums, nil
}
