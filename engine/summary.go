package engine

import (
	"fmt"
	"slices"
	"strings"
)

// maxSummary bounds a running summary, in tokens.
const maxSummary = 2000

// fold is what a running summary stands for: the steps at the beginning of a path.
type fold struct {
	steps  int          // how many; of their messages only those of system and user are left
	text   string       // the summary; "" if there is nothing to sum up
	listed map[int]bool // by Seq: the steps that have a line in it
}

// folded sums up all steps but those of the newest observations, from the nodes' summaries, the newest last. Where they
// are too many the older ones give way, and are counted.
func folded(p Policy, path []kept, count func(string) int) fold {
	left := p.a
	f := fold{steps: len(path), listed: map[int]bool{}}
	for f.steps > 0 && left > 0 {
		f.steps--
		left -= path[f.steps].Step.Answered()
	}
	var lines []string // the newest first
	older, tokens := 0, count(summaryHead(f.steps, f.steps))
	for _, k := range slices.Backward(path[:f.steps]) {
		if k.Summary == "" {
			continue
		}
		line := fmt.Sprintf("\nstep %d: %s", k.Seq, strings.Join(strings.Fields(k.Summary), " "))
		if tokens += count(line); older > 0 || tokens > maxSummary {
			older++
			continue
		}
		lines = append(lines, line)
		f.listed[k.Seq] = true
	}
	if len(lines)+older > 0 {
		slices.Reverse(lines)
		f.text = summaryHead(len(lines), older) + strings.Join(lines, "")
	}
	return f
}

func summaryHead(listed, older int) string {
	if older == 0 {
		return fmt.Sprintf("Summary of the %d steps before:", listed)
	}
	return fmt.Sprintf("Summary of the %d steps before; %d older ones are left out:", listed, older)
}

// folded lays what is left of a step that is summed up: the messages before it.
func (l *loom) folded(k kept, listed bool) {
	for i, m := range k.Step.Before {
		l.message(m, k.Tokens.Before[i])
	}
	reason := "a line of the running summary stands for its step"
	if !listed {
		reason = "the running summary has no line for its step"
	}
	if k.Step.Thought != "" || k.Step.Thinking != "" || len(k.Step.Calls) > 0 {
		l.window.Full += k.Tokens.Thought + k.Tokens.Thinking + frameTokens
	}
	if len(k.Step.Calls) == 0 && (k.Step.Thought != "" || k.Step.Thinking != "") {
		l.window.Items = append(l.window.Items, Item{Node: k.ID, Seq: k.Seq, Call: -1, Fate: Summarised, Reason: reason})
	}
	for i, c := range k.Step.Calls {
		full := k.Tokens.Observations[i]
		switch {
		case c.Joined:
			full = l.tokens(joined)
		case c.Observation == nil:
			full = l.tokens(notAnswered)
		}
		l.window.Full += k.Tokens.Calls[i] + full + frameTokens
		if !c.Joined {
			l.item(k.Node, i, Summarised, reason, 0)
		}
	}
}
