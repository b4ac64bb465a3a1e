package controllers

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
)

// baselines are what a model has to beat. They see what it sees.
var baselines = []struct {
	name   string
	choose func(q controller.Question, seed uint64) []string // ids, the best first
}{
	{"newest", func(q controller.Question, _ uint64) []string { return ids(q.Candidates) }},
	{"bm25", func(q controller.Question, _ uint64) []string {
		texts, n := compress.NewBM25(), len(q.Candidates)
		for i := range q.Candidates { // the oldest first: of two alike the newer counts
			texts.Add(q.Candidates[n-1-i].Summary)
		}
		var out []string
		for _, i := range texts.Best(intent(q.Turn), n, most, false) {
			out = append(out, q.Candidates[n-1-i].ID)
		}
		return out
	}},
	{"random", func(q controller.Question, seed uint64) []string {
		h := fnv.New64a()
		h.Write([]byte(q.Turn.ID))
		all := ids(q.Candidates)
		rand.New(rand.NewPCG(seed, h.Sum64())).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all
	}},
}

// most is how many choices count.
const most = 3

func ids(past []controller.Past) []string {
	var out []string
	for _, p := range past {
		out = append(out, p.ID)
	}
	return out
}

// intent is what a turn says and does.
func intent(t controller.Turn) string {
	text := t.Thought
	for _, c := range t.Calls {
		text += "\n" + c.Name + " " + c.Args
	}
	return text
}

// ranked makes an answer of ids, the best first.
func ranked(by string, chosen []string) controller.Answer {
	a := controller.Answer{By: by}
	for i, id := range chosen[:min(most, len(chosen))] {
		a.Choices = append(a.Choices, controller.Choice{ID: id, Kind: controller.ModelLink, Score: 0.9 - 0.1*float64(i)})
	}
	return a
}
