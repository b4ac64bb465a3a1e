package evidence

import (
	"errors"
	"maps"
	"slices"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Baseline is the policy that ratios and classes of length refer to; every Report has it.
const Baseline = "full"

// Report sums up results over groups of sessions.
type Report struct {
	Manifest Manifest `json:"manifest"`
	Prices   Prices   `json:"prices"`
	Groups   []Group  `json:"groups"`
}

// Group is a set of sessions: all, those of one format, or those of one class of length.
type Group struct {
	Kind     string `json:"kind"` // "all", "length" or "format"
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
	Rows     []Row  `json:"policies"` // the naive ones last
	// Differences are those of each two tested policies but the Baseline, for which ratios speak, and of each Variant
	// and its whole.
	Differences []Difference `json:"differences,omitempty"`
	Frontier    []Rival      `json:"frontier,omitempty"`
}

// Row is how a policy did on a group.
type Row struct {
	Policy      string     `json:"policy"`
	Naive       bool       `json:"naive,omitempty"` // it is here only for the frontier
	Score       Score      `json:"sum"`
	Recall      Interval   `json:"recall"`
	Lines       Interval   `json:"line_recall"`
	Served      Interval   `json:"served"`
	Prompt      Interval   `json:"prompt"`       // tokens of a request
	Uncached    Interval   `json:"uncached"`     // of those, outside the cached prefix
	Cost        Interval   `json:"cost"`         // of a request, in tokens at the input price; see Relative
	Money       []Money    `json:"money"`        // at each preset
	PromptRatio Interval   `json:"prompt_ratio"` // to the Baseline
	CostRatio   Interval   `json:"cost_ratio"`   // to the Baseline
	MoneyRatio  Interval   `json:"money_ratio"`  // to the Baseline, at the Report's prices
	Rereads     float64    `json:"rereads"`      // estimate, by 100 requests
	Millis      float64    `json:"ms_a_step"`    // to keep a step and weave a context
	Stability   *Stability `json:"stability,omitempty"`
}

// Money is what a thousand requests cost at one of engine.PricePresets.
type Money struct {
	Prices string  `json:"prices"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
}

// Difference is the paired one of two policies: A's figure without B's.
type Difference struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	Recall Interval `json:"recall"`
	Lines  Interval `json:"line_recall"`
	Prompt Interval `json:"prompt_ratio"`
	Cost   Interval `json:"cost_ratio"`
}

// Rival is the naive policy of best recall that costs no more prompt and no more money than Policy, if there
// is one, and the lead of Policy over it.
type Rival struct {
	Policy string   `json:"policy"`
	Naive  string   `json:"naive,omitempty"`
	Recall float64  `json:"naive_recall"`
	Lead   Interval `json:"lead"`
}

// Classes of length, by the largest prompt of the Baseline in a session, in tokens.
const (
	shortSession = 40000
	longSession  = 90000
)

func class(largest int) string {
	switch {
	case largest < shortSession:
		return "under 40k"
	case largest < longSession:
		return "40k to 90k"
	}
	return "90k and more"
}

// classes are in the order of length.
var classes = []string{class(0), class(shortSession), class(longSession)}

// NewReport sums up the results of policies, in Run's order. Policies after the first tested are the naive
// grid. The seed makes the intervals the same in every run. It notes each session's Length.
func NewReport(sessions []Session, policies []string, tested int, results []Result, prices Prices, seed uint64) (*Report, error) {
	base := slices.Index(policies, Baseline)
	if base < 0 {
		return nil, errors.New("a report needs the policy " + Baseline + ", which the others are compared with")
	}
	s := summary{policies: policies, tested: tested, base: base, prices: prices, seed: seed}
	grid := Naive()
	for i, p := range policies {
		s.naive = append(s.naive, i >= tested || slices.Contains(grid, p))
	}
	for i := range sessions {
		s.results = append(s.results, results[i*len(policies):(i+1)*len(policies)])
	}
	r := &Report{Prices: prices}
	all := map[string][]int{}
	for i := range sessions {
		sessions[i].Length = s.class(i)
		for _, g := range []string{"all", "length " + sessions[i].Length, "format " + sessions[i].Format} {
			all[g] = append(all[g], i)
		}
	}
	r.Groups = append(r.Groups, s.group("all", "all sessions", all["all"]))
	for _, c := range classes {
		if members := all["length "+c]; len(members) > 0 {
			r.Groups = append(r.Groups, s.group("length", c, members))
		}
	}
	formats := map[string]bool{}
	for _, session := range sessions {
		formats[session.Format] = true
	}
	for _, f := range slices.Sorted(maps.Keys(formats)) {
		r.Groups = append(r.Groups, s.group("format", f, all["format "+f]))
	}
	return r, nil
}

// summary is a report being made.
type summary struct {
	policies []string
	tested   int
	base     int
	prices   Prices
	seed     uint64
	results  [][]Result // by session and policy
	naive    []bool     // by policy: of the naive grid, whether it is tested itself or not
}

func (s summary) class(session int) string {
	largest := 0
	for _, r := range s.results[session][s.base].Requests {
		largest = max(largest, r.Prompt)
	}
	return class(largest)
}

func (s summary) group(kind, name string, members []int) Group {
	g := Group{Kind: kind, Name: name, Sessions: len(members)}
	var scores [][]Score
	for _, i := range members {
		var row []Score
		for _, r := range s.results[i] {
			row = append(row, r.Score)
		}
		scores = append(scores, row)
	}
	drawn := resample(scores, s.seed, kind+" "+name)
	for p := range s.policies {
		g.Rows = append(g.Rows, s.row(drawn, p, members))
	}
	for a := range s.tested {
		for b := range a {
			if a != s.base && b != s.base && compared(s.policies[a], s.policies[b]) {
				g.Differences = append(g.Differences, s.difference(drawn, a, b))
			}
		}
	}
	if s.tested < len(s.policies) {
		for p := range s.tested {
			if p != s.base {
				g.Frontier = append(g.Frontier, s.rival(drawn, p))
			}
		}
	}
	return g
}

func (s summary) row(drawn sample, p int, members []int) Row {
	of := func(all func(Score) int, figure func(Score) float64) Interval {
		return drawn.interval(all, func(scores []Score) float64 { return figure(scores[p]) })
	}
	to := func(figure func(Score) float64) Interval {
		return drawn.interval(requests, func(scores []Score) float64 { return share(figure(scores[p]), figure(scores[s.base])) })
	}
	total := drawn.totals[p]
	r := Row{
		Policy: s.policies[p], Naive: p >= s.tested, Score: total,
		Recall: of(references, Score.Recall), Lines: of(lineReferences, Score.LineRecall), Served: of(steps, Score.ServedShare),
		Prompt: of(requests, Score.MeanPrompt), Uncached: of(requests, Score.MeanUncached), Cost: of(requests, Score.Cost),
		PromptRatio: to(Score.MeanPrompt), CostRatio: to(Score.Cost), MoneyRatio: to(s.money),
		Rereads: 100 * ratio(total.Rereads, total.Requests), Millis: 1000 * total.Seconds / float64(max(1, total.Requests+total.Unfit)),
	}
	for _, ratios := range engine.PricePresets() {
		prices := InMoney(ratios)
		r.Money = append(r.Money, Money{prices.Name, prices.Unit, total.Money(prices)})
	}
	for _, i := range members {
		if one := s.results[i][p].Stability; one != nil {
			if r.Stability == nil {
				r.Stability = &Stability{}
			}
			r.Stability.merge(*one)
		}
	}
	return r
}

// What figures are shares or means of.
func requests(s Score) int       { return s.Requests }
func references(s Score) int     { return s.References }
func lineReferences(s Score) int { return s.Lines }
func steps(s Score) int          { return s.Steps }

func (s summary) money(score Score) float64 { return score.Money(s.prices) }

func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (s summary) difference(drawn sample, a, b int) Difference {
	of := func(all func(Score) int, figure func(x, full Score) float64) Interval {
		return drawn.interval(all, func(scores []Score) float64 {
			return figure(scores[a], scores[s.base]) - figure(scores[b], scores[s.base])
		})
	}
	return Difference{
		A: s.policies[a], B: s.policies[b],
		Recall: of(references, func(x, _ Score) float64 { return x.Recall() }),
		Lines:  of(lineReferences, func(x, _ Score) float64 { return x.LineRecall() }),
		Prompt: of(requests, func(x, full Score) float64 { return share(x.MeanPrompt(), full.MeanPrompt()) }),
		Cost:   of(requests, func(x, full Score) float64 { return share(x.Cost(), full.Cost()) }),
	}
}

// rival finds the best of the naive grid that a policy has to beat.
func (s summary) rival(drawn sample, p int) Rival {
	own := drawn.totals[p]
	out := Rival{Policy: s.policies[p]}
	best := -1
	for n, score := range drawn.totals {
		if n == p || !s.naive[n] || score.MeanPrompt() > own.MeanPrompt() || s.money(score) > s.money(own) {
			continue
		}
		if best < 0 || score.Recall() > drawn.totals[best].Recall() {
			best = n
		}
	}
	if best < 0 {
		return out
	}
	out.Naive, out.Recall = s.policies[best], drawn.totals[best].Recall()
	out.Lead = drawn.interval(references, func(scores []Score) float64 { return scores[p].Recall() - scores[best].Recall() })
	return out
}
