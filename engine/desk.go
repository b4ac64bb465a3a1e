package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// desk is what a working set has before the agent: which observations are paged out, and what is paged in
// again at the tail. It follows the path of its session by the decisions that were
// kept, request by request; so it is the same after a restart.
type desk struct {
	ranker  *compress.Ranker
	count   func(string) int // tokens
	tracker validation.Tracker
	fed     []kept // what the desk has taken in
	seen    []seen // observations, in order
	decided map[NodeID]decision

	// The state after the newest request.
	out     int            // observations before this are paged out, but for those in whole
	whole   map[int]bool   // older ones that a page-out left where they were
	tails   map[int]part   // what is paged in, by the observation whose message carries it
	outAt   int            // observations that there were at the newest page-out
	held    float64        // what has been paid, in tokens, for holding what could go
	last    time.Time      // when the newest request was woven; zero in a replay
	newest  NodeID         // the node that it followed
	reasons map[int]string // why an observation left, or stays

	// What is learned from page-ins: what is never used makes later ones rarer.
	unused  []int // runs that were paged in and that no step has used yet
	pagedIn int   // tokens
	used    int   // of those, tokens
}

// part is the text that a list of clips makes, with its tokens.
type part struct {
	clips  []clip
	text   string
	tokens int
}

// seen is an observation on the desk.
type seen struct {
	*Node
	call     int
	from, to int // its runs in the ranker
	text     string
	tokens   int
	marker   string
	marked   int // tokens of the marker
}

// clip is a stretch of an observation, in bytes.
type clip struct {
	Observation int `json:"o"` // its number on the path, from 0
	From        int `json:"f"`
	To          int `json:"t"`
}

// decision is what was decided for one request, as it is kept.
type decision struct {
	Out   int       `json:"out,omitempty"`   // page out all observations before this; 0: none
	Whole []int     `json:"whole,omitempty"` // but not these
	In    []clip    `json:"in,omitempty"`    // paged in after the newest observation
	Held  float64   `json:"held,omitempty"`
	Why   string    `json:"why,omitempty"` // of the page-out
	At    time.Time `json:"at,omitzero"`
}

func newDesk(w *compress.Weights, count func(string) int, decided map[NodeID]decision) *desk {
	return &desk{ranker: compress.NewRanker(w), count: count, decided: decided, whole: map[int]bool{},
		tails: map[int]part{}, reasons: map[int]string{}}
}

// follows reports whether the desk took in just the beginning of path, with all answers to its calls.
func (d *desk) follows(path []kept) bool {
	if len(d.fed) > len(path) {
		return false
	}
	for i, k := range d.fed {
		if k.ID != path[i].ID || k.Step.Answered() != path[i].Step.Answered() {
			return false
		}
	}
	return true
}

// take lets the desk see a node that follows, and applies what was decided after it.
func (d *desk) take(k kept, n Node) {
	Feed(d.ranker, n.Step, func(i, from, to int) {
		d.learn()
		if n.Step.Calls[i].Observation == nil {
			return
		}
		o := seen{Node: k.Node, call: i, from: from, to: to, text: n.Step.Calls[i].Observation.Text, tokens: n.Tokens.Observations[i]}
		o.marker = fmt.Sprintf("[%d lines paged out; recall %s]", n.Lines[i], NewHandle(n.ID, i))
		o.marked = d.count(o.marker)
		d.seen = append(d.seen, o)
	})
	d.tracker.Add(string(n.ID), results(n.Tests))
	d.fed = append(d.fed, k)
	if c, ok := d.decided[n.ID]; ok {
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
	d.held, d.last, d.newest = c.Held, c.At, after
	if c.Out > 0 {
		d.outAt = len(d.seen)
		clear(d.whole)
		clear(d.tails)
		for _, i := range c.Whole {
			d.whole[i] = true
		}
		for i := range c.Out {
			if !d.whole[i] {
				d.reasons[i] = "paged out before step " + fmt.Sprint(d.seq(after)+1) + ": " + c.Why
			}
		}
		d.out = c.Out
	}
	if len(c.In) > 0 {
		text := d.tail(c.In)
		d.tails[len(d.seen)-1] = part{c.In, text, d.count(text)}
		for _, r := range d.runs(c.In) {
			d.unused = append(d.unused, r)
			d.pagedIn += d.ranker.Run(r).Tokens
		}
	}
}

func (d *desk) seq(id NodeID) int {
	for i := len(d.fed) - 1; i >= 0; i-- {
		if d.fed[i].ID == id {
			return d.fed[i].Seq
		}
	}
	return 0
}

// since counts the observations since the newest page-out.
func (d *desk) since() int { return len(d.seen) - d.outAt }

// away reports whether an observation is paged out.
func (d *desk) away(i int) bool { return i < d.out && !d.whole[i] }

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
		o := d.seen[c.Observation]
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
		if n := len(out); n > 0 && out[n-1].Observation == run.Observation && out[n-1].To == run.From {
			out[n-1].To = run.To
			continue
		}
		out = append(out, clip{run.Observation, run.From, run.To})
	}
	return out
}

func (o seen) line(at int) int { return 1 + strings.Count(o.text[:at], "\n") }

// tail is the text of what is paged in behind an observation.
func (d *desk) tail(clips []clip) string {
	var b strings.Builder
	b.WriteString("\n\n--- from earlier steps ---\n")
	for i, c := range clips {
		o := d.seen[c.Observation]
		if i > 0 && clips[i-1].Observation == c.Observation {
			fmt.Fprintf(&b, "[line %d]\n", o.line(c.From))
		} else {
			fmt.Fprintf(&b, "[%s, line %d]\n", NewHandle(o.ID, o.call), o.line(c.From))
		}
		b.WriteString(strings.TrimSuffix(o.text[c.From:c.To], "\n"))
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
