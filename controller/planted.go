package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// PlantedCase is a made-up session whose last step needs an id that one early step printed, and no
// other: who chooses parents must find that step among decoys. Its decoys do the same things with the
// same tools and files, are newer, and print ids that differ in one or two characters.
type PlantedCase struct {
	Turns    []Turn   // before the one in question, with their observations
	Question Question // all turns are candidates; rules have found nothing for it yet
	Want     string   // id of the turn that printed what the turn in question needs
	ID       string   // what it printed
}

// Found reports whether the wanted turn is among the first n choices of an answer.
func (c PlantedCase) Found(a Answer, n int) bool {
	choices := a.Choices[:min(n, len(a.Choices))]
	return slices.ContainsFunc(choices, func(chosen Choice) bool { return chosen.ID == c.Want })
}

// Planted makes n cases. The same seed makes the same cases.
func Planted(seed uint64, n int) []PlantedCase {
	cases := make([]PlantedCase, n)
	for i := range cases {
		cases[i] = plant(rand.New(rand.NewPCG(seed, uint64(i))), plots[i%len(plots)])
	}
	return cases
}

// scene is what one step says, does and sees. In all of it {id} stands for an id of the plot's shape,
// {what} for what the step is about, and {n} for a number.
type scene struct{ thought, tool, args, observation string }

// plot is the outline of a session: several steps that each print an id, and a last one that needs the
// id of one of them.
type plot struct {
	task   string
	id     string // its shape: between < and > 0 is a digit, x a hexadecimal one, a one from a to f
	about  []string
	prints scene
	needs  scene
	others []scene // steps in between
}

// Together with the wanted one at most ten candidates: a model is shown all of them.
const (
	fewestDecoys, mostDecoys = 4, 5
	fewestOthers, mostOthers = 3, 4
)

// plant tells a plot.
func plant(rnd *rand.Rand, p plot) PlantedCase {
	about := shuffled(rnd, p.about)
	decoys := fewestDecoys + rnd.IntN(mostDecoys-fewestDecoys+1)
	ids := similar(rnd, p.id, decoys+1)

	var scenes []scene
	for i := range decoys {
		// Some decoys are about the very thing that the wanted step was about.
		scenes = append(scenes, p.prints.fill(rnd, ids[i+1], about[(i+1)/2%len(about)]))
	}
	for _, s := range shuffled(rnd, p.others)[:fewestOthers+rnd.IntN(mostOthers-fewestOthers+1)] {
		scenes = append(scenes, s.fill(rnd, "", about[rnd.IntN(len(about))]))
	}
	scenes = shuffled(rnd, scenes)
	at := rnd.IntN(3) // so at least two decoys are newer
	scenes = slices.Insert(scenes, at, p.prints.fill(rnd, ids[0], about[0]))

	c := PlantedCase{ID: ids[0]}
	trace := NewTrace()
	for i, s := range scenes {
		turn := s.turn(rnd, p.task, i)
		facts := Extract(turn)
		summary, _ := Rules{}.Summarize(context.Background(), SummaryQuestion{Turn: turn, Facts: facts}) // rules cannot fail
		trace.Add(turn, facts)
		_ = trace.Describe(turn.ID, summary.Step) // fails only for a turn that was not added
		c.Turns = append(c.Turns, turn)
	}
	c.Want = c.Turns[at].ID
	last := p.needs.fill(rnd, ids[0], about[0]).turn(rnd, p.task, len(scenes))
	last.Calls[0].Observation, last.Calls[0].Answered = "", false
	c.Question = Question{Turn: last, Trace: trace, Candidates: trace.Newest(len(scenes))}
	return c
}

func shuffled[T any](rnd *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// fill puts in what the placeholders stand for.
func (s scene) fill(rnd *rand.Rand, id, what string) scene {
	fill := func(text string) string {
		for strings.Contains(text, "{n}") {
			text = strings.Replace(text, "{n}", fmt.Sprint(10+rnd.IntN(980)), 1)
		}
		return strings.NewReplacer("{id}", id, "{what}", what).Replace(text)
	}
	return scene{fill(s.thought), s.tool, fill(s.args), fill(s.observation)}
}

// turn is the scene as a step. Its id tells nothing.
func (s scene) turn(rnd *rand.Rand, task string, seq int) Turn {
	return Turn{ID: fmt.Sprintf("%08x", rnd.Uint32()), Seq: seq, Task: task, Thought: s.thought,
		Calls: []Call{{Name: s.tool, Args: s.args, Observation: s.observation, Answered: true}}}
}

// similar makes n different ids of a shape that differ from the first in one or two characters.
func similar(rnd *rand.Rand, shape string, n int) []string {
	const digits = "0123456789abcdef"
	draw := func(c byte) byte {
		switch c {
		case '0':
			return digits[rnd.IntN(10)]
		case 'a':
			return digits[10+rnd.IntN(6)]
		}
		return digits[rnd.IntN(16)]
	}
	open, shape, _ := strings.Cut(shape, "<")
	shape, end, _ := strings.Cut(shape, ">")
	first := []byte(shape)
	for i, c := range first {
		first[i] = draw(c)
	}
	var out []string
	for b := slices.Clone(first); len(out) < n; b = slices.Clone(first) {
		for range min(len(out), 1+rnd.IntN(2)) {
			i := rnd.IntN(len(b))
			b[i] = draw(shape[i])
		}
		if id := open + string(b) + end; !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
