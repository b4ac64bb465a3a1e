package validation

import (
	"iter"
	"slices"
	"strings"
)

// Label is what the tests of a step say of it (§3.3). The zero value is LabelUnknown.
type Label string

const (
	LabelUnknown Label = "" // no decisive signal: no tests, or only skipped ones
	LabelPassed  Label = "passed"
	LabelFailed  Label = "failed"
)

// Fix points from a test that failed at a node to the first later node that showed it passing.
type Fix struct {
	Node string // where it failed
	Test string // as it was named there
	By   string
}

// Failure is a test that still fails.
type Failure struct {
	Result        // of the newest run that failed, with the name it had there
	Node   string // of that run
}

// Change is what one node's results changed.
type Change struct {
	Label Label
	Fixes []Fix
	// Superseded are the earlier nodes of which the last failure was fixed.
	Superseded []string
}

// Tracker follows the tests of one session (§3.3). Its zero value has seen none. It depends on nothing but
// the results added, so adding a session's nodes again, in order, rebuilds it.
type Tracker struct {
	nodes    map[string]*verdicts
	failures map[ident]*failure   // tests that fail now
	kin      map[ident][]*failure // the same by base, and by base and file
	latest   []Result             // of each test, in order of appearance
	place    map[ident]int        // in latest
	order    int
}

// verdicts counts a node's tests.
type verdicts struct{ open, fixed, passed int }

// failure is a test that fails now, with all runs that it failed in since it last passed.
type failure struct {
	id    ident
	full  string // its scope and test in one
	runs  []Failure
	order int // of the newest
}

func (f *failure) newest() Failure { return f.runs[len(f.runs)-1] }

// Add takes the results of a node's observations, in order; the last verdict on a test counts. More results
// of the newest node may be added in further calls: its label is of all of them.
func (t *Tracker) Add(node string, results []Result) Change {
	if t.nodes == nil {
		t.nodes = map[string]*verdicts{}
		t.failures = map[ident]*failure{}
		t.kin = map[ident][]*failure{}
		t.place = map[ident]int{}
	}
	var c Change
	v := t.nodes[node]
	if v == nil {
		if len(results) == 0 {
			return c
		}
		v = &verdicts{}
		t.nodes[node] = v
	}
	failing := map[ident]int{} // the last place of each
	for i, r := range results {
		if r.Status.Failing() {
			failing[identify(r)] = i
		}
	}
	for i, r := range results {
		id := identify(r)
		switch {
		case r.Status.Failing():
			t.fail(node, id, r, v)
		case r.Status == Passed:
			v.passed++
			others := strings.HasSuffix(r.Name, rest)
			t.pass(node, id, func(f *failure) bool {
				return id.test == "" && (failing[f.id] > i || others && f.newest().Node == node)
			}, &c)
		}
		t.record(id, r)
	}
	c.Label = v.label()
	return c
}

func (v *verdicts) label() Label {
	switch {
	case v.open+v.fixed > 0:
		return LabelFailed
	case v.passed > 0:
		return LabelPassed
	}
	return LabelUnknown
}

func (t *Tracker) fail(node string, id ident, r Result, v *verdicts) {
	t.order++
	f := t.failures[id]
	if f == nil {
		f = t.otherForm(id)
	}
	if f == nil {
		f = &failure{id: id, full: id.full()}
		t.failures[id] = f
		for _, k := range id.kin() {
			t.kin[k] = append(t.kin[k], f)
		}
	}
	f.order = t.order
	if n := len(f.runs); n > 0 && f.runs[n-1].Node == node {
		f.runs[n-1].Result = r
		return
	}
	f.runs = append(f.runs, Failure{r, node})
	v.open++
}

// otherForm finds the open failure of the same test under a shorter or longer name, if there is just one.
func (t *Tracker) otherForm(id ident) *failure {
	var found *failure
	if id.test == "" {
		return nil
	}
	for f := range t.related(id) {
		if f.id.test == id.test && agree(f.id.scope, id.scope) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// mostKin bounds how many open failures one result is compared with, so that a session with thousands of them
// stays cheap. Beyond it only equal names and whole scopes match.
const mostKin = 500

// related gives the open failures that may be of the same test under another name.
func (t *Tracker) related(id ident) iter.Seq[*failure] {
	return func(yield func(*failure) bool) {
		for _, k := range id.relatives() {
			for _, f := range t.kin[k][:min(len(t.kin[k]), mostKin)] {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// pass fixes what a pass of id covers, but for what is known to fail in the same observation.
func (t *Tracker) pass(node string, id ident, fails func(*failure) bool, c *Change) {
	for _, f := range t.covered(id) {
		if !fails(f) {
			t.fix(node, f, c)
		}
	}
}

// covered lists the open failures that a pass shows to be gone.
func (t *Tracker) covered(id ident) []*failure {
	if f := t.failures[id]; f != nil && id.test != "" {
		return []*failure{f}
	}
	var out []*failure
	if id.test == "" {
		for _, f := range t.failures {
			if id.covers(f.id, f.full) {
				out = append(out, f)
			}
		}
		slices.SortFunc(out, func(a, b *failure) int { return a.order - b.order })
	} else {
		for f := range t.related(id) {
			if id.covers(f.id, f.full) {
				out = append(out, f)
			}
		}
		if f := t.failures[ident{id.runner, id.scope, ""}]; f != nil && id.scope != "" {
			out = append(out, f)
		}
	}
	if ambiguous(id, out) {
		return nil
	}
	return out
}

// ambiguous reports whether failures of several scopes answer to a name whose own scope is none of them.
func ambiguous(id ident, found []*failure) bool {
	other := ""
	for _, f := range found {
		if within(f.full, id.scope) && (id.scope != "" || id.test == "") {
			continue
		}
		if other != "" && other != f.id.scope {
			return true
		}
		other = f.id.scope
	}
	return false
}

func (t *Tracker) fix(node string, f *failure, c *Change) {
	for _, run := range f.runs {
		v := t.nodes[run.Node]
		v.open--
		if run.Node == node {
			continue // failed and passed in one node: the last verdict counts
		}
		v.fixed++
		c.Fixes = append(c.Fixes, Fix{Node: run.Node, Test: run.Name, By: node})
		if v.open == 0 {
			c.Superseded = append(c.Superseded, run.Node)
		}
	}
	delete(t.failures, f.id)
	for _, k := range f.id.kin() {
		if left := slices.DeleteFunc(t.kin[k], func(o *failure) bool { return o == f }); len(left) > 0 {
			t.kin[k] = left
		} else {
			delete(t.kin, k)
		}
	}
	if i, ok := t.place[f.id]; ok {
		t.latest[i].Status = Passed
	}
}

func (t *Tracker) record(id ident, r Result) {
	i, ok := t.place[id]
	if !ok {
		t.place[id] = len(t.latest)
		t.latest = append(t.latest, r)
		return
	}
	if r.Status != Skipped || !t.latest[i].Status.Failing() {
		t.latest[i] = r
	}
}

// Open lists the tests that still fail, each with the newest node that showed it, oldest run first.
func (t *Tracker) Open() []Failure {
	list := make([]*failure, 0, len(t.failures))
	for _, f := range t.failures {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *failure) int { return a.order - b.order })
	out := make([]Failure, len(list))
	for i, f := range list {
		out[i] = f.newest()
	}
	return out
}

// Results gives the last verdict on each test, in order of first appearance. A test that skips after it
// failed has not been fixed, and is still failing here.
func (t *Tracker) Results() []Result { return slices.Clone(t.latest) }
