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
