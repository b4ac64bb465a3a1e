package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Reference is something specific that an action takes from old observations: a word of it (a path, an
// identifier with an underscore, dot, digit or inner capital, a long number), or a line.
type Reference struct {
	Text string `json:"text"`
	Line bool   `json:"line"`
}

var specific = regexp.MustCompile(`[A-Za-z0-9_.\-/]*[A-Za-z0-9_\-]\.[A-Za-z]{1,5}\b(?:[:\d]*)|/[\w.\-]+(?:/[\w.\-]+)+|[A-Za-z_][A-Za-z0-9]*_[A-Za-z0-9_]+|[a-z]+[a-z0-9]*[A-Z][A-Za-z0-9]+|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|#?[A-Za-z]*\d[A-Za-z0-9\-]{4,}|\d{4,}`)

// Bounds of a reference, in characters.
const (
	leastWord = 4
	mostWord  = 120
	leastLine = 12
)

// lexicon finds words and lines. No word spans a character that none of its kinds has, so that a text is
// looked at piece by piece, and a piece that was seen before is known.
type lexicon map[string][]string

// words are the specific words of the text, without the marks around them.
func (l lexicon) words(text string) set {
	out := set{}
	for piece := range strings.FieldsFuncSeq(text, between) {
		found, ok := l[piece]
		if !ok {
			for _, w := range specific.FindAllString(piece, -1) {
				if len(w) >= leastWord && len(w) <= mostWord {
					found = append(found, strings.Trim(w, ".-/:"))
				}
			}
			l[piece] = found
		}
		for _, w := range found {
			out[w] = true
		}
	}
	return out
}

// between reports whether no word has the character.
func between(r rune) bool {
	switch r {
	case '.', '-', '/', ':', '#', '_':
		return false
	}
	return !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// lines are the lines of the text that are long enough to be told from others.
func lines(text string) set {
	out := set{}
	for line := range strings.FieldsFuncSeq(text, breaks) {
		line = strings.TrimFunc(line, blank)
		if utf8.RuneCountInString(line) >= leastLine {
			out[line] = true
		}
	}
	return out
}

// breaks reports whether a line ends here, by Unicode's rules and not only at "\n".
func breaks(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// unescape shows what JSON hides in a string.
func unescape(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t")

// set holds words, or lines.
type set map[string]bool

func (s set) add(more set) {
	for w := range more {
		s[w] = true
	}
}

// deed is one counted call as the measure sees it: what the agent thought before it, what it did, and
// what came of it.
type deed struct {
	thought, action, observation string
	place                        place
}

// place is that of a call in a run: its step and its index in the step, from 0.
type place struct{ step, call int }

// deeds are the counted calls of a run, and all else that the agent reads or says: that is in sight of every
// call, even where it comes later. Calls that one joint observation answers are one.
func deeds(steps []engine.Step) (out []deed, other string) {
	var rest []string
	for i, s := range steps {
		for _, m := range s.Before {
			if !m.Compaction {
				rest = append(rest, m.Text)
			}
		}
		said := join(s.Thinking, s.Thought)
		action := ""
		for k, c := range s.Calls {
			action = join(action, c.Name+" "+c.Args)
			if c.Joined {
				continue
			}
			d := deed{thought: said, action: action, place: place{i, k}}
			if c.Observation != nil {
				d.observation = c.Observation.Text
			}
			out = append(out, d)
			said, action = "", ""
		}
		if len(s.Calls) == 0 {
			rest = append(rest, said)
		}
	}
	return out, strings.Join(rest, "\n")
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// demand is a Reference with the calls whose observations have it.
type demand struct {
	Reference
	id      int // of the text, which may be demanded again
	holders []int
}

// demands are what each counted call takes from old observations alone: what an earlier observation
// has, and nothing else that the agent always sees (messages, earlier thoughts and actions).
func demands(run []deed, other string) [][]demand {
	l := lexicon{}
	known := map[bool]set{false: l.words(other), true: lines(other)}
	holders := map[Reference][]int{}
	ids := map[string]int{}
	out := make([][]demand, len(run))
	for k, d := range run {
		action := unescape(d.action)
		said := map[bool]set{false: l.words(action), true: lines(action)}
		for line, texts := range said {
			for text := range texts {
				r := Reference{text, line}
				if len(holders[r]) == 0 || known[line][text] {
					continue
				}
				if _, ok := ids[text]; !ok {
					ids[text] = len(ids)
				}
				out[k] = append(out[k], demand{r, ids[text], holders[r]})
			}
			known[line].add(texts)
		}
		slices.SortFunc(out[k], func(a, b demand) int { return cmp.Or(cmp.Compare(a.Text, b.Text), boolean(a.Line)-boolean(b.Line)) })
		known[false].add(l.words(d.thought))
		for w := range l.words(d.observation) {
			holders[Reference{w, false}] = append(holders[Reference{w, false}], k)
		}
		for line := range lines(d.observation) {
			holders[Reference{line, true}] = append(holders[Reference{line, true}], k)
		}
	}
	return out
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
