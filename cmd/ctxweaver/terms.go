package main

import (
	"fmt"
	"slices"
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
	f.StringVar(&t.prices, "prices", engine.PricePresets()[0].Name, "what workingset and paper-tail reckon with: one of the above")
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

// heeded are the policies that go by a flag, by the first word of their names. Those that are not here are for all.
var heeded = map[string][]string{
	"prices":   {"workingset", "paper-tail"},
	"strategy": {"workingset"},
	"weights":  {"workingset"},
}

// idle names the flags that were set and that none of the policies goes by.
func idle(f *pflag.FlagSet, policies []engine.Policy) []string {
	var names []string
	f.VisitAll(func(flag *pflag.Flag) {
		by, ok := heeded[flag.Name]
		if !ok || !flag.Changed {
			return
		}
		for _, p := range policies {
			if name, _, _ := strings.Cut(p.String(), ":"); slices.Contains(by, name) {
				return
			}
		}
		names = append(names, "--"+flag.Name)
	})
	return names
}

// tellIdle says in one line which flags change nothing.
func (a *app) tellIdle(f *pflag.FlagSet, policies ...engine.Policy) {
	names := idle(f, policies)
	if len(names) == 0 {
		return
	}
	verb := "changes"
	if len(names) > 1 {
		verb = "change"
	}
	var under []string
	for _, p := range policies {
		under = append(under, p.String())
	}
	a.complain(fmt.Sprintf("%s %s nothing under %s", strings.Join(names, " and "), verb, strings.Join(slices.Compact(under), " and ")))
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
