package controllers

import (
	"context"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// book is what a controller has said, by the turn's id. As a Selector it says it again, and is silent on all else.
type book struct {
	name string
	said map[string]answer
}

var _ engine.Selector = (*book)(nil)

// Select is engine.Selector's.
func (b *book) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	a, ok := b.said[q.Turn.ID]
	if !ok || a.Wrong != "" {
		return controller.Answer{}, nil
	}
	return controller.Answer{Choices: a.Choices, By: b.name, Origin: a.Origin}, nil
}
