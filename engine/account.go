package engine

import (
	"context"
	"slices"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// accountant is a controller that keeps account of what it was asked. Of what was asked in another process it is
// told once.
type accountant interface {
	Knows(session string) bool
	Recall(session string, said []controller.Answer)
}

// recount tells a controller that keeps account, if c is one, what the model of that digest said of the session before.
func (s *Session) recount(ctx context.Context, c any, digest string) error {
	a, ok := c.(accountant)
	if !ok || a.Knows(s.name) {
		return nil
	}
	names, err := s.engine.store.Opiners(ctx, s.name)
	if err != nil {
		return err
	}
	var said []controller.Answer
	for _, by := range slices.Sorted(slices.Values(names)) {
		opinions, err := s.engine.store.Opinions(ctx, s.name, by)
		if err != nil {
			return err
		}
		for _, o := range opinions {
			if o.Origin != (graphstore.Origin{}) && o.Origin.Digest == digest {
				said = append(said, controller.Answer{By: by, Origin: controller.Origin(o.Origin), Choices: make([]controller.Choice, len(o.Parents))})
			}
		}
	}
	a.Recall(s.name, said)
	return nil
}
