// Package evidence measures policies from outside: of what an agent's real next action takes from
// old observations alone, how much does the context built before it still hold, and what does that
// context cost?
//
// A reference is a specific word or a line of the action that an earlier observation has and nothing
// else that the agent always sees: no system or user message, no earlier thought or action. It is
// served if the context still holds it. Recall is the share of references that are served. The first
// WarmUp calls of a run are left out of it, as there is little behind them.
//
// Tokens are characters of the messages' JSON, divided by 4: a measure that every tool can repeat.
// Uncached are those outside the longest common prefix with the request before.
//
// Judge scores the contexts of one run, from engine.Replay or from another program. Run scores many
// policies over many sessions; Report sums them up with confidence intervals.
package evidence

import (
	"strings"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Version names the definition of the measure. Figures of different versions are not comparable.
const Version = "1"

// WarmUp is how many calls of a run count for cost but not for recall.
const WarmUp = 6

// charsPerToken makes tokens of characters.
const charsPerToken = 4

// Judge knows what each call of a run takes from old observations. It is not safe for concurrent use.
type Judge struct {
	run     []deed
	at      map[place]int // calls of the run by their place
	demands [][]demand
	known   int // distinct demands
	answers []*message
	woven   map[key]*message
	texts   map[string]*message
}

// key is a woven message as a map can hold it.
type key struct{ role, content, thinking, call, calls string }

// NewJudge reads what the counted calls of a run take.
func NewJudge(steps []engine.Step) *Judge {
	run, other := deeds(steps)
	j := &Judge{run: run, at: map[place]int{}, demands: demands(run, other), woven: map[key]*message{}, texts: map[string]*message{}}
	for _, ds := range j.demands {
		for _, d := range ds {
			j.known = max(j.known, d.id+1)
		}
	}
	for call, d := range run {
		j.at[d.place] = call
	}
	j.answers = make([]*message, len(run))
	return j
}

// Calls counts the calls of the run.
func (j *Judge) Calls() int { return len(j.run) }

// References are what a call, counted from 0, takes from old observations alone, in alphabetical order.
func (j *Judge) References(call int) []Reference {
	var out []Reference
	for _, d := range j.demands[call] {
		out = append(out, d.Reference)
	}
	return out
}

// answer is a call's observation as a message.
func (j *Judge) answer(call int) *message {
	if j.answers[call] == nil {
		var b strings.Builder
		quote(&b, j.run[call].observation)
		j.answers[call] = newMessage(b.String(), j.known)
	}
	return j.answers[call]
}

// message gives the one message that stands for all that are equal to p.
func (j *Judge) message(p engine.Prompt) *message {
	k := key{p.Role, p.Content, p.Thinking, p.CallID, ""}
	if len(p.Calls) > 0 {
		var b strings.Builder
		for _, c := range p.Calls {
			quote(&b, c.ID)
			quote(&b, c.Name)
			quote(&b, c.Args)
		}
		k.calls = b.String()
	}
	m := j.woven[k]
	if m == nil {
		m = j.text(dump(p))
		j.woven[k] = m
	}
	return m
}

func (j *Judge) text(text string) *message {
	m := j.texts[text]
	if m == nil {
		m = newMessage(text, j.known)
		j.texts[text] = m
	}
	return m
}
