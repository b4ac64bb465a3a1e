package evidence

import "github.com/ctxweaver/ctxweaver/engine"

// Prices are what an upstream takes for a million prompt tokens. A cached token costs Read. What is new
// costs Write: every request of an agent is the beginning of its next.
type Prices struct {
	Name  string  `json:"name"` // as engine.ParsePrices reads it
	Unit  string  `json:"unit"`
	Input float64 `json:"input"` // of a token that no cache is asked to keep
	Read  float64 `json:"cached_read"`
	Write float64 `json:"cache_write"`
}

// Units of prices: where no list has them in money, they are reckoned in tokens at the input price.
const (
	dollars = "$"
	tokens  = "M input tokens"
)

// listed are the list prices, in dollars, of a million input tokens of common models of late 2025: Claude Sonnet,
// GPT-5, Gemini Pro, DeepSeek. They show how a policy's worth depends on the provider; they are nobody's bill.
var listed = map[string]float64{
	"anthropic": 3, "anthropic-1h": 3, "openai": 1.25, "openai-free-write": 1.25, "gemini": 1.25, "deepseek": 0.28,
}

// InMoney gives the engine's prices, which are ratios, in money, as far as a list has them.
func InMoney(p engine.Prices) Prices {
	input, unit := listed[p.Name], dollars
	if input == 0 {
		input, unit = 1, tokens
	}
	return Prices{Name: p.Name, Unit: unit, Input: input, Read: input * p.Read, Write: input * p.Write}
}

// Relative are the prices that Cost is reckoned at: in units of the input price.
var Relative = Prices{Name: "relative", Unit: "tokens", Input: 1, Read: 0.1, Write: 1.25}
