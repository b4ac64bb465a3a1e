package evidence

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// Replay plays a policy, or a Variant by its name, over a run, as engine.Replay does.
type Replay func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error

// Fit is what the sessions of one fold are replayed with.
type Fit struct {
	ID     string // names what was fitted, such as a hash of the weights
	Replay Replay // nil is the engine's own
}

// FitWeights replays the engine's policies with these weights, and variants without the graph with those that were
// fitted without it; nil are the built-in ones.
func FitWeights(o engine.ReplayOptions, w, noGraph *compress.Weights) (Fit, error) {
	o.Weights = nil
	f := Fit{ID: fmt.Sprintf("%+v", o)}
	for _, w := range []*compress.Weights{w, noGraph} {
		if w == nil {
			continue
		}
		var b bytes.Buffer
		if err := w.Write(&b); err != nil {
			return Fit{}, err
		}
		f.ID += sum(b.Bytes())
	}
	f.Replay = func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(call int, w *engine.Window) error) error {
		v, err := ParseVariant(policy)
		if err != nil {
			return err
		}
		options := o
		options.Weights = w
		if v.Ablation.NoGraph && noGraph != nil {
			options.Weights = noGraph
		}
		options.First, options.Ablation, options.Strategy = first, v.Ablation, cmp.Or(v.Strategy, o.Strategy)
		return engine.Replay(ctx, steps, v.Policy, options, emit)
	}
	return f, nil
}

// prepare fits one Fit a fold.
func prepare(ctx context.Context, sessions []Session, o Options) ([]Fit, error) {
	var fits []Fit
	if o.Prepare != nil {
		if err := CheckFolds(sessions, o.Folds); err != nil {
			return nil, err
		}
	}
	for f, train := range Folds(sessions, o.Folds) {
		fit, err := FitWeights(o.Engine, o.Engine.Weights, nil)
		if err != nil {
			return nil, err
		}
		if o.Prepare != nil {
			own := fit.Replay
			if fit, err = o.Prepare(ctx, train); err != nil {
				return nil, fmt.Errorf("fitting for fold %d: %w", f+1, err)
			}
			if fit.Replay == nil {
				fit.Replay = own
			}
		}
		fits = append(fits, fit)
	}
	return fits, nil
}
