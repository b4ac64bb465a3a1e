package engine_test

import (
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
)

func TestPrices(t *testing.T) {
	for i, p := range engine.PricePresets() {
		if got, err := engine.ParsePrices(p.Name); err != nil || got != p {
			t.Errorf("%s reads back as %+v, %v", p.Name, got, err)
		}
		if p.Read <= 0 || p.Read > p.Write || p.Lifetime < 0 {
			t.Errorf("%+v: what is cached costs something, and no more than what is not", p)
		}
		if got, err := engine.ParsePrices(""); i == 0 && (err != nil || got != p) {
			t.Errorf("no name is %+v, %v; want the first preset", got, err)
		}
	}
	_, err := engine.ParsePrices("gold")
	for _, want := range []string{`"gold"`, "anthropic", "openai", "gemini", "deepseek", "local"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that names %s", err, want)
		}
	}
}
