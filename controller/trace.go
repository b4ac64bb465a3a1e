package controller

import (
	"errors"
	"fmt"
	"hash/maphash"
	"path"
	"slices"
	"strings"
)

// ErrUnknownTurn is returned for a turn that was never added to the Trace.
var ErrUnknownTurn = errors.New("controller: unknown turn")

// Trace remembers of the turns of one session, along one branch, what choosing parents needs: who holds
// and who said which word, who touched which file, which tests fail. It keeps no text but ids, paths,
// test names and summaries, so 100,000 turns with millions of words fit in memory. A branch is a Trace
// of its own, filled with the turns up to where it forks.
//
// A Trace is not safe for concurrent use.
type Trace struct {
	turns []entry
	byID  map[string]int32
	seed  maphash.Seed
	words map[uint64]mention // by hash: text would take three times the memory
	files map[string][]*file // by base name
	task  string             // whose words are in
	open  string             // the file viewed or changed last
	edits []int32            // turns that change files, in order
	runs  []int32            // turns that run tests, in order
	fails []int32            // turns whose label is failed, in order
}

// entry is what is kept of a turn.
type entry struct {
	id      string
	kind    Kind
	label   string
	failed  bool     // a call was flagged by the harness
	tests   []string // that fail in it
	summary string
}

// mention says where a word was seen. Turns are counted from 1, so that the zero value is nowhere.
type mention struct {
	first, newest, second uint32 // turns whose observations hold it: the first, and the two newest
	turns                 uint32 // how many hold it
	said                  uint32 // when the task, a user or the agent first said it: see userAt
	sayings               uint32 // how often they did, once a turn
}

// file is a path with the turns, counted from 1, that looked at it and changed it.
type file struct {
	path         string
	views, edits newest
}

// newest are the two newest turns of a kind, counted from 1. The one before is there for a turn that is
// scored after it was added.
type newest struct{ last, before uint32 }

func (n *newest) add(turn uint32) {
	if turn > n.last {
		n.before, n.last = n.last, turn
	}
}

// until returns the newest turn before the given one, or 0.
func (n newest) until(turn uint32) uint32 {
	if n.last < turn {
		return n.last
	}
	if n.before < turn {
		return n.before
	}
	return 0
}

// NewTrace returns an empty Trace.
func NewTrace() *Trace {
	return &Trace{byID: map[string]int32{}, seed: maphash.MakeSeed(), words: map[uint64]mention{}, files: map[string][]*file{}}
}

// Len is the number of turns added.
func (t *Trace) Len() int { return len(t.turns) }

// Add adds the next turn of the branch with its facts, and those of its observations that are there.
// What comes later is added with Observe. A turn that was added before is left as it is.
func (t *Trace) Add(turn Turn, f Facts) {
	if _, ok := t.byID[turn.ID]; ok {
		return
	}
	at := int32(len(t.turns))
	t.byID[turn.ID] = at
	t.turns = append(t.turns, entry{id: turn.ID, kind: f.Kind})
	if turn.Task != t.task {
		t.task = turn.Task
		t.say(turn.Task, userAt(at))
	}
	for _, text := range turn.User {
		t.say(text, userAt(at))
	}
	for _, w := range f.Words {
		t.sayWord(w, agentAt(at))
	}
	t.touch(at, f)
	for _, c := range turn.Calls {
		if c.Answered {
			t.observe(at, c.Observation, c.Failed)
		}
	}
}

// Observe adds what answered a call of the turn, as it arrives: once a call, or the whole turn's at
// once. failed is the harness's own flag.
func (t *Trace) Observe(id, observation string, failed bool) error {
	at, err := t.find(id)
	if err != nil {
		return err
	}
	t.observe(at, observation, failed)
	return nil
}

// Mark labels a turn: "" (unknown), "passed", "failed" or "superseded" (§3.3).
func (t *Trace) Mark(id, label string) error {
	at, err := t.find(id)
	if err != nil {
		return err
	}
	t.turns[at].label = label
	i, there := slices.BinarySearch(t.fails, at)
	switch failed := label == "failed"; {
	case failed && !there:
		t.fails = slices.Insert(t.fails, i, at)
	case there && !failed:
		t.fails = slices.Delete(t.fails, i, i+1)
	}
	return nil
}

// Failing names the tests that fail in a turn.
func (t *Trace) Failing(id string, tests []string) error {
	at, err := t.find(id)
	if err != nil {
		return err
	}
	t.turns[at].tests = tests
	return nil
}

// Describe gives a turn the summary that Newest shows.
func (t *Trace) Describe(id, summary string) error {
	at, err := t.find(id)
	if err != nil {
		return err
	}
	t.turns[at].summary = summary
	return nil
}

// Candidate reports whether the turn is known and may be chosen as a parent: it is neither failed nor
// superseded (§3.2).
func (t *Trace) Candidate(id string) bool {
	at, ok := t.byID[id]
	return ok && t.turns[at].label != "failed" && t.turns[at].label != "superseded"
}

// Past is an earlier turn as a controller is shown it.
type Past struct {
	ID      string
	Seq     int // its turn's place
	Kind    Kind
	Summary string
	Vector  []float32 // its embedding, where one was kept; or nil
	Digest  string    // of the model that made it: to another one it says nothing
}

// Newest lists up to n candidates (§3.2), newest first.
func (t *Trace) Newest(n int) []Past {
	var out []Past
	for at := len(t.turns) - 1; at >= 0 && len(out) < n; at-- {
		if e := t.turns[at]; t.Candidate(e.id) {
			out = append(out, Past{ID: e.id, Seq: at, Kind: e.kind, Summary: e.summary})
		}
	}
	return out
}

func (t *Trace) find(id string) (int32, error) {
	at, ok := t.byID[id]
	if !ok {
		return 0, fmt.Errorf("%w %q: add it to the trace first", ErrUnknownTurn, id)
	}
	return at, nil
}

// userAt and agentAt order what is said: a turn's user messages before the turn itself.
func userAt(at int32) uint32  { return 2*uint32(at) + 1 }
func agentAt(at int32) uint32 { return 2*uint32(at) + 2 }

func (t *Trace) say(text string, when uint32) {
	for _, w := range Words(text) {
		t.sayWord(w, when)
	}
}

func (t *Trace) sayWord(w string, when uint32) {
	h := maphash.String(t.seed, w)
	m := t.words[h]
	if m.said == 0 {
		m.said = when
	}
	m.sayings++
	t.words[h] = m
}

func (t *Trace) observe(at int32, text string, failed bool) {
	t.turns[at].failed = t.turns[at].failed || failed
	turn := uint32(at) + 1
	for w := range words(text) {
		h := maphash.String(t.seed, w)
		if m := t.words[h]; m.hold(turn) {
			t.words[h] = m
		}
	}
}

// hold notes that a turn's observation has the word, and reports whether that was new. Observations may
// come in any order.
func (m *mention) hold(turn uint32) bool {
	if turn == m.newest || turn == m.second || turn == m.first {
		return false
	}
	m.turns++
	if m.first == 0 || turn < m.first {
		m.first = turn
	}
	switch {
	case turn > m.newest:
		m.newest, m.second = turn, m.newest
	case turn > m.second:
		m.second = turn
	}
	return true
}

// before returns the first and the newest turn before the given one that hold the word, or 0.
func (m mention) before(turn uint32) (first, newest uint32) {
	if m.first >= turn {
		return 0, 0
	}
	switch {
	case m.newest < turn:
		return m.first, m.newest
	case m.second < turn:
		return m.first, max(m.first, m.second)
	}
	return m.first, m.first
}

func (t *Trace) mention(w string) mention { return t.words[maphash.String(t.seed, w)] }

// touch notes which files the turn views and changes, and whether it runs tests.
func (t *Trace) touch(at int32, f Facts) {
	turn := uint32(at) + 1
	changes := false
	for _, a := range f.Actions {
		edited := a.Edited
		if a.Kind == Edit {
			changes = true
			edited = t.edited(a)
		}
		changes = changes || len(edited) > 0
		for _, p := range edited {
			t.file(p).edits.add(turn)
		}
		if a.Kind == View {
			for _, p := range a.Files {
				t.file(p).views.add(turn)
			}
		}
		if n := len(a.Files); n > 0 && (a.Kind == View || a.Kind == Edit) {
			t.open = a.Files[n-1]
		}
	}
	if changes {
		t.edits = append(t.edits, at)
	}
	if f.does(Test) {
		t.runs = append(t.runs, at)
	}
}

// edited lists the files that an action changes. Some agents edit the file they opened last without
// naming it.
func (t *Trace) edited(a Action) []string {
	if a.Kind == Edit && len(a.Files) == 0 && t.open != "" {
		return []string{t.open}
	}
	return a.Edited
}

// file returns the record of exactly this path, made if there is none.
func (t *Trace) file(p string) *file {
	base := path.Base(p)
	for _, f := range t.files[base] {
		if f.path == p {
			return f
		}
	}
	f := &file{path: p}
	t.files[base] = append(t.files[base], f)
	return f
}

// newest returns the newest turns before the given one that viewed and changed the file, by whatever
// path it was named, or 0.
func (t *Trace) newest(p string, turn uint32) (view, edit uint32) {
	for _, f := range t.files[path.Base(p)] {
		if samePath(f.path, p) {
			view = max(view, f.views.until(turn))
			edit = max(edit, f.edits.until(turn))
		}
	}
	return view, edit
}

// samePath reports whether two paths may name one file: equal, or one ends with the other, since some
// are from the root and others from a folder that the agent is in.
func samePath(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, b) && !strings.HasPrefix(b, "/") && a[len(a)-len(b)-1] == '/'
}
