package compress

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuiltInWeights(t *testing.T) {
	w, err := loadBuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if w.Date == "" || w.FittedOn == "" || w.Taken == 0 {
		t.Errorf("the weights do not say what they were fitted on: %+v", w)
	}
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), builtIn) {
		t.Error("weights.json is not as Write writes it")
	}
}

func TestWeightsRoundTrip(t *testing.T) {
	w := *BuiltIn()
	w.Date, w.FittedOn, w.Bias = "2026-01-02", `a "test" <of> é`, -1.25e-7
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines < len(w.Features) || lines > len(w.Features)+12 {
		t.Errorf("%d lines for %d features", lines, len(w.Features))
	}
	got, err := LoadWeights(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&w, got); diff != "" {
		t.Errorf("read otherwise than written (-want +got):\n%s", diff)
	}
}

func TestWeightsErrors(t *testing.T) {
	whole := string(builtIn)
	tests := []struct {
		name, text string
		says       []string
	}{
		{"nothing", "", []string{"EOF"}},
		{"two in one file", whole + whole, []string{"more follows"}},
		{"something behind them", whole + "x", []string{"more follows"}},
		{"no JSON", "weights", []string{"invalid character"}},
		{"another version", strings.Replace(whole, `"version": 2`, `"version": 7`, 1), []string{"version 7", "want 2"}},
		{"no version", "{}", []string{"version 0"}},
		{"a feature that is not known", strings.Replace(whole, `"age share"`, `"phase of the moon"`, 1), []string{`unknown: ["phase of the moon"]`, `missing: ["age share"]`}},
		{"no features", `{"version": 2, "features": []}`, []string{"missing", `"age"`, `"used"`}},
		{"one twice", strings.Replace(whole, `"age share"`, `"age to 5"`, 1), []string{`twice: ["age to 5"]`}},
		{"a number that is none", strings.Replace(whole, `"mean":`, `"mean":1e99,"was":`, 1), []string{"1e99"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, err := LoadWeights(strings.NewReader(test.text))
			if !errors.Is(err, ErrWeights) || w != nil {
				t.Fatalf("got %v, %v; want no weights and ErrWeights", w != nil, err)
			}
			for _, s := range test.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
	w := *BuiltIn()
	w.Bias = float32(math.NaN())
	if err := w.Write(&bytes.Buffer{}); !errors.Is(err, ErrWeights) {
		t.Errorf("wrote a bias that is no number: %v", err)
	}
}

func FuzzLoadWeights(f *testing.F) {
	f.Add([]byte(`{"version": 2, "features": [{"name": "age"}]}`))
	f.Add(builtIn)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := LoadWeights(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := w.Write(&bytes.Buffer{}); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
	})
}
