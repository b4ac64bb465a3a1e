package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ctxweaver/ctxweaver/compress"
)

// level is one setting of the working set. How the numbers were found: benchmarks/evidence.
type level struct {
	keep      int     // newest observations that a page-out leaves whole
	apart     int     // observations between page-outs, at least
	trigger   int     // tokens of prompt below which nothing leaves
	patience  float64 // page out once holding has cost so many times what the rewrite will
	small     int     // observations up to so many tokens never leave
	carry     float64 // of the threshold, at a page-out
	remaining float64 // how much the observations still to come in an epoch raise the threshold
	learning  float64 // how much page-ins that were never used raise it
	choice    compress.Choice
	tight     bool // the budget leaves no room for what stays by preference alone
}

var levels = map[string]level{
	"lean":    {keep: 2, apart: 15, trigger: 14000, patience: 0.5, small: 50, carry: 0.7, remaining: 0.5, learning: 0.25, choice: compress.Choice{Threshold: 2.75e-3, Alpha: 0.7, Dup: 0.5, Cap: 3000}},
	"default": {keep: 3, apart: 20, trigger: 14000, patience: 0.5, small: 50, carry: 0.7, remaining: 0.5, learning: 0.25, choice: compress.Choice{Threshold: 1e-3, Alpha: 0.7, Dup: 0.5, Cap: 4000}},
	"rich":    {keep: 4, apart: 20, trigger: 20000, patience: 0.5, small: 50, carry: 0.7, remaining: 0.5, learning: 0.25, choice: compress.Choice{Threshold: 4.5e-4, Alpha: 0.7, Dup: 0.5, Cap: 5000}},
}

const (
	// epoch is how many observations an epoch is expected to have.
	epoch = 20
	// stays is how many of the newest observations no budget takes away.
	stays = 2
	// progress is what a page-out must free at least, in tokens, so that none is made for nothing.
	progress = 500
	// failing bounds the observations of open failures that stay for their sake, in tokens.
	failing = 4000
	// clipOverhead is what a clip costs beside its text, in tokens.
	clipOverhead = 15
)

// A tight budget forces page-outs, and each is a rewrite: fewer of the newest observations stay, so that each frees
// more, none is made early that has not paid more than its price, and what comes back must be worth more, the
// smaller the budget: it takes the room in which the epoch could have grown.
const (
	tightBudget   = 48000 // tokens; from here on the level is as without a budget
	tightTrigger  = 0.6   // of the budget
	tightPatience = 1.4
	tightApart    = 20
	tightCap      = 3000
	tightChoice   = 20000 // tokens of budget with which the threshold is as without one
	tightLowest   = 0.75  // of the threshold
)

// under is the level as a budget changes it.
func (l level) under(budget int) level {
	if budget == 0 || budget > tightBudget {
		return l
	}
	l.keep, l.trigger, l.patience, l.apart, l.carry = stays, int(tightTrigger*float64(budget)), tightPatience, tightApart, 1
	l.choice.Threshold *= max(tightLowest, tightChoice/float64(budget))
	l.choice.Cap = min(l.choice.Cap, tightCap)
	return l
}

// tightened is the level where only what must stay does.
func (l level) tightened() level {
	l.keep, l.small, l.tight = min(l.keep, stays), 0, true
	return l
}

// sizes are what a prompt holds, in tokens, and what the page-out that could be made would change.
type sizes struct {
	page
	prompt int // as it is
	after  int // as it would be
	suffix int // what would be written anew
}

// junk is what the page-out would free.
func (z sizes) junk() int { return z.prompt - z.after }

// weigh adds up the prompt as it stands, and what a page-out would do to it.
func (d *desk) weigh(l level) sizes {
	z := sizes{page: d.plan(l)}
	i, changed := 0, false
	add := func(now, then int) {
		z.prompt += now
		z.after += then
		changed = changed || now != then
		if changed {
			z.suffix += then
		}
	}
	for _, k := range d.fed {
		said := d.said(k.Node)
		add(said, said)
		for ; i < len(d.seen) && d.seen[i].Node == k.Node; i++ {
			then := d.seen[i].tokens
			if z.takes(d, i) {
				then = d.seen[i].marked
			}
			add(d.tokens(i)+d.tails[i].tokens, then)
		}
	}
	return z
}

// said is what a step takes beside its observations, in tokens.
func (d *desk) said(n *Node) int {
	sum := 0
	for i, m := range n.Step.Before {
		if !m.Compaction {
			sum += n.Tokens.Before[i] + frameTokens
		}
	}
	if n.Step.Thought != "" || n.Step.Thinking != "" || len(n.Step.Calls) > 0 {
		sum += n.Tokens.Thinking + n.Tokens.Thought + frameTokens
	}
	for i, c := range n.Step.Calls {
		sum += n.Tokens.Calls[i] + frameTokens
		switch {
		case c.Joined:
			sum += d.silence.joined
		case c.Observation == nil:
			sum += d.silence.waiting
		}
	}
	return sum
}

// plan is the page-out that could be made: of all but the newest observations, the short ones, for a marker costs as
// much, and what stays for a reason.
func (d *desk) plan(l level) page {
	p := page{pageOut: pageOut{Small: l.small}, out: max(0, len(d.seen)-l.keep), stays: map[int]string{}}
	open := map[string]bool{}
	room := failing
	if l.tight {
		room = 0
	}
	for _, f := range d.tracker.Open() {
		open[f.Node] = true
	}
	for i := p.out - 1; i >= 0; i-- {
		o := d.seen[i]
		switch {
		case o.short(l.small):
		case d.pins[o.place]:
			p.stays[i] = byPin
		case d.spares(i) && !l.tight:
			p.stays[i] = "its page-out was taken back"
		case open[string(o.ID)] && o.fails() && o.tokens <= room:
			room -= o.tokens
			p.stays[i] = "it holds an open failure"
		}
	}
	return p
}

// spares reports whether an observation's page-out was taken back lately.
func (d *desk) spares(i int) bool {
	return i < d.spared.to && len(d.seen) < d.spared.until && !d.away(i)
}

// fails reports whether the observation shows a failing test.
func (o seen) fails() bool {
	for _, t := range o.Tests {
		if t.Call == o.place.Call && t.Status.Failing() {
			return true
		}
	}
	return false
}

// decide makes the decision for the next request: what leaves, and what comes back at the tail: first what is
// wanted, by its number, and then what pick finds.
func (d *desk) decide(l level, r Request, wanted []int, pick pager) decision {
	l = l.under(r.Budget)
	z := d.weigh(l)
	if r.Budget > 0 && z.after > r.Budget {
		l = l.tightened()
		z = d.weigh(l)
	}
	c := decision{Behind: d.seen[len(d.seen)-1].place, Held: d.held + r.Prices.read()*float64(max(0, z.junk())), At: r.Now}
	prompt := z.prompt
	if why := d.due(l, r, z, c.Held); why != "" {
		c.Out, c.Held, prompt = d.pageOut(z, why), 0, z.after
	}
	after := d.preview(c)
	room := roomIn(r.Budget, prompt)
	if c.In = after.bring(wanted, room); len(c.In) > 0 {
		after.pageIn(c.In, c.Behind)
		room -= after.tails[len(d.seen)-1].tokens
	}
	// Without a new observation, what is paged in would change a message that has been sent.
	if fresh := c.Out != nil || d.sent != c.Behind; fresh && after.page().out > 0 {
		c.In = append(c.In, pick(after, l, room)...)
	}
	if r.Budget > 0 {
		c.In = d.within(c.In, r.Budget-prompt)
	}
	return c
}

// roomIn is what a budget leaves for a tail beside the prompt, in tokens.
func roomIn(budget, prompt int) int {
	if budget == 0 {
		return math.MaxInt
	}
	return budget - prompt - clipOverhead - seamTokens // for the tail's own heading
}

// pageOut is a page-out as it is kept. A call that is not answered yet stays: its answer is to be seen when it comes.
func (d *desk) pageOut(z sizes, why string) *pageOut {
	out := z.pageOut
	out.Before, out.Why, out.Freed = d.seen[z.out].place, why, z.junk()
	for i, why := range z.stays {
		out.Stay = append(out.Stay, stay{d.seen[i].place, why})
	}
	for _, k := range d.fed {
		for i, c := range k.Step.Calls {
			if at := (place{k.Seq, i}); c.Open() && at.before(out.Before) {
				out.Stay = append(out.Stay, stay{at, "it was answered after the newest page-out"})
			}
		}
	}
	slices.SortFunc(out.Stay, func(a, b stay) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Call, b.Call))
	})
	return &out
}

// due says why a page-out should happen now, or "".
func (d *desk) due(l level, r Request, z sizes, held float64) string {
	if z.junk() <= 0 {
		return ""
	}
	if r.Budget > 0 && z.prompt > r.Budget {
		return fmt.Sprintf("the budget is %d tokens", r.Budget)
	}
	if z.junk() < progress || z.prompt < l.trigger || z.out <= d.page().out && len(d.tails) == 0 {
		return ""
	}
	if r.Cold || !r.Now.IsZero() && !d.last.IsZero() && r.Now.Sub(d.last) > r.Prices.lifetime() {
		return "the cache was cold anyway"
	}
	rewrite := r.Prices.rewrite() * float64(z.suffix)
	if d.since() < l.apart || held < l.patience*rewrite {
		return ""
	}
	return fmt.Sprintf("holding %d tokens had cost more than rewriting %d", z.junk(), z.suffix)
}
