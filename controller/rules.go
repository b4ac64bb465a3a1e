package controller

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What a link is worth before it becomes a score. A rare word that nobody had said counts 1.
const (
	saidShare    = 0.3 // of a word that the task, the user or the agent had said once; less, the more often
	firstShare   = 0.3 // of a word, to its first holder where that is not the newest
	baseShare    = 0.5 // of a path of which only the file's name was seen
	viewWorth    = 1.0 // the newest view of a file that is edited
	editWorth    = 1.0 // the newest edit of a file that is run, tested or viewed
	againWorth   = 0.5 // the newest edit of a file that is edited again
	sinceWorth   = 0.8 // an edit since the last run of tests, to the next run
	failureWorth = 1.2 // the newest failure, to an edit
	olderWorth   = 0.6 // a failure of other tests before it, or a run that only the harness calls failed
)

const (
	previousScore = 0.01 // of a link that is only assumed
	lowestScore   = 0.02 // of one that was found
	mostAtOnce    = 32   // edits before a run, or failures before an edit, that are linked
	mostWords     = 24   // kept of those that flowed along one edge
)

// Select finds what the turn rests on by rules alone: specific words that flowed from earlier
// observations, views, edits and tests of the same files, edits that answer failing tests. Edges
// to failed turns are facts and are given too; Choose is what leaves them out. A turn for which nothing
// is found gets the one before it (PreviousLink). The turn may be in the trace already or not. Cost grows
// with the turn's own size, not with the trace's. The error is always nil.
func (Rules) Select(_ context.Context, q Question) (Answer, error) {
	s := selection{trace: q.Trace, turn: q.Turn, facts: Extract(q.Turn), links: map[uint32]*link{}}
	if s.trace == nil || s.trace.Len() == 0 {
		return Answer{By: "rules"}, nil
	}
	s.at = uint32(s.trace.Len()) + 1
	if at, err := s.trace.find(q.Turn.ID); err == nil {
		s.at = uint32(at) + 1
	}
	s.literal()
	s.fileLinks()
	s.editsSinceRun()
	s.failures()
	return Answer{Choices: s.choices(), By: "rules"}, nil
}

// Choose takes at most m of the choices, in their order, that are candidates (§3.2).
func Choose(choices []Choice, m int, candidate func(id string) bool) []Choice {
	var out []Choice
	for _, c := range choices {
		if len(out) >= m {
			break
		}
		if candidate(c.ID) {
			out = append(out, c)
		}
	}
	return out
}

// selection is one Select at work. Turns are counted from 1, as in Trace.
type selection struct {
	trace *Trace
	turn  Turn
	facts Facts
	at    uint32
	links map[uint32]*link
}

// link gathers all reasons for one parent.
type link struct {
	worth   map[LinkKind]float64
	flowed  []flow // from its observation
	firsts  []flow // that it was the first to show
	reasons []string
}

// flow is a word with what it is worth.
type flow struct {
	word  string
	worth float64
}

// link returns the link to a turn, made if there is none.
func (s *selection) link(turn uint32, kind LinkKind, worth float64) *link {
	l := s.links[turn]
	if l == nil {
		l = &link{worth: map[LinkKind]float64{}}
		s.links[turn] = l
	}
	l.worth[kind] += worth
	return l
}

// because adds a link with a reason of its own. What holds for several files of one turn counts once.
func (s *selection) because(turn uint32, kind LinkKind, worth float64, format string, args ...any) {
	if turn == 0 {
		return
	}
	reason := fmt.Sprintf(format, args...)
	l := s.link(turn, kind, 0)
	if !slices.Contains(l.reasons, reason) {
		l.worth[kind] = max(l.worth[kind], worth)
		l.reasons = append(l.reasons, reason)
	}
}

// literal links the turn to the holders of its words.
func (s *selection) literal() {
	asked := map[string]bool{}
	for _, text := range s.turn.User {
		for w := range words(text) {
			asked[w] = true
		}
	}
	for _, w := range s.facts.Words {
		m, share := s.trace.mention(w), 1.0
		first, newest := m.before(s.at)
		if newest == 0 {
			if base := w[strings.LastIndexByte(w, '/')+1:]; len(base) >= minWord && base != w {
				m, share = s.trace.mention(base), baseShare
				first, newest = m.before(s.at)
			}
		}
		if newest == 0 {
			continue
		}
		if asked[w] || m.said != 0 && m.said <= userAt(int32(s.at)-1) {
			share *= saidShare / math.Sqrt(float64(max(1, m.sayings)))
		}
		worth := share * s.rarity(m)
		l := s.link(newest, LiteralLink, worth)
		l.flowed = append(l.flowed, flow{w, worth})
		if first != newest {
			l := s.link(first, LiteralLink, firstShare*worth)
			l.firsts = append(l.firsts, flow{w, firstShare * worth})
		}
	}
}

// rarity is 1 for a word that one turn holds, and falls towards 0 for one that all do.
func (s *selection) rarity(m mention) float64 {
	n := float64(s.trace.Len())
	return math.Log1p(n/float64(max(1, m.turns))) / math.Log1p(n)
}

// verbs say what an action does with a file that was edited before.
var verbs = map[Kind]string{View: "looks at", Search: "searches", Test: "tests", Run: "runs", Ask: "names", Other: "uses"}

// fileLinks links edits to what they were made from, and looks, runs and tests to the edits before them.
func (s *selection) fileLinks() {
	for _, a := range s.facts.Actions {
		edited := s.trace.edited(a)
		for _, p := range edited {
			view, edit := s.trace.newest(p, s.at)
			s.because(view, FileLink, viewWorth, "looked at %s, which this step edits", p)
			s.because(edit, EditLink, againWorth, "edited %s, which this step edits again", p)
		}
		if a.Kind == Edit || a.Kind == List {
			continue
		}
		for _, p := range a.Files {
			if slices.Contains(edited, p) {
				continue
			}
			_, edit := s.trace.newest(p, s.at)
			s.because(edit, EditLink, editWorth, "edited %s, which this step %s", p, verbs[a.Kind])
		}
	}
}

// editsSinceRun links a run of tests to the edits since the run before it.
func (s *selection) editsSinceRun() {
	if !s.facts.does(Test) {
		return
	}
	edits := s.trace.edits[:until(s.trace.edits, s.at)]
	if n := until(s.trace.runs, s.at); n > 0 {
		edits = edits[until(edits, uint32(s.trace.runs[n-1])+1):]
	}
	for i := len(edits) - 1; i >= max(0, len(edits)-mostAtOnce); i-- {
		s.because(uint32(edits[i])+1, EditLink, sinceWorth, "an edit since the last run of tests")
	}
}

// until counts the members of a sorted list that are before a turn, which is counted from 1.
func until(list []int32, turn uint32) int {
	n, _ := slices.BinarySearch(list, int32(turn)-1)
	return n
}

// failures links an edit to the failing tests that it may answer: the newest turn that fails, older
// ones for tests that it does not name, and where nothing is labelled a run that the harness flagged.
func (s *selection) failures() {
	if !s.facts.does(Edit) {
		return
	}
	fails := s.trace.fails[:until(s.trace.fails, s.at)]
	known := map[string]bool{}
	worth := failureWorth
	for i := len(fails) - 1; i >= max(0, len(fails)-mostAtOnce); i-- {
		e := s.trace.turns[fails[i]]
		var open []string
		for _, name := range e.tests {
			if !known[name] {
				known[name] = true
				open = append(open, name)
			}
		}
		switch {
		case len(open) > 0:
			s.because(uint32(fails[i])+1, TestLink, worth, "%s failed there", some(open))
		case i == len(fails)-1:
			s.because(uint32(fails[i])+1, TestLink, worth, "tests failed there")
		}
		worth = olderWorth
	}
	if n := until(s.trace.runs, s.at); n > 0 {
		run := s.trace.runs[n-1]
		if e := s.trace.turns[run]; e.failed && e.label == "" {
			s.because(uint32(run)+1, TestLink, olderWorth, "the last run of tests, flagged as failed")
		}
	}
}

// choices turns links into choices, best first.
func (s *selection) choices() []Choice {
	if len(s.links) == 0 {
		if s.at == 1 {
			return nil
		}
		return []Choice{{ID: s.trace.turns[s.at-2].id, Kind: PreviousLink, Score: previousScore, Reason: "the step before; nothing else was found"}}
	}
	turns := make([]uint32, 0, len(s.links))
	for turn := range s.links {
		turns = append(turns, turn)
	}
	slices.SortFunc(turns, func(a, b uint32) int { return cmp.Compare(b, a) })
	out := make([]Choice, len(turns))
	for i, turn := range turns {
		out[i] = s.links[turn].choice()
		out[i].ID = s.trace.turns[turn-1].id
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// choice adds up a link. Its kind is what weighs most.
func (l *link) choice() Choice {
	var c Choice
	sum, most := 0.0, -1.0
	for _, kind := range []LinkKind{TestLink, FileLink, EditLink, LiteralLink} {
		worth, ok := l.worth[kind]
		if !ok {
			continue
		}
		sum += worth
		if worth > most {
			c.Kind, most = kind, worth
		}
	}
	c.Score = max(lowestScore, 1-math.Exp(-sum))
	var reasons []string
	if len(l.flowed) > 0 {
		reasons = append(reasons, "uses "+some(rarest(l.flowed))+" from its output")
	}
	if len(l.firsts) > 0 {
		reasons = append(reasons, "was the first to show "+some(rarest(l.firsts)))
	}
	c.Reason = strings.Join(append(reasons, l.reasons...), "; ")
	c.Words = rarest(append(l.flowed, l.firsts...))
	c.Words = c.Words[:min(len(c.Words), mostWords)]
	return c
}

// rarest sorts words by falling worth, and keeps the turn's order among equals.
func rarest(flows []flow) []string {
	sorted := slices.Clone(flows)
	slices.SortStableFunc(sorted, func(a, b flow) int { return cmp.Compare(b.worth, a.worth) })
	out := make([]string, len(sorted))
	for i, f := range sorted {
		out[i] = f.word
	}
	return out
}

// some names the first three of a list and counts the rest.
func some(list []string) string {
	if len(list) <= 3 {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
}
