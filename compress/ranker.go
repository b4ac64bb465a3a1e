package compress

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Ranker tells of each run of a session how likely the agent's next actions take something from it. It follows the
// session: what was said, done and seen is to be handed in as it happened, and nothing that comes later changes
// what was ranked before. It keeps the text of the session. It is not safe for concurrent use.
type Ranker struct {
	model model
	words vocabulary
	files []file   // by their number in words
	said  []string // all that is not an observation, and so always before the agent
	heard struct { // the parts of messages
		parts []int32
		once  marks
	}
	calls []call
	edit  int // the newest call that edits, or -1

	observations int
	runs         []run
	// By run. The parts of a run's lines are lists of their own, from run.lines on.
	specifics, parts, lineIDs, defined, named, lineParts lists
	lines                                                []line
	byHash                                               map[uint64]int32 // lines
	seed                                                 maphash.Seed

	took    []string // what the newest call takes from observations
	credits []int    // the newest runs that have it
	reuse   struct{ taken, calls, gaps float32 }

	sees   sight
	looked bool // sees is of now
}

// Act is one call of the agent.
type Act struct {
	Thought string   // what the agent thought before it; only on the first call of a turn
	Further bool     // a further call of the turn that the newest call belongs to
	Action  string   // the tool's name and its arguments
	Kind    string   // edit, test, run, search, list, view; all others are one
	Files   []string // paths it works on; none: those that Action names
}

// run is a Run with what is known of it.
type run struct {
	Run
	call   int32
	place  int32 // among the runs of its observation
	lines  int32 // its first line in lineParts
	filled int32 // lines that are not blank
	fails  int32
	opens  int32 // definitions
	digits int32 // specific words that are numbers
	used   float32
	usedAt int32 // the newest call that took from it, counted from 1
	fixed  float32
	text   string
}

// call is an Act with what is known of it. What is counted in calls is counted from 1; 0 is never.
type call struct {
	kind            kindOfCall
	turn            int32 // the first call of its turn
	failed          bool
	answered        bool
	thought, action struct{ specifics, parts []int32 }
	failure         []int32 // parts of the lines that tell of it
	files           []int32
	links           []link
	from, to        int32 // its runs
	used            float32
	usedAt          int32
	usedPlace       int32 // of the run
	thoughtSize     int
	size            int // of the observation, in characters of JSON
}

// link says that a call rests on an earlier one.
type link struct {
	call   int32
	weight float32
}

// file is what has become of a file.
type file struct {
	used, touched                       float32
	touchedAt, editedAt, viewedAt, said int32
}

// line is a line of some length in observations.
type line struct {
	newest int32 // observed by this call
	count  int32 // times
	edit   bool  // an edit has it
	bare   bool  // somewhere no viewer has put a number before it
}

const leastLine = 12 // bytes by which a line can be told from others

type kindOfCall byte

const (
	otherCall kindOfCall = iota
	editCall
	testCall
	runCall
	searchCall
	listCall
	viewCall
)

var kindsOfCall = []string{"other", "edit", "test", "run", "search", "list", "view"}

// NewRanker begins a session. Without weights, the built-in ones rank.
func NewRanker(w *Weights) *Ranker {
	if w == nil {
		w = BuiltIn()
	}
	return &Ranker{model: newModel(w), words: newVocabulary(), seed: maphash.MakeSeed(), byHash: map[uint64]int32{}, edit: -1}
}

// Hear takes in what a system or a user said, or what the agent said without a call.
func (r *Ranker) Hear(text string) {
	if text == "" {
		return
	}
	r.changed()
	for _, w := range r.words.specificIn(text) {
		r.words.specifics[w].said = true
	}
	for _, p := range r.words.partsIn(text) {
		if r.heard.once.add(p) {
			r.heard.parts = append(r.heard.parts, p)
		}
	}
	r.said = append(r.said, text)
}

// Act takes in the next call.
func (r *Ranker) Act(a Act) {
	r.changed()
	action := unescaped.Replace(a.Action)
	c := call{kind: kindOfCall(max(0, slices.Index(kindsOfCall, a.Kind))), thoughtSize: len(a.Thought), from: int32(len(r.runs)), to: int32(len(r.runs))}
	if c.turn = int32(len(r.calls)); a.Further && c.turn > 0 {
		c.turn = r.calls[c.turn-1].turn
	}
	c.thought.specifics, c.thought.parts = r.words.specificIn(a.Thought), r.words.partsIn(a.Thought)
	c.action.specifics, c.action.parts = r.words.specificIn(action), r.words.partsIn(action)
	c.files = r.filesOf(a, c.action.specifics)
	r.take(action, c.action.specifics)
	weights := r.credit(int32(len(r.calls)))
	c.links = r.links(&c, weights)
	r.calls = append(r.calls, c)
	r.say(&c)
	r.touch(&c)
	if c.kind == editCall {
		r.edit = len(r.calls) - 1
		for l := range strings.SplitSeq(action, "\n") {
			if l = strings.TrimSpace(l); l != "" {
				r.lines[r.lineID(l)].edit = true
			}
		}
	}
	r.said = append(r.said, a.Thought, action)
}

const mostFiles = 6 // of a call

func (r *Ranker) filesOf(a Act, specifics []int32) []int32 {
	var out []int32
	add := func(f int32) {
		if f >= 0 && len(out) < mostFiles && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	for _, p := range a.Files {
		if p = strings.TrimRight(p, "/"); p != "" {
			add(number32(r.words.files, strings.Clone(p[strings.LastIndexByte(p, '/')+1:])))
		}
	}
	if len(a.Files) == 0 {
		for _, w := range specifics {
			add(r.words.specifics[w].file)
		}
	}
	return out
}

// mostTaken bounds what is looked for in one action. One with more writes a whole file.
const mostTaken = 500

// take finds what the action takes from observations alone: specific words and lines that an observation has,
// and nothing that the agent always sees. Each is credited to the newest run that has it.
func (r *Ranker) take(action string, specifics []int32) {
	r.took, r.credits = nil, nil
	var texts []string
	for _, w := range specifics {
		if s := &r.words.specifics[w]; s.runs > 0 && !s.said {
			texts = append(texts, s.text)
		}
	}
	twice := map[string]bool{}
	for l := range strings.SplitSeq(action, "\n") {
		l = strings.TrimSpace(l)
		if utf8.RuneCountInString(l) < leastLine || twice[l] {
			continue
		}
		twice[l] = true
		if id, ok := r.byHash[maphash.String(r.seed, l)]; ok && r.lines[id].bare {
			texts = append(texts, l)
		}
	}
	for _, text := range texts[:min(len(texts), mostTaken)] {
		if run, ok := r.source(text); ok {
			r.took, r.credits = append(r.took, text), append(r.credits, run)
		}
	}
	slices.Sort(r.credits)
}

// source is the newest run that has a text which nothing else has that is before the agent.
func (r *Ranker) source(text string) (run int, ok bool) {
	holds := func(s string) bool { return strings.Contains(s, text) }
	if slices.ContainsFunc(r.said, holds) {
		return 0, false
	}
	for i := len(r.runs) - 1; i >= 0; i-- {
		if holds(r.runs[i].text) {
			return i, true
		}
	}
	return 0, false
}

// credit notes the use of runs by the call that comes, and says how much it weighs for the calls that saw them.
func (r *Ranker) credit(now int32) map[int32]float32 {
	weights := map[int32]float32{}
	old := false
	for _, i := range r.credits {
		u := &r.runs[i]
		c := &r.calls[u.call]
		u.used++
		u.usedAt = now + 1
		c.used++
		c.usedAt, c.usedPlace = now+1, u.place
		for _, f := range c.files {
			r.file(f).used++
		}
		weights[u.call] += 2
		if gap := now - u.call; gap > fresh {
			old = true
			r.reuse.taken++
			r.reuse.gaps += float32(gap)
		}
	}
	if old {
		r.reuse.calls++
	}
	return weights
}

const fresh = 3 // newest calls whose observations are before the agent anyway

// links finds the calls whose observations the words of a call come from, the strongest first.
func (r *Ranker) links(c *call, weights map[int32]float32) []link {
	const most, least = 4, 0.25
	for _, words := range [][]int32{c.thought.specifics, c.action.specifics} {
		for _, w := range words {
			if s := &r.words.specifics[w]; s.last >= 0 {
				weights[r.runs[s.last].call] += 3 / float32(1+s.runs)
			}
		}
	}
	var out []link
	for call, weight := range weights {
		if weight >= least {
			out = append(out, link{call, weight})
		}
	}
	slices.SortFunc(out, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.call, a.call))
	})
	return slices.Clip(out[:min(most, len(out))])
}

// say notes the words of the newest call.
func (r *Ranker) say(c *call) {
	for _, words := range [][]int32{c.thought.specifics, c.action.specifics} {
		for _, w := range words {
			s := &r.words.specifics[w]
			s.said = true
			if s.file >= 0 {
				r.file(s.file).said = int32(len(r.calls))
			}
		}
	}
}

// touch notes what the newest call does to files.
func (r *Ranker) touch(c *call) {
	now := int32(len(r.calls))
	for _, id := range c.files {
		f := r.file(id)
		f.touched++
		f.touchedAt = now
		switch c.kind {
		case editCall:
			f.editedAt = now
		case viewCall, searchCall:
			f.viewedAt = now
		}
	}
}

func (r *Ranker) file(id int32) *file {
	for int(id) >= len(r.files) {
		r.files = append(r.files, file{})
	}
	return &r.files[id]
}

func (r *Ranker) lineID(text string) int32 {
	h := maphash.String(r.seed, text)
	id, ok := r.byHash[h]
	if !ok {
		id = int32(len(r.lines))
		r.byHash[h] = id
		r.lines = append(r.lines, line{})
	}
	return id
}

// See takes in the observation that answers the newest call, and gives the numbers of its runs: from, and up to
// but not including to. Without a call, or after another observation of the same call, there are none.
func (r *Ranker) See(text string) (from, to int) {
	from = len(r.runs)
	if len(r.calls) == 0 {
		return from, from
	}
	c := &r.calls[len(r.calls)-1]
	if c.answered {
		return from, from
	}
	c.answered = true
	r.changed()
	runs := Cut(text)
	for i := range runs {
		runs[i].Observation = r.observations
		r.see(c, runs[i], int32(i), text[runs[i].From:runs[i].To])
	}
	r.observations++
	c.to = int32(len(r.runs))
	r.fail(c, text, r.runs[from:])
	for i := from; i < len(r.runs); i++ {
		r.runs[i].fixed = r.model.fixed.sum(&view{ranker: r, call: c, i: i, run: &r.runs[i]})
	}
	return from, len(r.runs)
}

// see takes in one run.
func (r *Ranker) see(c *call, x Run, place int32, text string) {
	n := int32(len(r.runs))
	u := run{Run: x, call: int32(len(r.calls) - 1), place: place, lines: int32(r.lineParts.len()), text: text}
	var files []int32
	specifics := r.words.specificIn(text)
	for _, w := range specifics {
		s := &r.words.specifics[w]
		s.runs++
		s.last = n
		if len(r.words.partsOf.of(int(w))) == 0 {
			u.digits++
		}
		if s.file >= 0 && !slices.Contains(files, s.file) {
			files = append(files, s.file)
		}
	}
	r.specifics.add(specifics)
	r.named.add(files)
	r.seeLines(&u, text)
	parts := r.words.partsIn(text)
	for _, p := range parts {
		r.words.partRuns[p]++
	}
	r.parts.add(parts)
	var defined []int32
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		u.opens++
		r.words.eachPart(m[1], func(p int32) { defined = append(defined, p) })
	}
	r.defined.add(defined)
	c.size += jsonSize(text)
	r.runs = append(r.runs, u)
}

func (r *Ranker) seeLines(u *run, text string) {
	var ids []int32
	for l := range strings.SplitSeq(text, "\n") {
		t := strings.TrimSpace(l)
		if t == "" {
			continue
		}
		u.filled++
		r.lineParts.add(r.words.partsIn(t))
		if len(t) < leastLine {
			continue
		}
		bare := strings.TrimSpace(unnumbered(l))
		id := r.lineID(bare)
		ids = append(ids, id)
		known := &r.lines[id]
		known.newest = u.call + 1
		known.count++
		known.bare = known.bare || bare == t
	}
	r.lineIDs.add(ids)
}

// fail finds the lines that tell of a failure.
func (r *Ranker) fail(c *call, text string, runs []run) {
	const mostLines, mostLine = 20, 300 // that are read, and of one
	for n, m := range failure.FindAllStringIndex(text, -1) {
		c.failed = true
		for runs[0].To < m[1] {
			runs = runs[1:]
		}
		runs[0].fails++
		if n >= mostLines {
			continue
		}
		line, _, _ := strings.Cut(text[m[1]:min(len(text), m[1]+mostLine)], "\n")
		c.failure = append(c.failure, r.words.partsIn(text[m[0]:m[1]+len(line)])...)
	}
}

// Len counts the runs.
func (r *Ranker) Len() int { return len(r.runs) }

// Run gives a run by its number.
func (r *Ranker) Run(i int) Run { return r.runs[i].Run }

// Took gives, for each specific word and line that the newest call took from observations alone, the newest run that
// had it. A run may come several times.
func (r *Ranker) Took() []int { return slices.Clone(r.credits) }

// Used gives those of the runs that the newest call may have taken something from.
func (r *Ranker) Used(runs []int) []int {
	var out []int
	for _, i := range runs {
		if slices.ContainsFunc(r.took, func(text string) bool { return strings.Contains(r.runs[i].text, text) }) {
			out = append(out, i)
		}
	}
	return out
}

// Scores says for every run how likely, from 0 to 1, the next calls take something from it. It does not change the
// ranker, and twice it says the same. Runs that the newest turn observed have 0, as long as they are new.
func (r *Ranker) Scores() []float64 {
	out := make([]float64, len(r.runs))
	s := r.sight()
	if s.runs == 0 {
		return out
	}
	v := view{ranker: r, sight: s}
	always := r.model.bias + r.model.session.sum(&v)
	for j := range s.calls {
		v.turn(j)
		if v.call.from == v.call.to {
			continue
		}
		base := always + r.model.call.sum(&v)
		for i := v.call.from; i < v.call.to; i++ {
			v.look(int(i))
			out[i] = sigmoid(base + v.run.fixed + r.model.run.sum(&v))
		}
	}
	return out
}

func sigmoid(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }

// Features are what Scores weighs for a run, in the order of FeatureNames. They are nil for a run that the newest turn
// observed.
func (r *Ranker) Features(i int) []float32 {
	s := r.sight()
	if i >= s.runs {
		return nil
	}
	v := view{ranker: r, sight: s}
	v.turn(int(r.runs[i].call))
	v.look(i)
	out := make([]float32, 0, len(FeatureNames()))
	for _, level := range levels {
		for _, f := range level {
			out = append(out, f.value(&v))
		}
	}
	return out
}

func (r *Ranker) changed() { r.looked = false }

// sight looks at the session as it is now, once.
func (r *Ranker) sight() *sight {
	if !r.looked {
		r.sees.look(r)
		r.looked = true
	}
	return &r.sees
}
