package engine

import (
	"fmt"
	"sort"
)

// What is assumed to stand for an observation that is left out, in tokens, where a policy's own
// arithmetic needs it.
const placeholderTokens = 10

// boundary gives how many of the oldest observations a policy leaves out, and its reasons for those
// before and those after the boundary.
func boundary(p Policy, path []kept) (gone int, old, young string) {
	switch p.name {
	case "window":
		return max(0, observed(path)-p.a), fmt.Sprintf("older than the newest %d observations", p.a),
			fmt.Sprintf("among the newest %d observations", p.a)
	case "polling":
		n := observed(path)
		return max(0, n-p.a-n%p.b), fmt.Sprintf("before the boundary, which moves every %d observations", p.b),
			fmt.Sprintf("among the newest %d to %d observations", p.a, p.a+p.b-1)
	case "clear":
		return sweep(path, clearAt(p)), fmt.Sprintf("cleared when the prompt passed %d tokens", p.a),
			fmt.Sprintf("not cleared: the prompt has not passed %d tokens since, or it is among the newest %d", p.a, p.b)
	case "prune":
		return sweep(path, pruneAt(p)), fmt.Sprintf("older than the newest %d tokens when %d had gathered", p.a, p.b),
			fmt.Sprintf("among the newest %d tokens, or not yet %d beyond them", p.a, p.b)
	}
	return 0, "", "the policy keeps everything"
}

func observed(path []kept) int {
	n := 0
	for _, k := range path {
		n += k.Step.Answered()
	}
	return n
}

// ledger adds up what a prompt holds, request by request.
type ledger struct {
	other int   // tokens of messages, thoughts and calls so far
	sums  []int // sums[i]: tokens of the first i observations
	gone  int   // observations left out so far, from the oldest
}

func (l *ledger) observations() int { return len(l.sums) - 1 }

// between is the tokens of observations i to j-1.
func (l *ledger) between(i, j int) int { return l.sums[j] - l.sums[i] }

// prompt is the tokens of the prompt as it stands.
func (l *ledger) prompt() int {
	return l.other + l.gone*placeholderTokens + l.between(l.gone, l.observations())
}

// sweep goes through the requests of a path in order, as they happened, and lets next move the
// boundary before each of them. What has gone does not come back.
func sweep(path []kept, next func(*ledger) int) int {
	l := &ledger{sums: []int{0}}
	for _, k := range path {
		for _, n := range k.Tokens.Before {
			l.other += n
		}
		l.other += k.Tokens.Thinking + k.Tokens.Thought
		for i, c := range k.Step.Calls {
			l.other += k.Tokens.Calls[i]
			if c.Observation != nil {
				l.sums = append(l.sums, l.sums[l.observations()]+k.Tokens.Observations[i])
			}
		}
		l.gone = max(l.gone, next(l))
	}
	return l.gone
}

func clearAt(p Policy) func(*ledger) int {
	trigger, keep, least := p.a, p.b, p.c
	return func(l *ledger) int {
		to := l.observations() - keep
		if l.prompt() <= trigger || to <= l.gone || l.between(l.gone, to) < least {
			return l.gone
		}
		return to
	}
}

func pruneAt(p Policy) func(*ledger) int {
	protect, batch := p.a, p.b
	return func(l *ledger) int {
		n := l.observations()
		// The first observation that is among the newest protect tokens.
		to := sort.Search(n, func(i int) bool { return l.between(i, n) <= protect })
		if to <= l.gone || l.between(l.gone, to) <= batch {
			return l.gone
		}
		return to
	}
}
