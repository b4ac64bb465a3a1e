package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Evidence is what an action takes from old observations alone. A specific word of the action (a path, an
// identifier with an underscore, dot, digit or inner capital, a long number), or a line of it of 12 or more
// characters, counts if an earlier observation has it and nothing else that the agent always sees: no
// system or user message, no earlier thought or action. A context serves it if it still holds it.

var specific = regexp.MustCompile(`[A-Za-z0-9_.\-/]*[A-Za-z0-9_\-]\.[A-Za-z]{1,5}\b(?:[:\d]*)|/[\w.\-]+(?:/[\w.\-]+)+|[A-Za-z_][A-Za-z0-9]*_[A-Za-z0-9_]+|[a-z]+[a-z0-9]*[A-Z][A-Za-z0-9]+|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|#?[A-Za-z]*\d[A-Za-z0-9\-]{4,}|\d{4,}`)

// set holds words or lines.
type set map[string]bool

func (s set) add(more ...set) {
	for _, m := range more {
		for w := range m {
			s[w] = true
		}
	}
}

func specificWords(text string) set {
	out := set{}
	for _, w := range specific.FindAllString(text, -1) {
		if len(w) >= 4 && len(w) <= 120 {
			out[strings.Trim(w, ".-/:")] = true
		}
	}
	return out
}

func longLines(text string) set {
	out := set{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len([]rune(line)) >= 12 {
			out[line] = true
		}
	}
	return out
}

// unescape shows what JSON hides in the arguments of a call.
func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t").Replace(text)
}

// demands are the evidence that each call takes, words and lines, in the order in which Replay counts
// calls.
func demands(steps []engine.Step) [][]string {
	known, seen, took := always(steps), set{}, set{}
	var out [][]string
	for _, s := range steps {
		said := specificWords(s.Thinking + "\n" + s.Thought)
		for _, c := range s.Calls {
			action := unescape(c.Name + " " + c.Args)
			took.add(specificWords(action), longLines(action))
			if c.Joined { // counted with the call that has the answer
				continue
			}
			var need []string
			for w := range took {
				if seen[w] && !known[w] {
					need = append(need, w)
				}
			}
			slices.Sort(need)
			out = append(out, need)
			known.add(took, said)
			took = set{}
			if c.Observation != nil {
				seen.add(specificWords(c.Observation.Text), longLines(c.Observation.Text))
			}
		}
		known.add(said)
	}
	return out
}

// always is what the agent sees at every step, whatever is woven.
func always(steps []engine.Step) set {
	known := set{}
	for _, s := range steps {
		for _, m := range s.Before {
			if !m.Compaction {
				known.add(specificWords(m.Text), longLines(m.Text))
			}
		}
	}
	return known
}

// missing are the demands that the context does not hold.
func missing(demands []string, context []engine.Prompt) []string {
	if len(demands) == 0 {
		return nil
	}
	var b strings.Builder
	for _, m := range context {
		b.WriteString(m.Thinking + "\n" + m.Content + "\n")
		for _, c := range m.Calls {
			b.WriteString(c.Name + " " + unescape(c.Args) + "\n")
		}
	}
	text := b.String()
	var out []string
	for _, d := range demands {
		if !strings.Contains(text, d) {
			out = append(out, d)
		}
	}
	return out
}
