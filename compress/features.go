package compress

import (
	"math"
	"slices"
	"sync"
)

// view is one run as it is looked at: its call, itself, and how it meets what there is to see.
type view struct {
	ranker *Ranker
	sight  *sight
	j      int // the call
	call   *call
	all    *meetings
	step   *step
	kin    *kin
	i      int // the run
	run    *run
	meets  *meeting
	file   fileView
}

func (v *view) turn(j int) {
	v.j, v.call, v.all = j, &v.ranker.calls[j], &v.sight.calls[j-v.sight.oldest]
	v.step, v.kin = &v.ranker.steps[v.call.step], v.sight.relative(v.call.step)
	v.file = v.files()
}

func (v *view) look(i int) {
	v.i, v.run, v.meets = i, &v.ranker.runs[i], &v.sight.meets[i-v.sight.from]
}

// feature is something to weigh.
type feature struct {
	name  string
	value func(*view) float32
}

// levels are all features, by what they are of: the session as it is now, a call and all its runs alike, what
// never changes of a run, and a run as it is now. The first three are worked out once.
var levels = [4][]feature{ofSession, ofCall, ofFixed, ofRun}

// FeatureNames are the names of the features, in the order in which Ranker.Features gives them.
var FeatureNames = sync.OnceValue(func() []string {
	var out []string
	for _, level := range levels {
		for _, f := range level {
			out = append(out, f.name)
		}
	}
	return slices.Clip(out)
})

var ofSession = slices.Concat([]feature{
	{"calls", func(v *view) float32 { return log1(v.count()) }},
	{"runs", func(v *view) float32 { return log1(float32(v.sight.runs)) }},
	{"reuse rate", func(v *view) float32 { return v.ranker.reuse.taken / (v.count() + 5) }},
	{"reuse calls rate", func(v *view) float32 { return v.ranker.reuse.calls / (v.count() + 5) }},
	{"reuse gap", func(v *view) float32 { return log1(v.ranker.reuse.gaps / (v.ranker.reuse.taken + 1)) }},
	{"newest observation tokens", func(v *view) float32 { return log1(float32(v.newest().size) / 4) }},
	{"newest thought tokens", func(v *view) float32 { return log1(float32(v.newest().thoughtSize) / 4) }},
	{"edits of newest 3", func(v *view) float32 { return v.sight.edits }},
	{"failures of newest 3", func(v *view) float32 { return v.sight.fails }},
	{"calls since edit", func(v *view) float32 { return log1(v.sinceEdit()) }},
	{"newest failed", func(v *view) float32 { return indicator(v.newest().failed) }},
}, kindFeatures("newest kind ", (*view).newest))

var ofCall = slices.Concat([]feature{
	{"age", func(v *view) float32 { return log1(v.age()) }},
	{"age to 5", func(v *view) float32 { return indicator(v.age() <= 5) }},
	{"age to 10", func(v *view) float32 { return indicator(v.age() <= 10) }},
	{"age share", func(v *view) float32 { return v.age() / v.count() }},
	{"early", func(v *view) float32 { return 1 / float32(v.j+1) }},
	{"best run's parts, relative", func(v *view) float32 { return v.all.best / (v.sight.bestParts + 0.01) }},
	{"call's unsaid", func(v *view) float32 { return log1(v.all.unsaid) }},
	{"call used", func(v *view) float32 { return log1(v.call.used) }},
	{"call used lately", func(v *view) float32 { return v.lately(v.call.usedAt) }},
	{"file used", func(v *view) float32 { return log1(v.file.used) }},
	{"file edited since", func(v *view) float32 { return v.file.edited }},
	{"file viewed since", func(v *view) float32 { return v.file.viewed }},
	{"file touched", func(v *view) float32 { return log1(v.file.touched) }},
	{"file touched since", func(v *view) float32 { return v.file.touchedSince }},
	{"file said since", func(v *view) float32 { return v.file.said }},
	{"file ever edited", func(v *view) float32 { return indicator(v.file.everEdited) }},
	{"file viewed, never edited", func(v *view) float32 { return indicator(v.file.onlyViewed) }},
	{"file is newest call's", func(v *view) float32 { return indicator(v.file.newest) }},
	{"file is recent calls'", func(v *view) float32 { return indicator(v.file.recent) }},
	{"file is newest edit's", func(v *view) float32 { return indicator(v.file.lastEdit) }},
	{"has file", func(v *view) float32 { return indicator(len(v.call.files) > 0) }},
	{"same kind", func(v *view) float32 { return indicator(v.call.kind == v.newest().kind) }},
	{"newest edits same file", func(v *view) float32 { return indicator(v.newest().kind == editCall && v.file.newest) }},
	{"newest views same file", func(v *view) float32 { return indicator(v.newest().kind == viewCall && v.file.newest) }},
	{"newest tests, was view", func(v *view) float32 { return indicator(v.newest().kind == testCall && v.call.kind == viewCall) }},
	{"calls since edit, was view", func(v *view) float32 { return log1(v.sinceEdit()) * indicator(v.call.kind == viewCall) }},
	{"call failed", func(v *view) float32 { return indicator(v.call.failed) }},
}, kindFeatures("kind ", func(v *view) *call { return v.call }), ofStep)

var ofFixed = []feature{
	{"tokens", func(v *view) float32 { return log1(float32(v.run.Tokens)) }},
	{"lines", func(v *view) float32 { return log1(float32(v.run.filled)) }},
	{"specific", func(v *view) float32 { return log1(v.specific()) }},
	{"names files", func(v *view) float32 { return log1(float32(len(v.ranker.named.of(v.i)))) }},
	{"failures", func(v *view) float32 { return log1(float32(v.run.fails)) }},
	{"definitions", func(v *view) float32 { return log1(float32(v.run.opens)) }},
	{"numbers", func(v *view) float32 { return log1(float32(v.run.digits)) }},
	{"place", func(v *view) float32 { return float32(v.run.place) / float32(max(1, v.siblings()-1)) }},
	{"first", func(v *view) float32 { return indicator(v.run.place == 0) }},
	{"last", func(v *view) float32 { return indicator(int(v.run.place) == v.siblings()-1) }},
	{"runs in observation", func(v *view) float32 { return log1(float32(v.siblings())) }},
}

var ofRun = []feature{
	{"unsaid", func(v *view) float32 { return log1(v.meets.unsaid) }},
	{"unsaid rarity", func(v *view) float32 { return log1(v.meets.unsaidRarity) }},
	{"unsaid, newest here", func(v *view) float32 { return log1(v.meets.unsaidHere) }},
	{"unsaid, only here", func(v *view) float32 { return log1(v.meets.unsaidOnly) }},
	{"unsaid share", func(v *view) float32 { return v.meets.unsaid / (v.specific() + 1) }},
	{"unsaid by tokens", func(v *view) float32 { return log1(100 * v.meets.unsaidHere / float32(v.run.Tokens+20)) }},
	{"unsaid in newest observation", func(v *view) float32 { return log1(v.meets.unsaidNewest) }},
	{"unsaid match", func(v *view) float32 { return log1(v.meets.match) }},
	{"unsaid matches", func(v *view) float32 { return log1(v.meets.matches) }},
	{"unsaid match, newest observation", func(v *view) float32 { return log1(v.meets.matchNewest) }},
	{"unsaid match, relative", func(v *view) float32 { return v.meets.match / (v.sight.bestMatch + 0.01) }},
	{"unsaid in recent folder", func(v *view) float32 { return v.meets.dir }},
	{"specific in thought", func(v *view) float32 { return log1(v.meets.thought) }},
	{"specific in action", func(v *view) float32 { return log1(v.meets.action) }},
	{"specific said recently", func(v *view) float32 { return log1(v.meets.recent) }},
	{"specific in newest observation", func(v *view) float32 { return log1(v.meets.newest) }},
	{"specific in two before", func(v *view) float32 { return log1(v.meets.older) }},
	{"parts in thought", func(v *view) float32 { return v.meets.partThought }},
	{"parts in action", func(v *view) float32 { return v.meets.partAction }},
	{"parts said recently", func(v *view) float32 { return v.meets.partRecent }},
	{"parts in newest observation", func(v *view) float32 { return v.meets.partNewest }},
	{"parts planned", func(v *view) float32 { return v.meets.plan }},
	{"parts in task", func(v *view) float32 { return v.meets.task }},
	{"parts in open failure", func(v *view) float32 { return v.meets.failure }},
	{"parts, relative", func(v *view) float32 { return v.meets.parts / (v.sight.bestParts + 0.01) }},
	{"parts, relative to call's best", func(v *view) float32 { return v.meets.parts / (v.all.best + 0.01) }},
	{"newest failed, parts in it", func(v *view) float32 { return indicator(v.newest().failed) * v.meets.partNewest }},
	{"line", func(v *view) float32 { return log1(v.meets.line) }},
	{"line, relative", func(v *view) float32 { return v.meets.line / (v.sight.bestLine + 0.01) }},
	{"line, newest observation", func(v *view) float32 { return log1(v.meets.lineNewest) }},
	{"definition named", func(v *view) float32 { return log1(v.meets.defined) }},
	{"neighbour's parts, relative", func(v *view) float32 { return v.besides() / (v.sight.bestParts + 0.01) }},
	{"used", func(v *view) float32 { return log1(v.run.used) }},
	{"used lately", func(v *view) float32 { return v.lately(v.run.usedAt) }},
	{"neighbours used", func(v *view) float32 { return log1(v.neighbours()) }},
	{"neighbours used lately", func(v *view) float32 { return v.neighboursLately() }},
	{"after last used", func(v *view) float32 { return after(v.fromUsed()) }},
	{"before last used", func(v *view) float32 { d, ok := v.fromUsed(); return after(-d, ok) }},
	{"is last used", func(v *view) float32 { d, ok := v.fromUsed(); return indicator(ok && d == 0) }},
	{"names newest call's file", func(v *view) float32 { return indicator(meet(v.ranker.named.of(v.i), v.sight.newestFiles)) }},
	{"names recent calls' file", func(v *view) float32 { return indicator(meet(v.ranker.named.of(v.i), v.sight.recentFiles)) }},
	{"lines newer elsewhere", func(v *view) float32 { return v.meets.newer / v.lineCount() }},
	{"lines repeated", func(v *view) float32 { return v.meets.repeated / v.lineCount() }},
	{"lines in edits", func(v *view) float32 { return v.meets.edited / v.lineCount() }},
}

func kindFeatures(prefix string, of func(*view) *call) []feature {
	var out []feature
	for k, name := range kindsOfCall {
		out = append(out, feature{prefix + name, func(v *view) float32 { return indicator(of(v).kind == kindOfCall(k)) }})
	}
	return out
}

// log1 evens out what has no bound. Most of what it is asked for is a small count.
func log1(x float32) float32 {
	if n := int(x); n >= 0 && n < len(logs) && float32(n) == x {
		return logs[n]
	}
	return float32(math.Log(1 + float64(x)))
}

// logs are log1 of 0, 1, 2 and so on.
var logs = func() (out [256]float32) {
	for n := range out {
		out[n] = log(n + 1)
	}
	return out
}()

func (v *view) count() float32    { return float32(v.sight.now + 1) }
func (v *view) age() float32      { return float32(v.sight.now + 1 - v.j) }
func (v *view) newest() *call     { return &v.ranker.calls[v.sight.now] }
func (v *view) siblings() int     { return int(v.call.to - v.call.from) }
func (v *view) specific() float32 { return float32(len(v.ranker.specifics.of(v.i))) }
func (v *view) lineCount() float32 {
	return float32(len(v.ranker.lineIDs.of(v.i)) + 1)
}

func (v *view) sinceEdit() float32 {
	if v.ranker.edit < 0 {
		return v.count()
	}
	return float32(v.sight.now + 1 - v.ranker.edit)
}

// lately is from 1 down for a call, counted from 1; 0 for never.
func (v *view) lately(at int32) float32 {
	if at == 0 {
		return 0
	}
	return 1 / float32(v.sight.now+2-int(at))
}

// besides is the better of the runs before and after.
func (v *view) besides() float32 {
	var best float32
	if v.run.place > 0 {
		best = v.sight.meets[v.i-1-v.sight.from].parts
	}
	if v.i+1 < int(v.call.to) {
		best = max(best, v.sight.meets[v.i+1-v.sight.from].parts)
	}
	return best
}

// around calls f for the two runs before and the two after, with the weight they have.
func (v *view) around(f func(u *run, weight float32)) {
	if v.call.used == 0 {
		return
	}
	for i := max(int(v.call.from), v.i-2); i < min(int(v.call.to), v.i+3); i++ {
		switch i - v.i {
		case -1, 1:
			f(&v.ranker.runs[i], 1)
		case -2, 2:
			f(&v.ranker.runs[i], 0.5)
		}
	}
}

func (v *view) neighbours() (sum float32) {
	v.around(func(u *run, weight float32) { sum += weight * u.used })
	return sum
}

func (v *view) neighboursLately() (best float32) {
	v.around(func(u *run, weight float32) { best = max(best, weight*v.lately(u.usedAt)) })
	return best
}

// fromUsed is how many runs this one is after the one of its observation that was used last.
func (v *view) fromUsed() (distance int32, ok bool) {
	return v.run.place - v.call.usedPlace, v.call.usedAt > 0
}

func after(distance int32, ok bool) float32 {
	if !ok || distance <= 0 {
		return 0
	}
	return 1 / float32(distance)
}

// meet reports whether two short lists have something in common.
func meet(a, b []int32) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}

// fileView is what has become of a call's files since.
type fileView struct {
	used, touched                                    float32
	edited, viewed, touchedSince, said               float32
	everEdited, onlyViewed, newest, recent, lastEdit bool
}

func (v *view) files() fileView {
	var out fileView
	now, seen := float32(v.sight.now), int32(v.j+1)
	for _, id := range v.call.files {
		f := v.ranker.file(id)
		out.used, out.touched = max(out.used, f.used), max(out.touched, f.touched)
		if f.editedAt > seen {
			out.edited = max(out.edited, v.lately(f.editedAt))
		}
		if f.viewedAt > seen {
			out.viewed = max(out.viewed, 1/(now+2-float32(f.viewedAt))+0.2)
		}
		if f.touchedAt > seen {
			out.touchedSince = max(out.touchedSince, v.lately(f.touchedAt))
		}
		if f.said > seen {
			out.said = max(out.said, v.lately(f.said))
		}
		out.everEdited = out.everEdited || f.editedAt > 0
		out.onlyViewed = out.onlyViewed || f.editedAt == 0 && f.viewedAt > 0
	}
	out.newest, out.recent = meet(v.call.files, v.sight.newestFiles), meet(v.call.files, v.sight.recentFiles)
	out.lastEdit = v.ranker.edit >= 0 && meet(v.call.files, v.ranker.calls[v.ranker.edit].files)
	return out
}
