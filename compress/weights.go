package compress

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
)

// WeightsVersion is the version of the features and of how they are weighed.
const WeightsVersion = 2

// Weights are what a Ranker has learned: a run's log-odds are Bias and the sum over its features of
// Weight × (value − Mean) × Scale, where no feature counts for more than 6 deviations.
type Weights struct {
	Version  int       `json:"version"`
	Date     string    `json:"date"`      // of the fit, as 2006-01-02
	FittedOn string    `json:"fitted_on"` // in words
	Rows     int       `json:"rows"`      // examples
	Taken    int       `json:"taken"`     // examples of which something was taken
	Bias     float32   `json:"bias"`
	Features []Feature `json:"features"` // in the order of FeatureNames
}

// Feature is how much one feature weighs.
type Feature struct {
	Name   string  `json:"name"`
	Weight float32 `json:"weight"`
	Mean   float32 `json:"mean"`
	Scale  float32 `json:"scale"`
}

// mostDeviations keeps one feature from deciding alone.
const mostDeviations = 6

//go:embed weights.json
var builtIn []byte

var loadBuiltIn = sync.OnceValues(func() (*Weights, error) { return LoadWeights(bytes.NewReader(builtIn)) })

// BuiltIn are the weights that come with this package. They are not to be changed.
func BuiltIn() *Weights {
	w, _ := loadBuiltIn() // a test proves that they load
	return w
}

// ErrWeights is what LoadWeights returns for what is not weights of this version and these features.
var ErrWeights = errors.New("not weights for this version")

// LoadWeights reads weights that Write wrote. Every feature must be there, in any order, and no other; the error,
// an ErrWeights, names those at fault.
func LoadWeights(r io.Reader) (*Weights, error) {
	var w Weights
	d := json.NewDecoder(r)
	if err := d.Decode(&w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWeights, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: more follows after the weights", ErrWeights)
	}
	if w.Version != WeightsVersion {
		return nil, fmt.Errorf("%w: version %d, want %d: fit them again", ErrWeights, w.Version, WeightsVersion)
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	names := FeatureNames()
	slices.SortFunc(w.Features, func(a, b Feature) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	return &w, nil
}

func (w *Weights) check() error {
	wanted := FeatureNames()
	have := map[string]bool{}
	var twice, unknown, missing, wild []string
	for _, f := range w.Features {
		if have[f.Name] {
			twice = append(twice, f.Name)
		}
		have[f.Name] = true
		if !slices.Contains(wanted, f.Name) {
			unknown = append(unknown, f.Name)
		}
		if !finite(f.Weight) || !finite(f.Mean) || !finite(f.Scale) {
			wild = append(wild, f.Name)
		}
	}
	for _, name := range wanted {
		if !have[name] {
			missing = append(missing, name)
		}
	}
	if !finite(w.Bias) {
		wild = append(wild, "bias")
	}
	var faults []string
	for _, f := range []struct {
		what  string
		names []string
	}{{"missing", missing}, {"unknown", unknown}, {"twice", twice}, {"not a finite number", wild}} {
		if len(f.names) > 0 {
			faults = append(faults, fmt.Sprintf("%s: %q", f.what, f.names))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: features %s", ErrWeights, strings.Join(faults, "; "))
	}
	return nil
}

// Score says how likely something is taken from a run with these features, from Ranker.Features, as Ranker.Scores does.
func (w *Weights) Score(features []float32) float64 {
	odds := w.Bias
	for i, f := range w.Features {
		odds += f.Weight * deviation(features[i], f.Mean, f.Scale)
	}
	return sigmoid(odds)
}

func finite(x float32) bool { return math.Abs(float64(x)) <= math.MaxFloat32 }

// Write writes the weights as JSON, a feature a line.
func (w *Weights) Write(out io.Writer) error {
	if err := w.check(); err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	head := *w
	head.Features = []Feature{}
	e.SetIndent("", "  ")
	if err := e.Encode(head); err != nil {
		return err
	}
	b.Truncate(bytes.LastIndexByte(b.Bytes(), ']'))
	e.SetIndent("", "")
	for i, f := range w.Features {
		if i > 0 {
			b.Truncate(b.Len() - 1)
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	b.WriteString("  ]\n}\n")
	_, err := out.Write(b.Bytes())
	return err
}

// model is Weights as they are used.
type model struct {
	bias                      float32
	session, call, fixed, run terms
}

func newModel(w *Weights) model {
	by := map[string]Feature{}
	for _, f := range w.Features {
		by[f.Name] = f
	}
	var m [len(levels)]terms
	for i, level := range levels {
		for _, f := range level {
			x := by[f.name]
			m[i] = append(m[i], term{f.value, x.Weight, x.Mean, x.Scale})
		}
	}
	return model{w.Bias, m[0], m[1], m[2], m[3]}
}

type terms []term

// term is a feature with what it weighs.
type term struct {
	value               func(*view) float32
	weight, mean, scale float32
}

// sum is what the features add to a run's log-odds.
func (t terms) sum(v *view) float32 {
	var sum float32
	for i := range t {
		x := &t[i]
		sum += x.weight * deviation(x.value(v), x.mean, x.scale)
	}
	return sum
}

func deviation(value, mean, scale float32) float32 {
	d := (value - mean) * scale
	if d > mostDeviations { // twice as fast as min and max, which mind NaN
		return mostDeviations
	}
	if d < -mostDeviations {
		return -mostDeviations
	}
	return d
}
