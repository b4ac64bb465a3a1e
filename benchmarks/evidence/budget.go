package evidence

import (
	"context"
	"slices"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Under a budget policies are compared on the same requests: those where what must stay fits. That is measured on the
// whole history and not on any policy's context.
const (
	newestKept = 3  // observations
	markTokens = 24 // what stands for another one takes no more
)

// mustStay gives for each call the tokens of what must stay before it.
func mustStay(ctx context.Context, steps []engine.Step, first int) ([]int, error) {
	var out []int
	err := engine.Replay(ctx, steps, engine.Full, engine.ReplayOptions{First: first}, func(_ int, w *engine.Window) error {
		out = append(out, staying(w))
		return ctx.Err()
	})
	return out, err
}

// staying counts, of a context that has everything, the messages, thoughts, actions and newest observations, and a mark
// for each other observation, or the observation itself where that is shorter.
func staying(w *engine.Window) int {
	tokens, newer := w.Tokens, 0
	for _, item := range slices.Backward(w.Items) {
		if item.Fate != engine.Whole {
			continue // there is no observation
		}
		if newer++; newer > newestKept {
			tokens -= max(0, item.Full-markTokens)
		}
	}
	return tokens
}
