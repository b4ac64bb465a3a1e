package compress

import "math"

// sight is what there is to see from the newest call: what was said and seen lately, weighed by rarity, and how
// every older run meets it.
type sight struct {
	now        int   // the newest call
	turn       int   // the first call of its turn: a turn's calls are made at once, and their answers seen together
	oldest     int   // the first call that is ranked
	firstStep  int32 // its step
	from, runs int   // those of calls before that, but for the forgotten: they are ranked
	// What the words of late texts weigh, by word. Most are 0.
	specifics []specificWeight
	parts     []partWeight
	weighed   said      // those that are not 0
	dirs      []float32 // how lately a folder was named, from 1 down
	// What the ranked runs and the calls before the newest turn have.
	meets []meeting
	calls []meetings
	kin   []kin // by step, from firstStep on
	// The most of any run.
	bestParts, bestLine, bestMatch float32
	newestFiles, recentFiles       []int32
	edits, fails                   float32 // of the newest three calls
	total                          float32 // log of the number of runs
}

type specificWeight struct {
	thought, action, recent, newest, older float32
	matched                                bool
	match, matchNewest                     float32 // how the parts of one that nobody has said meet late texts
	rarity                                 float32
}

type partWeight struct {
	thought, action, recent, newest, plan, task, failure float32
	weighed                                              bool
	said                                                 float32 // the greater of thought and action
}

// meeting is how a run meets what there is to see.
type meeting struct {
	thought, action, recent, newest, older                               float32 // its specific words
	partThought, partAction, partRecent, partNewest, plan, task, failure float32 // its parts, by their number
	parts                                                                float32 // those of thought, action and lately
	line, lineNewest                                                     float32 // of its best line
	defined, dir                                                         float32
	unsaid, unsaidRarity, unsaidHere, unsaidOnly, unsaidNewest           float32
	match, matches, matchNewest                                          float32
	newer, repeated, edited                                              float32 // lines
}

// meetings sums up a call's runs.
type meetings struct {
	best   float32 // parts
	unsaid float32
}

// How many calls count as late.
const (
	recentCalls  = 5
	plannedCalls = 4
	failedCalls  = 6
	namedCalls   = 6
)

// look sees everything anew.
func (s *sight) look(r *Ranker) {
	s.forget()
	*s = sight{now: len(r.calls) - 1, specifics: grown(s.specifics, len(r.words.specifics)), parts: grown(s.parts, len(r.words.partRuns)), dirs: zero(s.dirs, len(r.words.dirs)),
		weighed: s.weighed, meets: s.meets, kin: s.kin, calls: s.calls, newestFiles: s.newestFiles[:0], recentFiles: s.recentFiles[:0]}
	if s.now >= 0 {
		s.turn = int(r.calls[s.now].turn)
	}
	if s.turn == 0 {
		return
	}
	s.oldest = min(r.oldest, s.turn)
	s.calls = zero(s.calls, s.turn-s.oldest)
	s.from, s.runs = r.from(), int(r.calls[s.turn].from)
	s.meets = zero(s.meets, max(0, s.runs-s.from))
	s.total = log(len(r.runs) + 1)
	s.weigh(r)
	s.meetSteps(r)
	for i := s.from; i < s.runs; i++ {
		s.meet(r, i)
	}
}

// forget makes the weights of the last look 0 again: there are far more words in a session than any look meets.
func (s *sight) forget() {
	for _, w := range s.weighed.specifics {
		s.specifics[w] = specificWeight{}
	}
	for _, p := range s.weighed.parts {
		s.parts[p] = partWeight{}
	}
	s.weighed.specifics, s.weighed.parts = s.weighed.specifics[:0], s.weighed.parts[:0]
}

// word is what a specific word weighs; its rarity is always there.
func (s *sight) word(r *Ranker, w int32) *specificWeight {
	x := &s.specifics[w]
	if x.rarity == 0 {
		x.rarity = max(0, s.total-log(int(r.words.specifics[w].runs)+1)) + 0.1
		s.weighed.specifics = append(s.weighed.specifics, w)
	}
	return x
}

// part is what a part weighs, to be set.
func (s *sight) part(p int32) *partWeight {
	x := &s.parts[p]
	if !x.weighed {
		x.weighed = true
		s.weighed.parts = append(s.weighed.parts, p)
	}
	return x
}

// grown gives old with zero values at its end, n in all.
func grown[T any](old []T, n int) []T {
	if n <= len(old) {
		return old
	}
	return append(old, make([]T, n-len(old))...)
}

// zero gives n zero values, in the place of old if there is room.
func zero[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n, n+n/4)
	}
	old = old[:n]
	clear(old)
	return old
}

func log(n int) float32 { return float32(math.Log(float64(n))) }

// weigh weighs the words of late texts.
func (s *sight) weigh(r *Ranker) {
	for i := s.turn; i <= s.now; i++ {
		s.newestFiles = append(s.newestFiles, r.calls[i].files...)
		s.sayNewest(r, &r.calls[i])
	}
	weight := float32(1)
	for i := s.turn - 1; i >= max(0, s.turn-recentCalls); i-- {
		weight *= 0.75
		c := &r.calls[i]
		for _, words := range [][]int32{c.thought.specifics, c.action.specifics} {
			for _, w := range words {
				x := s.word(r, w)
				x.recent = max(x.recent, weight*x.rarity)
			}
		}
		for _, parts := range [][]int32{c.thought.parts, c.action.parts} {
			for _, p := range parts {
				x := s.part(p)
				x.recent = max(x.recent, weight*s.rarity(r, p))
			}
		}
		if i >= s.turn-2 {
			for n := c.from; n < c.to; n++ {
				for _, w := range r.specifics.of(int(n)) {
					x := s.word(r, w)
					x.older = x.rarity
				}
			}
		}
		if i >= s.turn-3 {
			s.recentFiles = append(s.recentFiles, c.files...)
		}
	}
	for _, p := range r.heard.parts {
		s.part(p).task = s.rarity(r, p)
	}
	s.weighLately(r)
}

func (s *sight) rarity(r *Ranker, part int32) float32 {
	return max(0, s.total-log(int(r.words.partRuns[part])+1))
}

func (s *sight) sayNewest(r *Ranker, c *call) {
	for _, w := range c.thought.specifics {
		x := s.word(r, w)
		x.thought = x.rarity
	}
	for _, w := range c.action.specifics {
		x := s.word(r, w)
		x.action = x.rarity
	}
	for _, p := range c.thought.parts {
		x := s.part(p)
		x.thought = s.rarity(r, p)
		x.said = x.thought
	}
	for _, p := range c.action.parts {
		x := s.part(p)
		x.action = s.rarity(r, p)
		x.said = x.action
	}
	for n := int(c.from); n < int(c.to); n++ {
		for _, w := range r.specifics.of(n) {
			x := s.word(r, w)
			x.newest = x.rarity
		}
		for _, p := range r.parts.of(n) {
			s.part(p).newest = s.rarity(r, p)
		}
	}
}

// weighLately weighs what was planned and not yet done, the newest failure, and where the agent works.
func (s *sight) weighLately(r *Ranker) {
	for i := s.now; i >= 0 && i > s.now-plannedCalls; i-- {
		for _, p := range r.calls[i].thought.parts {
			s.part(p).plan = s.rarity(r, p)
		}
	}
	for i := s.now; i >= 0 && i > s.now-plannedCalls; i-- {
		for _, p := range r.calls[i].action.parts {
			s.parts[p].plan = 0
		}
	}
	for i := s.now; i >= 0 && i > s.now-failedCalls; i-- {
		if c := &r.calls[i]; c.failed {
			for _, p := range c.failure {
				s.part(p).failure = s.rarity(r, p)
			}
			break
		}
	}
	weight := float32(1)
	for i := s.now; i >= 0 && i > s.now-namedCalls; i-- {
		for _, w := range r.calls[i].action.specifics {
			if d := r.words.specifics[w].dir; d >= 0 {
				s.dirs[d] = max(s.dirs[d], weight)
			}
		}
		weight *= 0.8
	}
	for i := s.now; i >= 0 && i > s.now-3; i-- {
		s.edits += indicator(r.calls[i].kind == editCall)
		s.fails += indicator(r.calls[i].failed)
	}
}

// indicator is 1 for true.
func indicator(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// match meets a specific word that nobody has said with late texts by its parts: an agent that speaks of a "parser for
// dates" may mean parse_date.
func (s *sight) match(r *Ranker, word int32, x *specificWeight) {
	parts := r.words.partsOf.of(int(word))
	if x.matched || len(parts) == 0 {
		return
	}
	x.matched = true
	var said, newest float32
	for _, p := range parts {
		said += max(s.parts[p].said, s.parts[p].recent/2)
		newest += s.parts[p].newest
	}
	root := float32(math.Sqrt(float64(len(parts))))
	x.match, x.matchNewest = said/root, newest/root
}

// meet looks at one run.
func (s *sight) meet(r *Ranker, i int) {
	m, u := &s.meets[i-s.from], &r.runs[i]
	for _, w := range r.specifics.of(i) {
		x, known := s.word(r, w), &r.words.specifics[w]
		m.thought += x.thought
		m.action += x.action
		m.recent += x.recent
		m.newest += x.newest
		m.older += x.older
		if known.said {
			continue
		}
		if known.dir >= 0 {
			m.dir = max(m.dir, s.dirs[known.dir])
		}
		s.match(r, w, x)
		m.unsaid++
		m.unsaidRarity += x.rarity
		if known.last == int32(i) {
			m.unsaidHere++
			m.unsaidOnly += indicator(known.runs == 1)
		}
		m.unsaidNewest += indicator(x.newest > 0)
		m.matches += x.match
		m.match = max(m.match, x.match)
		m.matchNewest = max(m.matchNewest, x.matchNewest)
	}
	s.meetParts(r, i, m)
	for _, p := range r.defined.of(i) {
		m.defined += max(s.parts[p].said, s.parts[p].newest/2)
	}
	for _, l := range r.lineIDs.of(i) {
		x := &r.lines[l]
		m.newer += indicator(x.newest > u.call+1)
		m.repeated += indicator(x.count > 1)
		m.edited += indicator(x.edit)
	}
	s.bestParts, s.bestLine, s.bestMatch = max(s.bestParts, m.parts), max(s.bestLine, m.line), max(s.bestMatch, m.match)
	c := &s.calls[int(u.call)-s.oldest]
	c.best = max(c.best, m.parts)
	c.unsaid += m.unsaidHere
}

func (s *sight) meetParts(r *Ranker, i int, m *meeting) {
	parts := r.parts.of(i)
	for _, p := range parts {
		x := &s.parts[p]
		m.partThought += x.thought
		m.partAction += x.action
		m.partRecent += x.recent
		m.partNewest += x.newest
		m.plan += x.plan
		m.task += x.task
		m.failure += x.failure
	}
	root := float32(math.Sqrt(float64(len(parts) + 10)))
	m.partThought /= root
	m.partAction /= root
	m.partRecent /= root
	m.partNewest /= root
	m.plan /= root
	m.task /= root
	m.failure /= root
	m.parts = m.partThought + m.partAction + m.partRecent/2
	u := &r.runs[i]
	for l := u.lines; l < u.lines+u.filled; l++ {
		var said, newest float32
		for _, p := range r.lineParts.of(int(l)) {
			x := &s.parts[p]
			said += x.said
			newest += x.newest
		}
		m.line, m.lineNewest = max(m.line, said), max(m.lineNewest, newest)
	}
}
