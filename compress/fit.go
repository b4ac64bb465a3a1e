package compress

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Example is a run at one moment, and what the next calls then took from it.
type Example struct {
	Features []float32 // from Ranker.Features
	Taken    float64   // how much; 0: nothing
	Weight   float64   // of an example of which nothing was taken: how many it stands for. 0 is 1
}

// FitOptions say how to fit. The zero value is what the built-in weights were fitted with.
type FitOptions struct {
	Seed    uint64
	Rounds  int               // through all examples; 0 is 8, or more where examples are few
	Penalty float64           // on the squares of weights; 0 is 0.001
	Without func(string) bool // features, by name, that are to weigh nothing; nil: none
}

// ErrExamples is what Fit returns where there is nothing to learn from.
var ErrExamples = errors.New("nothing to learn from")

// Fit learns weights from examples by logistic regression: an example of which something was taken counts as so many.
// It does the same at every time for the same examples in the same order. Date and FittedOn are left to the caller.
func Fit(examples []Example, o FitOptions) (*Weights, error) {
	if o.Rounds == 0 {
		const least, most, batches = 8, 200, 7000
		o.Rounds = min(most, max(least, batches*batch/max(1, len(examples))))
	}
	if o.Penalty == 0 {
		o.Penalty = 1e-3
	}
	f := fit{examples: slices.Clone(examples), options: o, names: FeatureNames()}
	if err := f.check(); err != nil {
		return nil, err
	}
	f.standardize()
	f.spread()
	f.learn()
	w := &Weights{Version: WeightsVersion, Rows: len(examples), Taken: f.taken, Bias: f.bias}
	for i, name := range f.names {
		w.Features = append(w.Features, Feature{name, f.weights[i], f.mean[i], f.scale[i]})
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	return w, nil
}

// fit is the state of Fit.
type fit struct {
	examples    []Example
	options     FitOptions
	names       []string
	taken       int     // examples of which something was
	some, none  float64 // how much was taken, and the weight of those of which nothing was
	all         float64 // weight of all
	mean, scale []float32
	deviations  []float32 // of all features of the first example, and so on
	weights     []float32
	bias        float32
}

func (f *fit) check() error {
	for i := range f.examples {
		e := &f.examples[i]
		if len(e.Features) != len(f.names) {
			return fmt.Errorf("example %d has %d features, want %d", i, len(e.Features), len(f.names))
		}
		if e.Taken < 0 || e.Weight < 0 || math.IsNaN(e.Taken+e.Weight) || math.IsInf(e.Taken+e.Weight, 0) {
			return fmt.Errorf("example %d: taken %v and weight %v, want finite numbers from 0", i, e.Taken, e.Weight)
		}
		if e.Weight == 0 || e.Taken > 0 {
			e.Weight = 1
		}
		f.all += e.Weight
		if e.Taken > 0 {
			f.taken++
			f.some += e.Taken
		} else {
			f.none += e.Weight
		}
	}
	if f.some == 0 || f.none == 0 {
		return fmt.Errorf("%w: %d examples, of %d something was taken", ErrExamples, len(f.examples), f.taken)
	}
	return nil
}

// standardize finds what makes each feature 0 on average, and 1 one deviation off.
func (f *fit) standardize() {
	n := len(f.names)
	sums, squares := make([]float64, n), make([]float64, n)
	for _, e := range f.examples {
		for i, x := range e.Features {
			sums[i] += e.Weight * float64(x)
			squares[i] += e.Weight * float64(x) * float64(x)
		}
	}
	f.mean, f.scale = make([]float32, n), make([]float32, n)
	for i, name := range f.names {
		mean := sums[i] / f.all
		f.mean[i] = float32(mean)
		if f.options.Without == nil || !f.options.Without(name) {
			const least = 1e-3 // so that a feature that hardly varies does not jump
			f.scale[i] = float32(1 / (math.Sqrt(max(0, squares[i]/f.all-mean*mean)) + least))
		}
	}
}

// spread works out the deviations, which every round needs.
func (f *fit) spread() {
	f.deviations = make([]float32, 0, len(f.examples)*len(f.names))
	for _, e := range f.examples {
		for i, x := range e.Features {
			f.deviations = append(f.deviations, deviation(x, f.mean[i], f.scale[i]))
		}
	}
}

// batch is how many examples each step of learning looks at.
const batch = 256

// learn goes down the slope of the loss, by Adam, with steps that end at 0.
func (f *fit) learn() {
	const rate = 0.01
	random := rand.New(rand.NewPCG(f.options.Seed, 0))
	f.weights = make([]float32, len(f.names))
	f.bias = float32(math.Log(f.some / (f.none + f.some)))
	slope := make([]float32, len(f.names)+1) // the last is the bias's
	down := newAdam(len(slope))
	steps := f.options.Rounds * ((len(f.examples) + batch - 1) / batch)
	step := 0
	order := make([]int, len(f.examples))
	for i := range order {
		order[i] = i
	}
	for range f.options.Rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for some := range slices.Chunk(order, batch) {
			f.slope(some, slope)
			step++
			down.next(rate * (1 + math.Cos(math.Pi*float64(step)/float64(steps))) / 2)
			for i := range f.weights {
				f.weights[i] -= down.by(i, slope[i]+float32(f.options.Penalty)*f.weights[i])
			}
			f.bias -= down.by(len(f.weights), slope[len(f.weights)])
		}
	}
}

// slope is how the loss of some examples changes with the weights, and with the bias.
func (f *fit) slope(examples []int, slope []float32) {
	clear(slope)
	even := float32(float64(len(f.examples)) / f.all / float64(len(examples)))
	for _, n := range examples {
		e := &f.examples[n]
		x := f.deviations[n*len(f.weights) : (n+1)*len(f.weights)]
		odds := f.bias
		for i, v := range x {
			odds += f.weights[i] * v
		}
		p := float32(sigmoid(odds))
		by := float32(e.Weight) * p
		if e.Taken > 0 {
			by = float32(e.Taken) * (p - 1)
		}
		by *= even
		for i, v := range x {
			slope[i] += by * v
		}
		slope[len(x)] += by
	}
}

// adam keeps running means of slopes and of their squares (Kingma and Ba, 2015).
type adam struct {
	means, squares     []float32
	rate               float32
	early, earlySquare float64 // how much of the means is still what they began with: 0
}

func newAdam(n int) *adam {
	return &adam{means: make([]float32, n), squares: make([]float32, n), early: 1, earlySquare: 1}
}

const keepMean, keepSquare = 0.9, 0.999

// next begins a step of that rate.
func (a *adam) next(rate float64) {
	a.early *= keepMean
	a.earlySquare *= keepSquare
	a.rate = float32(rate / (1 - a.early))
}

// by is how far to go down a slope.
func (a *adam) by(i int, slope float32) float32 {
	a.means[i] = keepMean*a.means[i] + (1-keepMean)*slope
	a.squares[i] = keepSquare*a.squares[i] + (1-keepSquare)*slope*slope
	return a.rate * a.means[i] / (float32(math.Sqrt(float64(a.squares[i])/(1-a.earlySquare))) + 1e-8)
}
