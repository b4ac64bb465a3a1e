package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/benchmarks/fit"
	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// mode is how what a controller says becomes part of the graph.
type mode string

const (
	alone   mode = ""        // rules alone
	trusted mode = "trusted" // asked about every step, its choices selected like what rules found
	cascade mode = "cascade" // asked by a Cascade for what rules leave open, and not trusted: the gate is off
)

// graded are the policies that live on the graph.
var graded = []string{"workingset", "paper-tail:3/5"}

// windows are what tokens could have bought instead of a controller.
var windows = []int{5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30, 40}

// policies are what rules are measured under: the baseline of ratios, the graded, the windows.
func policies() []string {
	out := append([]string{evidence.Baseline}, graded...)
	for _, n := range windows {
		out = append(out, fmt.Sprintf("window:%d", n))
	}
	return out
}

// adoption is what became of a controller's answers in one mode, by session.
type adoption struct {
	results [][]evidence.Result // by policy
	hits    []hits
	asked   []tally // of the steps, how many have an answer of the controller
}

// pass is what one pass over a session gave.
type pass struct {
	Results []evidence.Result
	Hits    hits
	Asked   tally
}

// hits count the first selected parent, and the first three, against the literal parents.
type hits struct{ First, Third tally }

func (h *hits) add(q *question, chosen answer) {
	if len(q.parents) == 0 {
		return
	}
	wanted := func(id string) bool { return slices.Contains(q.parents, id) }
	h.First.add(chosen.first(1, wanted))
	h.Third.add(chosen.first(most, wanted))
}

// weights are those of each fold, fitted on the sessions of all others. It notes each session's fold.
func (r *run) weights(ctx context.Context, all []evidence.Session) ([]*compress.Weights, error) {
	if r.Folds < 2 {
		return []*compress.Weights{r.Replay.Weights}, nil
	}
	var out []*compress.Weights
	var set *fit.Set // nil until it is needed
	for _, train := range evidence.Folds(all, r.Folds) {
		key := []any{"weights", r.Program}
		for _, s := range train {
			key = append(key, s.Hash)
		}
		var kept []byte
		if r.cache.get(key, &kept) {
			if w, err := compress.LoadWeights(bytes.NewReader(kept)); err == nil {
				out = append(out, w)
				continue
			}
		}
		if set == nil {
			r.Part("fit", len(all))
			var err error
			if set, err = fit.Collect(ctx, all, r.Done); err != nil {
				return nil, err
			}
		}
		w, err := set.Weights(train, "", compress.FitOptions{})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := w.Write(&b); err != nil {
			return nil, err
		}
		if err := r.cache.put(key, b.Bytes()); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// adopt replays the drawn sessions with what each controller said, and judges the contexts.
func (r *run) adopt(ctx context.Context, weights []*compress.Weights) error {
	type task struct {
		speaker *speaker
		mode    mode
	}
	tasks := []task{{r.speakers[0], alone}}
	for _, s := range r.speakers[1:] {
		tasks = append(tasks, task{s, trusted}, task{s, cascade})
	}
	for _, t := range tasks {
		n := len(r.sessions)
		t.speaker.modes[t.mode] = &adoption{make([][]evidence.Result, n), make([]hits, n), make([]tally, n)}
	}
	r.Part("replay", len(r.sessions)*len(tasks))
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, session := range r.sessions {
		group.Go(func() error {
			p := player{run: r, at: i, session: session, weights: weights[session.Fold%len(weights)]}
			for _, t := range tasks {
				if err := p.play(working, t.speaker, t.mode); err != nil {
					return fmt.Errorf("%s: %s: %w", session.Name, t.speaker.name, err)
				}
				r.Done()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return nil
}

// player replays one session.
type player struct {
	*run
	at      int
	session evidence.Session
	weights *compress.Weights
	judge   *evidence.Judge // nil until it is needed
}

// play measures one controller in one mode, or takes from the cache what was measured before.
func (p *player) play(ctx context.Context, s *speaker, m mode) error {
	b := &book{s.name, map[string]answer{}}
	var said []any
	for k, q := range p.questions[p.at] {
		if s.heard[p.at][k] && m != alone {
			b.said[q.ask.Turn.ID] = s.said[p.at][k]
			said = append(said, []any{k, s.said[p.at][k].Choices})
		}
	}
	var fitted bytes.Buffer
	if p.weights != nil {
		if err := p.weights.Write(&fitted); err != nil {
			return err
		}
	}
	var out pass
	key := []any{"replay", Version, p.Program, p.session.Hash, p.First, fmt.Sprintf("%+v", p.Replay.Prices), fitted.String(), s.name, m, said}
	if !p.cache.get(key, &out) {
		var err error
		if out, err = p.replay(ctx, b, m); err != nil {
			return err
		}
		if err := p.cache.put(key, out); err != nil {
			return err
		}
	}
	a := s.modes[m]
	a.results[p.at], a.hits[p.at], a.asked[p.at] = out.Results, out.Hits, out.Asked
	return nil
}

// replay weaves all policies in one pass.
func (p *player) replay(ctx context.Context, b *book, m mode) (pass, error) {
	if p.judge == nil {
		p.judge = evidence.NewJudge(p.session.Steps)
	}
	names := graded
	o := p.Replay
	o.First, o.Weights = p.First, p.weights
	switch m {
	case alone:
		names = policies()
	case trusted:
		o.Selector, o.Trust = b, true
	case cascade:
		o.Selector = &controller.Cascade{Chooser: b}
	}
	var out pass
	bySeq := map[int]*question{}
	for i := range p.questions[p.at] {
		q := &p.questions[p.at][i]
		bySeq[q.seq] = q
	}
	o.Each = func(n engine.Node) {
		if q := bySeq[n.Seq]; q != nil {
			out.Hits.add(q, selected(n))
			out.Asked.add(hasOpinion(n))
		}
	}
	trials := map[engine.Policy]*evidence.Trial{}
	at := map[engine.Policy]int{}
	var ps []engine.Policy
	for i, name := range names {
		policy, err := engine.ParsePolicy(name)
		if err != nil {
			return pass{}, err
		}
		ps = append(ps, policy)
		at[policy], trials[policy] = i, p.judge.Trial()
		out.Results = append(out.Results, evidence.Result{Policy: variant(name, b.name, m)})
	}
	err := engine.ReplayEach(ctx, p.session.Steps, ps, o, func(call int, w *engine.Window) error {
		r := trials[w.Policy].AddWindow(call, w)
		r.Missing = nil
		result := &out.Results[at[w.Policy]]
		result.Score.Add(r)
		if result.Policy == evidence.Baseline { // its prompts tell how long the session is
			result.Requests = append(result.Requests, r)
		}
		return ctx.Err()
	})
	return out, err
}

// variant names a policy with a controller's edges, as evidence names variants: it is compared with its whole.
func variant(policy, name string, m mode) string {
	if m == alone {
		return policy
	}
	return strings.Join([]string{policy, name, string(m)}, " ")
}

// selected are a node's parents that may be walked, the best first.
func selected(n engine.Node) answer {
	var a answer
	for _, p := range n.Selected(0) {
		a.Choices = append(a.Choices, controller.Choice{ID: string(p.ID)})
	}
	return a
}

func hasOpinion(n engine.Node) bool {
	return slices.ContainsFunc(n.Parents, func(p graphstore.Parent) bool { return p.Kind == graphstore.Model })
}
