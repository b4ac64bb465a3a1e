package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// terms are what a context is to be woven under, as flags say it.
type terms struct {
	budget   int
	prices   string
	strategy string
	weights  string
}

func (t *terms) flags(f *pflag.FlagSet) {
	f.IntVar(&t.budget, "budget", 0, "most tokens of a context (0: no bound)")
	f.StringVar(&t.prices, "prices", engine.PricePresets()[0].Name, "what a working set reckons with: one of the above")
	f.StringVar(&t.strategy, "strategy", string(engine.Auto), "what a working set goes by: the graph (structural), nearness in time (recency), or what suits the session (auto)")
	f.StringVar(&t.weights, "weights", "", "file of weights for a working set (default: built-in)")
}

// settle checks the flags, puts them into a request, and reads the weights; nil are the built-in ones.
func (t terms) settle() (r engine.Request, w *compress.Weights, err error) {
	if t.budget < 0 {
		return r, nil, usage("--budget %d: want 0 (no bound) or more", t.budget)
	}
	r.Budget = t.budget
	if r.Prices, err = engine.ParsePrices(t.prices); err != nil {
		return r, nil, usage("--prices: %w", err)
	}
	if r.Strategy, err = engine.ParseStrategy(t.strategy); err != nil {
		return r, nil, usage("--strategy: %w", err)
	}
	if t.weights != "" {
		w, _, err = readWeights(t.weights)
	}
	return r, w, err
}

// helpOnPolicies lists what --policy and --prices take.
func helpOnPolicies() string {
	var b strings.Builder
	b.WriteString("The policies:\n  " + strings.Join(engine.Policies(), "\n  "))
	b.WriteString("\n\nThe prices, as multiples of the input price, by which a working set pages out when that pays:")
	for _, p := range engine.PricePresets() {
		fmt.Fprintf(&b, "\n  %-20s cached tokens %g, others %g", p.Name, p.Read, p.Write)
		if p.Lifetime > 0 {
			fmt.Fprintf(&b, "; an idle cache is cold after %g minutes", p.Lifetime.Minutes())
		}
	}
	return b.String()
}
