package evidence

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Two runs of one task are compared by the files that are in sight at the same progress: before the call at each tenth
// of the run. Only files that both have seen by then count, so that everything kept is no distance, however
// differently the runs went. What is left is the policy's, and that one run is further on than the other at the same
// tenth.
const (
	tenths = 10
	// leastTask is how long a task is that two runs can have in common, in characters: what is shorter is a greeting.
	leastTask = 40
	// sameRun is the share of the shorter run's observed lines from which on two are one, in two files.
	sameRun = 0.9
)

// reruns gives for each session the next one of the same task that is another run; -1 where there is none.
func reruns(sessions []Session) []int {
	next := make([]int, len(sessions))
	of := map[string]int{}
	for i := len(sessions) - 1; i >= 0; i-- {
		next[i] = -1
		t := task(sessions[i].Steps)
		if t == "" {
			continue
		}
		if later, ok := of[t]; ok && !oneRun(sessions[i].Steps, sessions[later].Steps) {
			next[i] = later
		}
		of[t] = i
	}
	return next
}

// task is what the user says before the first call; "" if that is too little to tell.
func task(steps []engine.Step) string {
	var said []string
	for _, s := range steps {
		for _, m := range s.Before {
			if m.Role == graphstore.User && !m.Compaction {
				said = append(said, strings.TrimSpace(m.Text))
			}
		}
		if len(s.Calls) > 0 {
			break
		}
	}
	t := strings.Join(said, "\n")
	if utf8.RuneCountInString(t) < leastTask {
		return ""
	}
	return t
}

func oneRun(a, b []engine.Step) bool {
	x, y := observed(a), observed(b)
	common := 0
	for line := range x {
		common += boolean(y[line])
	}
	return float64(common) >= sameRun*float64(min(len(x), len(y)))
}

// observed are the lines of a run's observations.
func observed(steps []engine.Step) set {
	out := set{}
	for _, s := range steps {
		for _, c := range s.Calls {
			if c.Observation != nil {
				out.add(lines(c.Observation.Text))
			}
		}
	}
	return out
}

// view is which files a run has seen before a call, and which of them are in sight: some of what was seen of them is.
type view struct{ known, sight set }

// rerun compares the session with another run of its task.
func (b *bench) rerun(ctx context.Context, policy string) (Distance, error) {
	var out Distance
	here, err := views(ctx, b.fit, b.session, policy, b.options.First)
	if err != nil {
		return out, err
	}
	there, err := views(ctx, b.other.fit, b.other.session, policy, b.options.First)
	if err != nil {
		return out, err
	}
	for i := range min(len(here), len(there)) {
		out.merge(here[i].distance(there[i]))
	}
	return out, nil
}

// distance is that of the files in sight, of those that both know; nothing is compared where there are none.
func (v view) distance(o view) Distance {
	known, common, union := 0, 0, 0
	for file := range v.known {
		if o.known[file] {
			known++
			common += boolean(v.sight[file] && o.sight[file])
			union += boolean(v.sight[file] || o.sight[file])
		}
	}
	switch {
	case known == 0:
		return Distance{}
	case union == 0:
		return Distance{Requests: 1}
	}
	return Distance{1 - float64(common)/float64(union), 1}
}

// errSeen ends a replay when all tenths have been seen.
var errSeen = errors.New("seen")

// views are those before the calls at each tenth of the run.
func views(ctx context.Context, fit Fit, s Session, policy string, first int) ([]view, error) {
	calls := s.Calls
	if first > 0 {
		calls = min(calls, first)
	}
	files := touched(s.Steps)
	out := make([]view, 0, tenths)
	err := fit.Replay(ctx, s.Steps, policy, first, func(call int, w *engine.Window) error {
		for len(out) < tenths && call >= (calls-1)*(len(out)+1)/tenths {
			out = append(out, look(w, files))
		}
		if len(out) == tenths {
			return errSeen
		}
		return ctx.Err()
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return out, err
}

func look(w *engine.Window, files map[place][]string) view {
	v := view{set{}, set{}}
	for _, item := range w.Items {
		for _, file := range files[place{item.Seq, item.Call}] {
			v.known[file] = true
			if item.Fate == engine.Whole || len(item.In) > 0 {
				v.sight[file] = true
			}
		}
	}
	return v
}

// touched are the files of each call that was answered.
func touched(steps []engine.Step) map[place][]string {
	out := map[place][]string{}
	for i, s := range steps {
		turn := controller.Turn{Thought: s.Thought}
		for _, c := range s.Calls {
			turn.Calls = append(turn.Calls, controller.Call{Name: c.Name, Args: c.Args})
		}
		for _, a := range controller.Extract(turn).Actions {
			if s.Calls[a.Call].Observation != nil {
				out[place{i, a.Call}] = append(out[place{i, a.Call}], a.Files...)
			}
		}
	}
	return out
}
