package validation

import (
	"regexp"
	"slices"
	"strings"
)

// run gathers what one runner says in one observation.
type run struct {
	name      string // of the runner
	selection selection
	// believed is set by a header, a closing line, or a verdict that nothing else looks like.
	believed  bool
	stopped   bool // the run ended early: tests that it does not name may not have run
	results   []Result
	index     map[string]int  // name to place in results, since the last close
	start     int             // of the current run in results
	parts     map[string]bool // of the names of its failures, see again
	summaries []Summary
}

func newRun(r *runner, command string) *run {
	return &run{name: r.name, selection: r.selected(command), index: map[string]int{}}
}

// add notes the verdict on a test; of those on one test in one run, the last counts.
func (r *run) add(name string, status Status) {
	if name == "" {
		return
	}
	if i, ok := r.index[name]; ok {
		r.results[i].Status = status
		return
	}
	r.index[name] = len(r.results)
	r.results = append(r.results, Result{r.name, name, status})
}

// group adds that the tests of a scope passed which the output does not name, as far as it follows.
func (r *run) group(scope string, failures bool) {
	switch s := r.selection; {
	case failures && (!s.known || s.narrowed || s.stops || r.stopped):
	case failures:
		r.add(scope+rest, Passed)
	case s.narrowed:
		r.add(scope+" ["+strings.Join(s.flags, " ")+"]", Passed)
	case !s.known && scope == s.launched:
		r.add(scope+all, Passed)
	case !s.known && scope == allTests:
		r.add(unnamed, Passed)
	case !s.known:
		r.add(scope+" ["+unnamed+"]", Passed)
	case scope == allTests:
		r.add(scope, Passed)
	default:
		r.add(scope+all, Passed)
	}
}

// whole adds that the tests of a scope passed which the output does not name, where the output itself shows
// that the scope was run whole.
func (r *run) whole(scope string, failures bool) {
	if failures {
		r.add(scope+rest, Passed)
	} else {
		r.add(scope+all, Passed)
	}
}

// close ends a run with its own counts and concludes what they say about tests that were not named.
func (r *run) close(s Summary) {
	r.believed = true
	s.Runner = r.name
	r.summaries = append(r.summaries, s)
	failed, passed := r.count(r.start)
	groups := slices.ContainsFunc(r.results[r.start:], func(t Result) bool { return isGroup(t.Name) })
	switch failures := s.Failed + s.Errors; {
	case failures > 0 && failed == 0:
		r.add(r.selection.whole()+some, Failed)
	case failures > failed:
		// Some failures were cut off: nothing is known about the tests that are not named.
	case failures == 0 && s.Passed > 0 && r.selection.launched != "":
		// Failures of such a run that were not named are fixed by a run that has none.
		r.group(r.selection.launched, false)
	case s.Passed > passed && !groups:
		for _, scope := range r.selection.scopes() {
			r.group(scope, failures > 0)
		}
	}
	r.next()
}

// closeCounted closes a run by the counts of its closing line, each a number and a word in the pattern's two groups.
// If it counts no failure, the suites that could not be run are the errors.
func (r *run) closeCounted(count *regexp.Regexp, counts string, suites int) {
	var s Summary
	for _, m := range count.FindAllStringSubmatch(counts, -1) {
		switch n := number(m[1]); m[2] {
		case "failed":
			s.Failed = n
		case "passed":
			s.Passed = n
		default:
			s.Skipped += n
		}
	}
	for _, t := range r.results[r.start:] {
		if t.Status == Errored {
			s.Errors++
		}
	}
	if s.Failed+s.Errors == 0 {
		s.Errors = suites
	}
	r.close(s)
}

// next begins another run of the same runner.
func (r *run) next() {
	r.start = len(r.results)
	clear(r.index)
	r.parts, r.stopped = nil, false
}

// count says how many of the results from a place on have failed and passed by name.
func (r *run) count(from int) (failed, passed int) {
	for _, t := range r.results[from:] {
		switch {
		case isGroup(t.Name):
		case t.Status.Failing():
			failed++
		case t.Status == Passed:
			passed++
		}
	}
	return failed, passed
}

// again adds a failure from a closing list that names tests by a part of their names only, unless the verdict
// itself was seen. The function cuts that part from a whole name.
func (r *run) again(name string, status Status, part func(string) string) {
	if r.parts == nil {
		r.parts = map[string]bool{}
		for _, t := range r.results[r.start:] {
			if t.Status.Failing() {
				r.parts[part(t.Name)] = true
			}
		}
	}
	if !r.parts[part(name)] {
		r.add(name, status)
	}
}

// end puts what was read into the report, if the runner is believed to have spoken.
func (r *run) end(report *Report) {
	if !r.believed {
		return
	}
	report.Results = append(report.Results, r.results...)
	report.Summaries = append(report.Summaries, r.summaries...)
}

// What stands for tests that the output does not name, see Result.
const (
	all      = " (all)"
	rest     = " (the rest)"
	some     = " (some)"
	allTests = "all tests"
	unnamed  = "unnamed tests"
)

func isGroup(name string) bool {
	return name == allTests || strings.HasSuffix(name, all) || strings.HasSuffix(name, rest) || strings.HasSuffix(name, some)
}

// lastOf gives what follows the last separator.
func lastOf(name, sep string) string {
	if i := strings.LastIndex(name, sep); i >= 0 {
		return name[i+len(sep):]
	}
	return name
}
