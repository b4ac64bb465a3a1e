package engine_test

import (
	"context"
	"errors"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// What a replay's Selector says becomes of a step what it would have become in a session.
func TestReplayWithSelector(t *testing.T) {
	ctx := context.Background()
	seed := time.Now().UnixNano()
	steps := worked(rand.New(rand.NewSource(seed)), 60)
	for _, trust := range []bool{false, true} {
		var got []engine.Node
		o := engine.ReplayOptions{Selector: selector(oldest), Trust: trust, Each: func(n engine.Node) { got = append(got, n) }}
		if err := engine.Replay(ctx, steps, engine.Paper(3, 5), o, func(int, *engine.Window) error { return nil }); err != nil {
			t.Fatal(err)
		}
		e := open(t, engine.Options{NoSync: true, Selector: selector(oldest), Trust: trust, Deadline: time.Minute})
		s := e.Session("replay")
		opinions := 0
		for i, step := range steps {
			want, err := s.Append(ctx, step)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Parents, got[i].Parents); diff != "" || want.ID != got[i].ID {
				t.Fatalf("seed %d, trust %v: step %d (-appended +replayed):\n%s", seed, trust, i, diff)
			}
			for _, p := range want.Parents {
				if p.Kind == "model" {
					opinions++
				}
			}
		}
		if opinions == 0 {
			t.Fatalf("seed %d: the Selector was not heard", seed)
		}
	}
}

func TestReplayEndsWithSelectorsError(t *testing.T) {
	lost := errors.New("lost")
	o := engine.ReplayOptions{Selector: selector(func(context.Context, controller.Question) (controller.Answer, error) {
		return controller.Answer{}, lost
	})}
	err := engine.Replay(context.Background(), worked(rand.New(rand.NewSource(1)), 5), engine.Full, o, func(int, *engine.Window) error { return nil })
	if !errors.Is(err, lost) {
		t.Errorf("%v, want the Selector's", err)
	}
}
