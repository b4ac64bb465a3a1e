package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Prices are what a request's tokens cost, as multiples of the input price.
type Prices struct {
	Name     string        `json:"name"`
	Read     float64       `json:"read"`     // of tokens that the provider has cached
	Write    float64       `json:"write"`    // of tokens that it has not
	Lifetime time.Duration `json:"lifetime"` // after which an idle cache is cold; 0: there is no cache
}

// prices are the presets; the first is the default. Where a provider promises no lifetime, it is what users mostly
// see: one that is too long misses page-outs that would be free, one that is too short pays for rewriting a warm cache.
var prices = []Prices{
	{"anthropic", 0.1, 1.25, 5 * time.Minute},
	{"anthropic-1h", 0.1, 2, time.Hour},
	{"openai", 0.1, 1.25, 30 * time.Minute},        // GPT-5.6 and later
	{"openai-free-write", 0.1, 1, 5 * time.Minute}, // GPT-5 to 5.5
	{"gemini", 0.1, 1, 5 * time.Minute},            // what it caches by itself
	{"deepseek", 0.1, 1, time.Hour},                // on disk, for hours
	{"local", 0.02, 1, 5 * time.Minute},            // what is cached need not be processed again, but is attended to
	{"half", 0.5, 1, 5 * time.Minute},              // GPT-4o and its kind
	{"uncached", 1, 1, 0},
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
