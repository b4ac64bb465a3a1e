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
	budget  int
	prices  string
	weights string
}

func (t *terms) flags(f *pflag.FlagSet) {
	f.IntVar(&t.budget, "budget", 0, "most tokens of a context (0: no bound)")
	f.StringVar(&t.prices, "prices", engine.PricePresets()[0].Name, "what a working set reckons with: one of the above")
	f.StringVar(&t.weights, "weights", "", "file of weights for a working set (default: built-in)")
}

// settle checks the flags, and reads the weights; nil are the built-in ones.
func (t terms) settle() (engine.Prices, *compress.Weights, error) {
	if t.budget < 0 {
		return engine.Prices{}, nil, usage("--budget %d: want 0 (no bound) or more", t.budget)
	}
	p, err := engine.ParsePrices(t.prices)
	if err != nil {
		return engine.Prices{}, nil, usage("--prices: %w", err)
	}
	if t.weights == "" {
		return p, nil, nil
	}
	w, err := readWeights(t.weights)
	return p, w, err
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
