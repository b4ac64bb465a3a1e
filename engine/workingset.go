package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

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
}

var levels = map[string]level{
	"lean":    {keep: 3, apart: 15, trigger: 16000, patience: 0.5, small: 15, carry: 1, remaining: 2, learning: 0.25, choice: compress.Choice{Threshold: 2.6e-5, Alpha: 1, Dup: 1, Cap: 1500}},
	"default": {keep: 4, apart: 20, trigger: 12000, patience: 0.5, small: 50, carry: 0.7, remaining: 2, learning: 0.25, choice: compress.Choice{Threshold: 1.8e-5, Alpha: 1, Dup: 0.5, Cap: 4000}},
	"rich":    {keep: 4, apart: 20, trigger: 32000, small: 30, carry: 1, learning: 0.25, choice: compress.Choice{Threshold: 1.9e-4, Alpha: 0.5, Dup: 1, Cap: 2500}},
}

const (
	// epoch is how many observations an epoch is expected to have.
	epoch = 20
	// stays is how many of the newest observations no budget takes away.
	stays = 3
	// progress is what a page-out must free at least, in tokens, so that none is made for nothing.
	progress = 500
	// failing bounds the observations of open failures that stay for their sake, in tokens.
	failing = 4000
	// clipOverhead is what a clip costs beside its text, in tokens.
	clipOverhead = 15
)

// workingSet says what stands for each observation at the end of the path: as it was decided
// before, or decided anew and kept.
func (s *Session) workingSet(ctx context.Context, r Request, path []kept) (judge, error) {
	s.weaving.Lock()
	defer s.weaving.Unlock()
	d, err := s.desk(ctx, r.Policy, path)
	if err != nil {
		return nil, err
	}
	if len(d.seen) == 0 {
		return d.judge(), nil
	}
	if head := path[len(path)-1].ID; d.newest != head {
		c := d.decide(levels[r.Policy.level], r)
		if r.Dry || r.At != "" {
			defer delete(s.desks, r.Policy.String()) // memory must not be ahead of the store
		} else if err := s.decide(ctx, r.Policy, head, c); err != nil {
			return nil, err
		}
		d.apply(head, c)
	}
	return d.judge(), nil
}

// decide keeps a decision before anything is woven by it.
func (s *Session) decide(ctx context.Context, p Policy, after NodeID, c decision) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.engine.store.Decide(ctx, s.name, p.String(), after, b)
}

// desk gives the session's desk under a policy, at the end of path.
func (s *Session) desk(ctx context.Context, p Policy, path []kept) (*desk, error) {
	d := s.desks[p.String()]
	if d == nil || !d.follows(path) {
		decided, err := s.decisions(ctx, p)
		if err != nil {
			return nil, err
		}
		d = newDesk(s.engine.opts.Weights, s.engine.count.Count, decided)
		s.desks[p.String()] = d
	}
	for _, k := range path[len(d.fed):] {
		n, err := s.whole(ctx, k)
		if err != nil {
			delete(s.desks, p.String())
			return nil, err
		}
		d.take(k, n)
	}
	return d, nil
}

func (s *Session) decisions(ctx context.Context, p Policy) (map[NodeID]decision, error) {
	stored, err := s.engine.store.Decisions(ctx, s.name, p.String())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	out := make(map[NodeID]decision, len(stored))
	for id, b := range stored {
		var c decision
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("session %s: what %s decided after step %s: %w", s.name, p, id, err)
		}
		out[id] = c
	}
	return out, nil
}

// judge says of each observation, in order, what stands for it.
func (d *desk) judge() judge {
	i := -1
	return func(NodeID) verdict {
		i++
		v := verdict{fate: Whole, reason: d.reasons[i], tail: d.tails[i].text}
		switch {
		case d.away(i):
			v.fate, v.text = Omitted, d.seen[i].marker
		case d.out == 0:
			v.reason = "nothing is paged out yet: it would not pay"
		case i >= d.out:
			v.reason = "newer than the newest page-out"
		}
		return v
	}
}

// sizes are what a prompt holds, in tokens.
type sizes struct {
	prompt int // all of it
	edge   int // observations before this may leave
	junk   int // what a page-out would free
	suffix int // what it would rewrite
	whole  []int
}

// weigh adds up the prompt as it stands, and what a page-out would do to it.
func (d *desk) weigh(l level, keep int) sizes {
	z := sizes{edge: max(0, len(d.seen)-keep)}
	z.whole = d.exempt(l, z.edge)
	i, first := 0, false
	for _, k := range d.fed {
		said := k.Tokens.Thinking + k.Tokens.Thought + frameTokens
		for _, n := range k.Tokens.Before {
			said += n + frameTokens
		}
		for _, n := range k.Tokens.Calls {
			said += n + frameTokens
		}
		z.prompt += said
		if first {
			z.suffix += said
		}
		for ; i < len(d.seen) && d.seen[i].Node == k.Node; i++ {
			now, tail := d.tokens(i), d.tails[i].tokens
			z.prompt += now + tail
			then := now
			if i < z.edge && !slices.Contains(z.whole, i) {
				then = min(now, d.seen[i].marked)
			}
			if freed := now + tail - then; freed > 0 {
				first = true
				z.junk += freed
			}
			if first {
				z.suffix += then
			}
		}
	}
	return z
}

// tokens is what stands in the place of an observation, without its tail.
func (d *desk) tokens(i int) int {
	if d.away(i) {
		return d.seen[i].marked
	}
	return d.seen[i].tokens
}

// exempt lists the observations before edge that a page-out leaves: the short ones, for a marker
// costs as much, and those that hold open failures, newest first up to a bound.
func (d *desk) exempt(l level, edge int) []int {
	open := map[string]bool{}
	for _, f := range d.tracker.Open() {
		open[f.Node] = true
	}
	var out []int
	room := failing
	for i := edge - 1; i >= 0; i-- {
		o := d.seen[i]
		switch {
		case o.tokens <= max(l.small, o.marked):
			out = append(out, i)
		case open[string(o.ID)] && o.fails() && o.tokens <= room:
			room -= o.tokens
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// fails reports whether the observation shows a failing test.
func (o seen) fails() bool {
	for _, t := range o.Tests {
		if t.Call == o.call && (t.Status == "failed" || t.Status == "error") {
			return true
		}
	}
	return false
}

// decide makes the decision for the next request: what leaves, and what comes back at the tail.
func (d *desk) decide(l level, r Request) decision {
	z := d.weigh(l, l.keep)
	c := decision{Held: d.held + r.Prices.read()*float64(z.junk), At: r.Now}
	if c.Why = d.due(l, r, z, c.Held); c.Why != "" {
		c.Out, c.Whole, c.Held = z.edge, z.whole, 0
	}
	after := d.preview(c)
	choice := l.choice
	choice.Overhead = clipOverhead
	remaining := max(1, epoch-after.since())
	choice.Threshold *= (1 + l.remaining*float64(remaining)/20) * math.Pow(d.waste(), l.learning)
	if c.Out > 0 {
		choice.Threshold *= l.carry
	}
	if r.Budget > 0 {
		choice.Cap = max(0, min(choice.Cap, r.Budget-after.weigh(l, l.keep).prompt-clipOverhead))
	}
	if after.out > 0 {
		runs := d.ranker.Choose(after.sight(), d.ranker.Scores(), choice)
		slices.Sort(runs)
		c.In = d.clips(runs)
	}
	return c
}

// due says why a page-out should happen now, or "".
func (d *desk) due(l level, r Request, z sizes, held float64) string {
	if z.edge <= d.out && len(d.tails) == 0 || z.junk == 0 {
		return ""
	}
	if r.Budget > 0 && z.prompt > r.Budget-l.choice.Cap/2 {
		return fmt.Sprintf("the budget is %d tokens", r.Budget)
	}
	if z.junk < progress || z.prompt < l.trigger {
		return ""
	}
	if !r.Now.IsZero() && !d.last.IsZero() && r.Now.Sub(d.last) > r.Prices.lifetime() {
		return "the cache was cold anyway"
	}
	rewrite := r.Prices.rewrite() * float64(z.suffix)
	if d.since() < l.apart || held < l.patience*rewrite {
		return ""
	}
	return fmt.Sprintf("holding %d tokens had cost more than rewriting %d", z.junk, z.suffix)
}

// preview is the desk as a decision would make it; what it shares with d is not to be changed.
func (d *desk) preview(c decision) *desk {
	p := *d
	p.whole, p.tails, p.reasons = maps.Clone(d.whole), maps.Clone(d.tails), maps.Clone(d.reasons)
	p.unused = slices.Clone(d.unused)
	p.apply(d.newest, c)
	return &p
}

// waste is 1 while a tenth of what is paged in gets used, and more the less is.
func (d *desk) waste() float64 {
	return 0.1 * float64(d.pagedIn+3000) / float64(d.used+300)
}

// Prices are what a request's tokens cost, as multiples of the input price.
type Prices struct {
	Name     string        `json:"name"`
	Read     float64       `json:"read"`     // of tokens that the provider has cached
	Write    float64       `json:"write"`    // of tokens that it has not
	Lifetime time.Duration `json:"lifetime"` // after which an idle cache is cold
}

// prices are the presets; the first is the default.
var prices = []Prices{
	{"cached", 0.1, 1.25, 5 * time.Minute},
	{"cached-1h", 0.1, 2, time.Hour},
	{"cached-free-write", 0.1, 1, 5 * time.Minute},
	{"half", 0.5, 1, 5 * time.Minute},
	{"uncached", 1, 1, 0},
	{"local", 0.02, 1, 5 * time.Minute},
}

// PricePresets are the prices that have a name; the first are the default.
func PricePresets() []Prices { return slices.Clone(prices) }

// ParsePrices finds a preset by name; "" is the default. The error for a wrong one lists the right ones.
func ParsePrices(name string) (Prices, error) {
	var names []string
	for _, p := range prices {
		if p.Name == name || name == "" {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Prices{}, fmt.Errorf("prices %q: unknown; there are %s", name, strings.Join(names, ", "))
}

func (p Prices) orDefault() Prices { return cmp.Or(p, prices[0]) }

func (p Prices) read() float64           { return p.orDefault().Read }
func (p Prices) rewrite() float64        { return max(0, p.orDefault().Write-p.orDefault().Read) }
func (p Prices) lifetime() time.Duration { return p.orDefault().Lifetime }
