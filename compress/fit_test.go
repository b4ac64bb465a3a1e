package compress

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// separable are examples of which something was taken just where the feature is 1.
func separable(feature int) []Example {
	random := rand.New(rand.NewPCG(5, 0))
	var out []Example
	for i := range 500 {
		e := Example{Features: make([]float32, len(FeatureNames()))}
		for k := range e.Features {
			e.Features[k] = float32(random.NormFloat64())
		}
		e.Features[feature] = float32(i % 2)
		e.Taken = float64(i % 2)
		out = append(out, e)
	}
	return out
}

func TestFit(t *testing.T) {
	const told = 17
	examples := separable(told)
	before := slices.Clone(examples)
	w, err := Fit(examples, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, examples); diff != "" {
		t.Error("the examples were changed")
	}
	for i, f := range w.Features {
		if i != told && math.Abs(float64(f.Weight)) > float64(w.Features[told].Weight)/4 {
			t.Errorf("%q, which tells nothing, weighs %v; %q weighs %v", f.Name, f.Weight, w.Features[told].Name, w.Features[told].Weight)
		}
	}
	for i, e := range examples[:50] {
		odds := w.Bias
		for k, f := range w.Features {
			odds += f.Weight * deviation(e.Features[k], f.Mean, f.Scale)
		}
		if p := sigmoid(odds); (p > 0.5) != (e.Taken > 0) {
			t.Errorf("example %d, of which %v was taken, has %v", i, e.Taken, p)
		}
	}
	again, err := Fit(examples, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, again); diff != "" {
		t.Errorf("the second time it learns something else:\n%s", diff)
	}
}

func TestFitWithout(t *testing.T) {
	const told = 17
	w, err := Fit(separable(told), FitOptions{Without: func(name string) bool { return name == FeatureNames()[told] }})
	if err != nil {
		t.Fatal(err)
	}
	if f := w.Features[told]; f.Weight != 0 || f.Scale != 0 {
		t.Errorf("what is left out weighs: %+v", f)
	}
}

// TestFitIsCalibrated proves that the weight of examples makes up for those that were left out.
func TestFitIsCalibrated(t *testing.T) {
	examples := separable(0)
	for i := range examples {
		examples[i].Features = make([]float32, len(FeatureNames()))
		if examples[i].Taken == 0 {
			examples[i].Weight = 9
		}
	}
	w, err := Fit(examples, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := sigmoid(w.Bias); math.Abs(p-0.1) > 0.02 {
		t.Errorf("one in ten is told as %v", p)
	}
}

func TestFitErrors(t *testing.T) {
	good := separable(0)[:2]
	short := Example{Features: []float32{1}}
	wild := Example{Features: good[0].Features, Taken: math.Inf(1)}
	tests := []struct {
		name     string
		examples []Example
		want     error
	}{
		{"no examples", nil, ErrExamples},
		{"nothing was ever taken", good[:1], ErrExamples},
		{"something was always taken", good[1:], ErrExamples},
		{"too few features", append(slices.Clone(good), short), nil},
		{"no number", append(slices.Clone(good), wild), nil},
	}
	for _, test := range tests {
		if w, err := Fit(test.examples, FitOptions{}); err == nil || w != nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: weights %v, error %v, want %v", test.name, w != nil, err, test.want)
		}
	}
}
