package engine

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// pager says what to page in behind the newest observation, of at most room tokens, on a desk as it is after the
// page-out, if there is one.
type pager func(after *desk, l level, room int) []clip

// paged says what stands for each observation at the end of the path, under a policy that pages: as it was decided
// before, or decided anew and kept.
func (s *Session) paged(ctx context.Context, r Request, path []kept) (ruling, error) {
	s.weaving.Lock()
	defer s.weaving.Unlock()
	d, err := s.desk(ctx, r.Policy, path)
	if err != nil {
		return ruling{}, err
	}
	if r.Dry && len(d.decided) == 0 {
		if d, err = s.imagine(ctx, r, path); err != nil {
			return ruling{}, err
		}
	}
	c, err := s.decideNext(ctx, d, r, path)
	if err != nil || c == nil {
		return d.ruling(), err
	}
	head := path[len(path)-1].ID
	if r.Dry || r.At != "" {
		defer delete(s.desks, r.Policy.String()) // memory must not be ahead of the store
	} else if err := s.keepDecision(ctx, d, r.Policy, head, *c); err != nil {
		return ruling{}, err
	}
	d.apply(head, *c)
	return d.ruling(), nil
}

// decideNext makes what is still to be decided about the request; nil is nothing.
func (s *Session) decideNext(ctx context.Context, d *desk, r Request, path []kept) (*decision, error) {
	wanted, err := d.find(r.Recall)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.name, err)
	}
	if len(d.seen) == 0 {
		return nil, nil
	}
	repeated := d.newest == path[len(path)-1].ID
	pinned, err := s.pinned(ctx, d)
	if err != nil {
		return nil, err
	}
	if !repeated || r.At == "" { // a request of the past is as it was
		wanted = append(pinned, wanted...)
	}
	if r.Budget != 0 {
		r.Budget = max(1, r.Budget-s.pending(r.Pending))
	}
	level := levels[r.Policy.level]
	if repeated && !d.exceeds(level, r.Budget) {
		return d.add(level, r, wanted), nil
	}
	var strategy Strategy
	var because string
	if r.Policy.name == WorkingSet.name {
		strategy, because = d.shape.choose(r.Strategy)
	}
	pick, err := s.pager(ctx, r.Policy, strategy, path)
	if err != nil {
		return nil, err
	}
	c := d.decide(level.adapt(strategy), r, wanted, pick)
	if repeated && c.Out == nil { // nothing more can leave
		return d.add(level, r, wanted), nil
	}
	c.Strategy, c.Because = strategy, because
	return &c, nil
}

// imagine gives a desk as it would be if every request of the path had been woven under the policy.
func (s *Session) imagine(ctx context.Context, r Request, path []kept) (*desk, error) {
	d := newDesk(s.engine.opts.Weights, s.engine.count, nil)
	r.At, r.Now, r.Cold, r.Recall = "", time.Time{}, false, nil
	for i, k := range path {
		n, err := s.whole(ctx, k)
		if err != nil {
			return nil, err
		}
		d.take(k, n)
		if i+1 == len(path) || path[i+1].Step.Counted() == 0 {
			continue // the request itself, or none
		}
		r.Pending = path[i+1].Step.Before
		c, err := s.decideNext(ctx, d, r, path[:i+1])
		if err != nil {
			return nil, err
		}
		if c != nil {
			d.apply(k.ID, *c)
		}
	}
	return d, nil
}

// pending is the tokens of what comes after the last step.
func (s *Session) pending(messages []Message) int {
	sum := 0
	for _, m := range messages {
		sum += s.engine.count.Count(m.Text) + frameTokens
	}
	return sum
}

// pager gives what chooses page-ins under a policy.
func (s *Session) pager(ctx context.Context, p Policy, strategy Strategy, path []kept) (pager, error) {
	ablation := s.engine.ablation
	if ablation.NoGraph && p.name == WorkingSet.name {
		return predicted(nil), nil
	}
	walk := ablation.walk()
	if p.name == "paper-tail" {
		walk = graphstore.Walk{W: p.b, M: p.a}
	}
	current, _ := current(path) // there is an observation, and so a call
	reached, err := s.engine.store.Ancestry(ctx, s.name, current.ID, walk)
	if err != nil {
		return nil, err
	}
	if p.name != "paper-tail" {
		near := kin(reached)
		for id := range near {
			near[id] *= strategy.trust()
		}
		return predicted(near), nil
	}
	return func(after *desk, l level, room int) []clip {
		return after.bring(after.hidden(reached), min(room, l.choice.Cap))
	}, nil
}

// keepDecision adds to what was decided after a node.
func (s *Session) keepDecision(ctx context.Context, d *desk, p Policy, after NodeID, c decision) error {
	all := append(slices.Clip(d.decided[after]), c)
	if err := s.decide(ctx, p, after, all); err != nil {
		return err
	}
	d.decided[after] = all
	return nil
}

// desk gives the session's desk under a policy, at the end of path.
func (s *Session) desk(ctx context.Context, p Policy, path []kept) (*desk, error) {
	d := s.desks[p.String()]
	if d == nil || !d.fed.begins(path) {
		decided, err := s.decisions(ctx, p)
		if err != nil {
			return nil, err
		}
		d = newDesk(s.engine.opts.Weights, s.engine.count, decided)
		s.desks[p.String()] = d
	}
	for _, k := range path[len(d.fed):] {
		n, err := s.whole(ctx, k)
		if err != nil {
			delete(s.desks, p.String())
			return nil, err
		}
		if s.engine.ablation.NoGraph {
			n.Parents = nil
		}
		d.take(k, n)
	}
	return d, nil
}

// exceeds reports whether the prompt as it stands is over the budget.
func (d *desk) exceeds(l level, budget int) bool { return budget > 0 && d.weigh(l).prompt > budget }

// add pages in what is wanted for a request that was decided already; nil if nothing is missing.
func (d *desk) add(l level, r Request, wanted []int) *decision {
	c := decision{Kind: recalled, Behind: d.seen[len(d.seen)-1].place}
	prompt := 0
	if r.Budget > 0 {
		prompt = d.weigh(l).prompt
	}
	c.In = d.bring(wanted, roomIn(r.Budget, prompt))
	if r.Budget > 0 {
		c.In = d.within(c.In, r.Budget-prompt)
	}
	if len(c.In) == 0 {
		return nil
	}
	return &c
}

// hidden are the observations of nodes of which nothing is in sight.
func (d *desk) hidden(reached []graphstore.Reached) []int {
	in := map[place]bool{}
	for _, p := range d.tails {
		for _, c := range p.clips {
			in[c.place] = true
		}
	}
	of := map[NodeID][]int{}
	for i, o := range d.seen {
		if d.away(i) && !in[o.place] {
			of[o.ID] = append(of[o.ID], i)
		}
	}
	var out []int
	for _, r := range reached {
		out = append(out, of[r.ID]...)
	}
	return out
}

// bring pages in observations, in their order, as long as there is room: whole, or where that is too much their
// beginning, in whole lines. What is in sight is left alone.
func (d *desk) bring(which []int, room int) []clip {
	var out []clip
	for _, i := range which {
		if !d.away(i) {
			continue
		}
		c, tokens := d.beginning(i, room)
		if tokens > 0 && !d.shows(c) {
			out = append(out, c)
			room -= tokens
		}
	}
	return out
}

// beginning is as many of an observation's first lines as there is room for, and what they cost; 0 where there is no
// room for one.
func (d *desk) beginning(i, room int) (clip, int) {
	o := d.seen[i]
	if o.tokens+clipOverhead <= room {
		return clip{o.place, 0, len(o.text)}, o.tokens + clipOverhead
	}
	to := len(o.text)
	if room < o.tokens {
		to = to * max(0, room) / o.tokens
	}
	for {
		to = strings.LastIndexByte(o.text[:to], '\n') + 1
		if to == 0 {
			return clip{}, 0
		}
		if tokens := d.count.Count(o.text[:to]) + clipOverhead; tokens <= room {
			return clip{o.place, 0, to}, tokens
		}
		to = to * 9 / 10
	}
}

// shows reports whether a clip is paged in already.
func (d *desk) shows(c clip) bool {
	for _, p := range d.tails {
		for _, q := range p.clips {
			if q.place == c.place && q.From <= c.From && q.To >= c.To {
				return true
			}
		}
	}
	return false
}

// within drops clips from the end until their text takes no more than room, in tokens, behind the newest observation:
// what a run is said to take is an estimate.
func (d *desk) within(clips []clip, room int) []clip {
	for len(clips) > 0 && d.growth(clips) > room {
		clips = clips[:len(clips)-1]
	}
	return clips
}

// growth is the most that clips take behind the newest observation, which every page-out leaves whole: behind what is
// paged in there already, or, where a page-out has taken that away, behind the observation's own text.
func (d *desk) growth(clips []clip) int {
	at := len(d.seen) - 1
	alone := d.count.Behind(d.stands(at), d.tail(clips))
	there, ok := d.tails[at]
	if !ok {
		return alone
	}
	all := d.count.Behind(d.stands(at), d.tail(slices.Concat(there.clips, clips)))
	return max(alone, all-there.tokens)
}

// find gives the observations that handles name, in order, each once.
func (d *desk) find(handles []Handle) ([]int, error) {
	var out []int
	for _, h := range handles {
		n, calls, err := locate(d.fed, h)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			if i := d.at[place{n.Seq, c}]; !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out, nil
}

// locate finds the observations that a handle names on a path: a node, and the indexes of its calls.
func locate(path []kept, h Handle) (*Node, []int, error) {
	prefix, call, err := h.parse()
	if err != nil {
		return nil, nil, err
	}
	var found *Node
	for _, k := range path {
		if strings.HasPrefix(string(k.ID), prefix) {
			if found != nil {
				return nil, nil, fmt.Errorf("handle %q: matches steps %d and %d; give more digits", h, found.Seq, k.Seq)
			}
			found = k.Node
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("handle %q: no step on the way to the head: %w", h, ErrNotFound)
	}
	var calls []int
	for i, c := range found.Step.Calls {
		if c.Observation != nil && (call < 0 || call == i) {
			calls = append(calls, i)
		}
	}
	if len(calls) == 0 {
		return nil, nil, fmt.Errorf("handle %q: step %d has no such observation: %w", h, found.Seq, ErrNotFound)
	}
	return found, calls, nil
}

// ruling says what stands for each observation, and how the epoch stands. It is of now: the desk may go on while a window
// is woven by it.
func (d *desk) ruling() ruling {
	in := d.inSight()
	verdicts := make([]verdict, len(d.seen))
	for i := range verdicts {
		v := verdict{fate: Whole, reason: d.reason(i), tail: d.tails[i], in: in[i]}
		if d.away(i) {
			v.fate, v.text = Omitted, d.seen[i].marker
		}
		verdicts[i] = v
	}
	of := func(NodeID) verdict {
		v := verdicts[0]
		verdicts = verdicts[1:]
		return v
	}
	p := d.page()
	e := &Epoch{PageOuts: len(d.pages), Requests: d.asked, Observations: d.since(), Why: p.Why, PagedOut: p.Freed,
		Strategy: d.strategy, Because: d.because}
	if len(d.pages) > 0 {
		e.After = p.after
	}
	for _, t := range d.tails {
		e.PagedIn += t.tokens
	}
	return ruling{of: of, epoch: e}
}

// reason says why an observation is away, or is not.
func (d *desk) reason(i int) string {
	p := d.page()
	switch {
	case d.away(i):
		// The first page-out that took it and that it has not come back from.
		n := sort.Search(len(d.pages), func(n int) bool { return d.pages[n].out > i })
		for m := n; m < len(d.pages); m++ {
			if !d.pages[m].takes(d, i) {
				n = m + 1
			}
		}
		return fmt.Sprintf("paged out after step %d: %s", d.pages[n].after, d.pages[n].Why)
	case d.spares(i):
		return "its page-out was taken back"
	case p.out == 0:
		return "nothing is paged out yet: it would not pay"
	case i >= p.out:
		return "newer than the newest page-out"
	case d.seen[i].short(p.Small):
		return "too short to page out"
	}
	return p.stays[i]
}

// inSight says what of each observation is paged in.
func (d *desk) inSight() map[int][]Part {
	out := map[int][]Part{}
	for at := d.outAt - 1; at < len(d.seen); at++ {
		p, ok := d.tails[at]
		if !ok {
			continue
		}
		for i, c := range p.clips {
			o := d.seen[d.at[c.place]]
			last := max(c.From, c.To-1) // a clip ends with its line's end
			out[d.at[c.place]] = append(out[d.at[c.place]], Part{Seq: d.seen[at].Seq, FromLine: o.line(c.From), ToLine: o.line(last), Tokens: p.sizes[i]})
		}
	}
	return out
}
