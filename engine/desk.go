package engine

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// desk is what a paging policy has before the agent: which observations are paged out, and what is paged in
// again at the tail. It follows the path of its session by the decisions that were
// kept, request by request; so it is the same after a restart.
type desk struct {
	ranker  *compress.Ranker
	count   *compress.Counter
	tracker validation.Tracker
	shape   *shape
	fed     trail  // what the desk has taken in
	seen    []seen // observations, in order
	at      map[place]int
	decided map[NodeID][]decision
	pins    map[place]bool
	silence struct{ waiting, joined int } // tokens of what stands where there is no observation

	// The state after the newest decision.
	pages  []page       // page-outs that stand, the newest last
	tails  map[int]part // what is paged in, by the observation whose message carries it
	spared spared
	outAt  int       // observations that there were at the newest page-out, or when it was taken back
	asked  int       // requests since then
	held   float64   // see decision
	last   time.Time // when the newest request was woven; zero in a replay
	newest NodeID    // the node that it followed
	sent   place     // the newest observation that it had

	strategy Strategy // that it went by, and why; "" before the first, and under a policy that has none
	because  string

	// What is learned from page-ins: what is never used makes later ones rarer.
	unused  []int // runs that were paged in and that no step has used yet
	pagedIn int   // tokens
	used    int   // of those, tokens
}

// trail is the beginning of a path that something has followed.
type trail []kept

// begins reports whether path begins with the trail, with no more answers to its calls.
func (t trail) begins(path []kept) bool {
	if len(t) > len(path) {
		return false
	}
	for i, k := range t {
		if k.ID != path[i].ID || k.Step.Answered() != path[i].Step.Answered() {
			return false
		}
	}
	return true
}

// page is a page-out on the desk.
type page struct {
	pageOut
	out   int // observations before this are paged out, but for the short ones and those that stay
	stays map[int]string
	after int // Seq of the step before it
}

// spared are observations whose page-out was taken back: those before to that are not paged out, as long as there are
// fewer than until observations.
type spared struct{ to, until int }

// part is the text that a list of clips makes, behind an observation.
type part struct {
	clips  []clip
	sizes  []int // tokens of the clips
	text   string
	tokens int // by which they make longer what they stand behind
}

// seen is an observation on the desk.
type seen struct {
	*Node
	place    place
	from, to int // its runs in the ranker
	text     string
	tokens   int
	marker   string
	marked   int // tokens of the marker
}

func (o seen) handle() Handle { return NewHandle(o.ID, o.place.Call) }

func newDesk(w *compress.Weights, count *compress.Counter, decided map[NodeID][]decision) *desk {
	d := &desk{ranker: compress.NewRanker(w), count: count, decided: decided, at: map[place]int{}, tails: map[int]part{}, shape: newShape()}
	d.silence.waiting, d.silence.joined = count.Count(notAnswered), count.Count(joined)
	return d
}

// take lets the desk see a node that follows, and applies what was decided after it.
func (d *desk) take(k kept, n Node) {
	Feed(d.ranker, n, func(i, from, to int) {
		d.learn()
		c := n.Step.Calls[i]
		if c.Observation == nil {
			return
		}
		o := seen{Node: k.Node, place: place{n.Seq, i}, from: from, to: to, text: c.Observation.Text, tokens: n.Tokens.Observations[i]}
		o.marker = fmt.Sprintf("[%d lines paged out; recall %s]", n.Lines[i], o.handle())
		o.marked = d.count.Count(o.marker)
		d.at[o.place] = len(d.seen)
		d.seen = append(d.seen, o)
	})
	d.tracker.Add(string(n.ID), results(n.Tests))
	d.shape.add(k.Node)
	d.fed = append(d.fed, k)
	for _, c := range d.decided[n.ID] {
		d.apply(n.ID, c)
	}
}

// learn looks what of the paged-in runs the newest call used.
func (d *desk) learn() {
	for _, r := range d.ranker.Used(d.unused) {
		d.used += d.ranker.Run(r).Tokens
		d.unused = slices.DeleteFunc(d.unused, func(u int) bool { return u == r })
	}
}

// apply makes a decision so.
func (d *desk) apply(after NodeID, c decision) {
	switch c.Kind {
	case request:
		d.held, d.last, d.newest, d.sent = c.Held, c.At, after, c.Behind
		d.strategy, d.because = c.Strategy, c.Because
		d.asked++
	case undone:
		d.undo(c.Behind)
	}
	if c.Out != nil {
		p := page{pageOut: *c.Out, stays: make(map[int]string, len(c.Out.Stay)), after: c.Behind.Seq}
		p.out = sort.Search(len(d.seen), func(i int) bool { return !d.seen[i].place.before(p.Before) })
		for _, s := range p.Stay {
			if i, ok := d.at[s.place]; ok {
				p.stays[i] = s.Why
			}
		}
		d.pages = append(d.pages, p)
		d.begin(c.Behind)
	}
	if in := slices.DeleteFunc(slices.Clone(c.In), d.lacks); len(in) > 0 {
		d.pageIn(in, c.Behind)
	}
}

// lacks reports whether a clip is of nothing on the desk, as in a store that somebody has changed.
func (d *desk) lacks(c clip) bool {
	i, ok := d.at[c.place]
	return !ok || c.From < 0 || c.From > c.To || c.To > len(d.seen[i].text)
}

// begin begins a stretch in which nothing that is woven changes.
func (d *desk) begin(behind place) {
	clear(d.tails)
	d.outAt, d.asked = d.at[behind]+1, 0
}

// undo takes the newest page-out back.
func (d *desk) undo(behind place) {
	n := len(d.pages)
	if n == 0 {
		return
	}
	d.begin(behind)
	d.newest = "" // a request after the same node is another one now
	d.spared = spared{d.pages[n-1].out, d.outAt + epoch}
	d.pages = d.pages[:n-1]
}

func (d *desk) pageIn(clips []clip, behind place) {
	at := d.at[behind]
	p := part{clips: slices.Concat(d.tails[at].clips, clips)}
	p.text = d.tail(p.clips)
	p.tokens = d.count.Behind(d.stands(at), p.text)
	for _, c := range p.clips {
		p.sizes = append(p.sizes, d.count.Count(d.text(c)))
	}
	d.tails[at] = p
	for _, r := range d.runs(clips) {
		d.unused = append(d.unused, r)
		d.pagedIn += d.ranker.Run(r).Tokens
	}
}

// preview is the desk as a decision would make it; what it shares with d is not to be changed.
func (d *desk) preview(c decision) *desk {
	p := *d
	p.pages, p.tails, p.unused = slices.Clone(d.pages), maps.Clone(d.tails), slices.Clone(d.unused)
	p.apply(d.newest, c)
	return &p
}

// page is the newest page-out that stands; without one its out is 0.
func (d *desk) page() page {
	if n := len(d.pages); n > 0 {
		return d.pages[n-1]
	}
	return page{}
}

// since counts the observations since the newest page-out.
func (d *desk) since() int { return len(d.seen) - d.outAt }

// away reports whether an observation is paged out.
func (d *desk) away(i int) bool { return d.page().takes(d, i) }

// takes reports whether the page-out takes an observation away.
func (p page) takes(d *desk, i int) bool {
	if i >= p.out || d.seen[i].short(p.Small) {
		return false
	}
	_, stays := p.stays[i]
	return !stays
}

// short reports whether an observation is not worth a marker.
func (o seen) short(small int) bool { return o.tokens <= max(small, o.marked) }

// tokens is what stands in the place of an observation, without its tail.
func (d *desk) tokens(i int) int {
	if d.away(i) {
		return d.seen[i].marked
	}
	return d.seen[i].tokens
}

// stands is the text in the place of an observation, without its tail.
func (d *desk) stands(i int) string {
	if d.away(i) {
		return d.seen[i].marker
	}
	return d.seen[i].text
}

// sight marks the runs that are before the agent.
func (d *desk) sight() []bool {
	visible := make([]bool, d.ranker.Len())
	for i, o := range d.seen {
		if d.away(i) {
			continue
		}
		for r := o.from; r < o.to; r++ {
			visible[r] = true
		}
	}
	for _, p := range d.tails {
		for _, r := range d.runs(p.clips) {
			visible[r] = true
		}
	}
	return visible
}

// runs are those that lie within clips.
func (d *desk) runs(clips []clip) []int {
	var out []int
	for _, c := range clips {
		o := d.seen[d.at[c.place]]
		for r := o.from; r < o.to; r++ {
			if run := d.ranker.Run(r); run.From >= c.From && run.To <= c.To {
				out = append(out, r)
			}
		}
	}
	return out
}

// clips joins runs, in order, to as few clips as they make.
func (d *desk) clips(runs []int) []clip {
	var out []clip
	for _, r := range runs {
		run := d.ranker.Run(r)
		at := d.seen[run.Observation].place
		if n := len(out); n > 0 && out[n-1].place == at && out[n-1].To == run.From {
			out[n-1].To = run.To
			continue
		}
		out = append(out, clip{at, run.From, run.To})
	}
	return out
}

func (d *desk) text(c clip) string { return d.seen[d.at[c.place]].text[c.From:c.To] }

// line is the number of the line, from 1, in which a byte lies.
func (o seen) line(at int) int { return 1 + strings.Count(o.text[:at], "\n") }

// tail is the text of what is paged in behind an observation.
func (d *desk) tail(clips []clip) string {
	var b strings.Builder
	b.WriteString("\n\n--- from earlier steps ---\n")
	for i, c := range clips {
		o := d.seen[d.at[c.place]]
		if i > 0 && clips[i-1].place == c.place {
			fmt.Fprintf(&b, "[line %d]\n", o.line(c.From))
		} else {
			fmt.Fprintf(&b, "[%s, line %d]\n", o.handle(), o.line(c.From))
		}
		b.WriteString(strings.TrimSuffix(d.text(c), "\n"))
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
