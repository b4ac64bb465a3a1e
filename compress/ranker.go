package compress

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Ranker tells of each run of a session how likely the agent's next actions take something from it. It follows the
// session: what was said, done and seen is to be handed in as it happened, and nothing that comes later changes
// what was ranked before. It keeps words and lines as numbers, not the text, and next to nothing of runs that are too
// old to be ranked. It is not safe for concurrent use.
type Ranker struct {
	model model
	words vocabulary
	files []file   // by their number in words
	heard struct { // the parts of messages
		parts []int32
		once  marks
	}
	calls  []call
	edit   int              // the newest call that edits, or -1
	steps  []step           // of the graph, in order
	stepOf map[string]int32 // by name

	observations int
	runs         []run
	oldest       int // the first call that is ranked
	// By run. The parts of a run's lines are lists of their own, from run.lines on.
	specifics, parts, lineIDs, defined, named, lineParts lists
	lines                                                []line
	byHash                                               map[uint64]int32 // lines
	seed                                                 maphash.Seed

	took    struct{ words, lines []int32 } // what the newest call takes from observations
	credits []int                          // the newest runs that have it
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
	// Of the turn's first call: the turn's name in the session's graph, and what it rests on. Without a name
	// nothing can rest on it.
	Step  string
	Links []Link
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
}

// call is an Act with what is known of it. What is counted in calls is counted from 1; 0 is never.
type call struct {
	kind            kindOfCall
	turn            int32 // the first call of its turn
	step            int32 // of the graph
	failed          bool
	answered        bool
	thought, action said
	failure         []int32 // parts of the lines that tell of it
	files           []int32
	from, to        int32 // its runs
	used            float32
	usedAt          int32
	usedPlace       int32 // of the run
	thoughtSize     int
	size            int // of the observation, in characters of JSON
}

// said are the words of a text.
type said struct{ specifics, parts []int32 }

// file is what has become of a file.
type file struct {
	used, touched                       float32
	touchedAt, editedAt, viewedAt, said int32
}

// line is a line of some length in observations.
type line struct {
	newest int32 // observed by this call
	run    int32 // the newest that has it
	said   bool  // by a message or an action
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
	return &Ranker{model: newModel(w), words: newVocabulary(), seed: maphash.MakeSeed(), byHash: map[uint64]int32{}, edit: -1, stepOf: map[string]int32{}}
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
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); utf8.RuneCountInString(l) >= leastLine {
			r.lines[r.lineID(l)].said = true
		}
	}
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
	r.credit(int32(len(r.calls)))
	if c.turn == int32(len(r.calls)) {
		r.link(a, c.kind)
	}
	c.step = int32(len(r.steps) - 1)
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

// take finds what the action takes from observations alone: specific words and lines that an observation has,
// and that were never said. Each is credited to the newest run that has it.
func (r *Ranker) take(action string, specifics []int32) {
	r.took.words, r.took.lines, r.credits = nil, nil, nil
	for _, w := range specifics {
		if s := &r.words.specifics[w]; s.last >= 0 && !s.said {
			r.took.words, r.credits = append(r.took.words, w), append(r.credits, int(s.last))
		}
	}
	for l := range strings.SplitSeq(action, "\n") {
		l = strings.TrimSpace(l)
		if utf8.RuneCountInString(l) < leastLine {
			continue
		}
		id := r.lineID(l)
		known := &r.lines[id]
		if known.bare && !known.said {
			r.took.lines, r.credits = append(r.took.lines, id), append(r.credits, int(known.run))
		}
		known.said = true
	}
	slices.Sort(r.credits)
}

// credit notes the use of runs by the call that comes.
func (r *Ranker) credit(now int32) {
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
		if gap := now - u.call; gap > fresh {
			old = true
			r.reuse.taken++
			r.reuse.gaps += float32(gap)
		}
	}
	if old {
		r.reuse.calls++
	}
}

const fresh = 3 // newest calls whose observations are before the agent anyway

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
	r.forget()
	for i := from; i < len(r.runs); i++ {
		r.runs[i].fixed = r.model.fixed.sum(&view{ranker: r, call: c, i: i, run: &r.runs[i]})
	}
	return from, len(r.runs)
}

// mostRuns is how many runs are ranked, the newest: about six megabytes of text. What older ones hold is forgotten,
// so that neither time nor memory grows with what a session has left behind.
const mostRuns = 20000

// forget drops what is too old to be ranked.
func (r *Ranker) forget() {
	const late = 20 // newest calls, which are looked back at whatever they saw
	for r.oldest+late < len(r.calls) && len(r.runs)-int(r.calls[r.oldest].to) >= mostRuns {
		c := &r.calls[r.oldest]
		c.thought, c.action, c.failure = said{}, said{}, nil
		r.steps[c.step].links = nil
		r.oldest++
	}
	from := r.from()
	for _, l := range []*lists{&r.specifics, &r.parts, &r.lineIDs, &r.defined, &r.named} {
		l.drop(from)
	}
	if from < len(r.runs) {
		r.lineParts.drop(int(r.runs[from].lines))
	}
}

// from is the first run that is ranked.
func (r *Ranker) from() int {
	if r.oldest == len(r.calls) {
		return len(r.runs)
	}
	return int(r.calls[r.oldest].from)
}

// see takes in one run.
func (r *Ranker) see(c *call, x Run, place int32, text string) {
	n := int32(len(r.runs))
	u := run{Run: x, call: int32(len(r.calls) - 1), place: place, lines: int32(r.lineParts.len())}
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
	r.seeLines(&u, n, text)
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

func (r *Ranker) seeLines(u *run, n int32, text string) {
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
		known.newest, known.run = u.call+1, n
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
		if meet(r.specifics.of(i), r.took.words) || meet(r.lineIDs.of(i), r.took.lines) {
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
	for j := s.oldest; j < s.turn; j++ {
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
	if i < s.from || i >= s.runs {
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
