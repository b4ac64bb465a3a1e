package controllers

import (
	"fmt"
	"slices"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

// Report is what was measured.
type Report struct {
	Version  string            `json:"measure_version"`
	Options  Options           `json:"options"`
	Manifest evidence.Manifest `json:"manifest"`
	// Questions that models were asked; of them Literal have a literal parent among the candidates, and of these Near have
	// one that is the newest candidate.
	Questions int `json:"questions"`
	Literal   int `json:"literal"`
	Near      int `json:"near"`
	// Edges are the newest holders of each specific word that any step uses: for how many rules have an edge.
	Edges     Share          `json:"rules_edges"`
	Rows      []Row          `json:"controllers"` // rules, baselines, models
	Agreement []Pair         `json:"agreement"`
	Windows   []Window       `json:"windows"`
	Evidence  []evidence.Row `json:"evidence"`

	records []record
}

// Row is how a controller did.
type Row struct {
	Name       string `json:"name"`
	Kind       Kind   `json:"kind"`
	Digest     string `json:"digest,omitempty"`
	Parameters string `json:"parameters,omitempty"`
	Size       int64  `json:"size,omitempty"`   // bytes on disk
	Memory     int64  `json:"memory,omitempty"` // bytes while it is loaded; 0: not known

	// Planted chains found by the first choice, and within three.
	Planted Share `json:"planted"`
	Third   Share `json:"planted_3"`
	// Of the questions with a literal parent: it is the first choice, among the first three, or there is no choice at all.
	Hit  Share `json:"hit_1"`
	Hit3 Share `json:"hit_3"`
	None Share `json:"none"`
	// Likewise where a literal parent is the newest candidate, and where none is.
	NearHit  Share `json:"near_hit_1"`
	NearHit3 Share `json:"near_hit_3"`
	FarHit   Share `json:"far_hit_1"`
	FarHit3  Share `json:"far_hit_3"`
	Wrong    int   `json:"invalid"` // answers of no use

	Millis float64 `json:"ms"`         // a question, the median
	In     float64 `json:"tokens_in"`  // a question, on average
	Out    float64 `json:"tokens_out"` // likewise
	// Hybrid is the tokens of a question as a share of those of a request of the agent under the working set, Unified
	// what they cost as a share of its cost, if the agent's own model were asked: read at the input price,
	// written at five times that.
	Hybrid  float64 `json:"hybrid"`
	Unified float64 `json:"unified"`

	Summaries *Summaries `json:"summaries,omitempty"`
	Gains     []Gain     `json:"gains,omitempty"`
	Plus      *Plus      `json:"window_plus,omitempty"`
}

// Gain is what contexts gain with a controller's edges, against rules alone: differences, paired by session.
type Gain struct {
	Policy string            `json:"policy"`
	Mode   string            `json:"mode"`  // trusted, or cascade: not trusted
	Asked  float64           `json:"asked"` // share of steps that got an edge of it
	Recall evidence.Interval `json:"recall"`
	Lines  evidence.Interval `json:"line_recall"`
	Prompt evidence.Interval `json:"prompt_ratio"`
	Cost   evidence.Interval `json:"cost_ratio"`
	// Hit is that of the first selected parent, on all steps with a literal one.
	Hit evidence.Interval `json:"hit_1"`
}

// Plus is the largest window whose prompt is no more above that of the smallest than a controller's own tokens a step.
type Plus struct {
	Window string  `json:"window"`
	Tokens float64 `json:"tokens"` // a step, that the controller takes
	Recall float64 `json:"recall"`
	Prompt float64 `json:"prompt_ratio"`
	// Gain is its recall without that of the smallest window.
	Gain evidence.Interval `json:"gain"`
}

// Window is one that was measured.
type Window struct {
	Policy string            `json:"policy"`
	Recall evidence.Interval `json:"recall"`
	Prompt evidence.Interval `json:"prompt_ratio"`
	Tokens float64           `json:"prompt"`
}

// outputPrice is that of a token that a model writes, to one that it reads, with most providers.
const outputPrice = 5

// Gain of a policy in a mode; the zero one if it was not measured.
func (r Row) Gain(policy, how string) Gain {
	for _, g := range r.Gains {
		if g.Policy == policy && g.Mode == how {
			return g
		}
	}
	return Gain{}
}

// report sums up.
func (r *run) report() (*Report, error) {
	out := &Report{Version: Version, Options: r.Options, records: r.records()}
	var edges []tally
	for i, qs := range r.questions {
		var t tally
		for _, q := range qs {
			t.merge(q.edges)
		}
		edges = append(edges, t)
		for _, k := range r.picked[i] {
			q := &r.questions[i][k]
			out.Questions++
			if len(q.parents) > 0 {
				out.Literal++
			}
			if q.near() {
				out.Near++
			}
		}
	}
	out.Edges = shareOf(edges, r.Seed)
	seen, err := r.evidence()
	if err != nil {
		return nil, err
	}
	group := seen.Groups[0]
	out.Evidence = group.Rows
	for _, row := range group.Rows {
		for _, n := range windows {
			if row.Policy == fmt.Sprintf("window:%d", n) {
				out.Windows = append(out.Windows, Window{row.Policy, row.Recall, row.PromptRatio, row.Prompt.Value})
			}
		}
	}
	for _, s := range r.speakers {
		out.Rows = append(out.Rows, r.row(s, group))
	}
	out.Agreement = r.agreement()
	out.Manifest = evidence.NewManifest(r.sessions, policies(), len(policies()), evidence.Options{First: r.First, Engine: r.Replay, Seed: r.Seed, Folds: r.Folds, Program: r.Program})
	return out, nil
}

// evidence sums up what was judged as the evidence benchmark does.
func (r *run) evidence() (*evidence.Report, error) {
	var names []string
	var results []evidence.Result
	for i := range r.sessions {
		for _, s := range r.speakers {
			for _, m := range []mode{alone, trusted, cascade} {
				if a := s.modes[m]; a != nil {
					for _, result := range a.results[i] {
						result.Session = i
						results = append(results, result)
						if i == 0 {
							names = append(names, result.Policy)
						}
					}
				}
			}
		}
	}
	return evidence.NewReport(r.sessions, names, len(names), results, evidence.InMoney(r.Replay.Prices), r.Seed)
}

// row sums up one controller.
func (r *run) row(s *speaker, group evidence.Group) Row {
	out := Row{Name: s.name, Kind: s.kind, Memory: s.memory, Summaries: s.sums}
	if s.model != nil {
		out.Digest, out.Parameters, out.Size = s.model.Says.Digest, s.model.Says.Parameters, s.model.Says.Size
	}
	out.Planted, out.Third = r.planted(s)
	r.hits(s, &out)
	r.spent(s, &out, evidenceRow(group, graded[0]))
	rules := r.speakers[0].modes[alone]
	for _, policy := range graded {
		for _, m := range []mode{trusted, cascade} {
			a := s.modes[m]
			if a == nil {
				continue
			}
			g := Gain{Policy: policy, Mode: string(m)}
			for _, d := range group.Differences {
				if d.A == variant(policy, s.name, m) && d.B == policy {
					g.Recall, g.Lines, g.Prompt, g.Cost = d.Recall, d.Lines, d.Prompt, d.Cost
				}
			}
			var asked tally
			var mine, theirs []tally
			for i := range r.sessions {
				asked.merge(a.asked[i])
				mine, theirs = append(mine, a.hits[i].First), append(theirs, rules.hits[i].First)
			}
			g.Asked, g.Hit = asked.share(), differenceOf(mine, theirs, r.Seed)
			out.Gains = append(out.Gains, g)
		}
	}
	if s.kind == ByModel {
		out.Plus = plus(out.In+out.Out, group)
	}
	return out
}

func evidenceRow(group evidence.Group, policy string) evidence.Row {
	i := slices.IndexFunc(group.Rows, func(r evidence.Row) bool { return r.Policy == policy })
	return group.Rows[i]
}

// plus finds the window that so many tokens a step pay for.
func plus(tokens float64, group evidence.Group) *Plus {
	least := evidenceRow(group, fmt.Sprintf("window:%d", windows[0]))
	best := least
	for _, n := range windows[1:] {
		if row := evidenceRow(group, fmt.Sprintf("window:%d", n)); row.Prompt.Value <= least.Prompt.Value+tokens {
			best = row
		}
	}
	out := &Plus{Window: best.Policy, Tokens: tokens, Recall: best.Recall.Value, Prompt: best.PromptRatio.Value}
	for _, d := range group.Differences {
		if d.A == best.Policy && d.B == least.Policy {
			out.Gain = d.Recall
		}
	}
	return out
}

func (r *run) planted(s *speaker) (first, third Share) {
	var one, three tally
	for i, c := range r.cases {
		wanted := func(id string) bool { return id == c.Want }
		one.add(s.planted[i].first(1, wanted))
		three.add(s.planted[i].first(most, wanted))
	}
	return found(one), found(three)
}

// hits counts how a controller did on the questions that models were asked.
func (r *run) hits(s *speaker, out *Row) {
	var all, near, far []hits
	var none []tally
	for i, picked := range r.picked {
		var a, n, f hits
		var empty tally
		for _, k := range picked {
			q, said := &r.questions[i][k], s.said[i][k]
			if said.Wrong != "" {
				out.Wrong++
			}
			a.add(q, said)
			if q.near() {
				n.add(q, said)
			} else {
				f.add(q, said)
			}
			if len(q.parents) > 0 {
				empty.add(len(said.Choices) == 0)
			}
		}
		all, near, far, none = append(all, a), append(near, n), append(far, f), append(none, empty)
	}
	out.Hit, out.Hit3 = r.shares(all)
	out.NearHit, out.NearHit3 = r.shares(near)
	out.FarHit, out.FarHit3 = r.shares(far)
	out.None = shareOf(none, r.Seed)
}

func (r *run) shares(sessions []hits) (first, third Share) {
	var one, three []tally
	for _, h := range sessions {
		one, three = append(one, h.First), append(three, h.Third)
	}
	return shareOf(one, r.Seed), shareOf(three, r.Seed)
}

// spent adds what the questions took. agent is what its requests take.
func (r *run) spent(s *speaker, out *Row, agent evidence.Row) {
	var took []float64
	for i, picked := range r.picked {
		for _, k := range picked {
			o := s.said[i][k].Origin
			took = append(took, float64(o.Took.Microseconds())/1000)
			out.In, out.Out = out.In+float64(o.In), out.Out+float64(o.Out)
		}
	}
	if len(took) == 0 || s.kind != ByModel {
		return
	}
	slices.Sort(took)
	n := float64(len(took))
	out.Millis, out.In, out.Out = took[len(took)/2], out.In/n, out.Out/n
	if agent.Prompt.Value > 0 {
		out.Hybrid = (out.In + out.Out) / agent.Prompt.Value
		out.Unified = (out.In + outputPrice*out.Out) / agent.Cost.Value
	}
}
