// Package controllers measures who chooses a step's parents and sums it up: rules, baselines, and small models on an
// Ollama server, each by the same questions.
//
// A question is what a controller is shown of a real step: what the agent says and does, and the summaries of the
// steps before it. What it should have answered is known from outside: the literal parents are the newest holders of
// the specific words that the step uses and that nobody but observations had said. Beside that stand planted chains
// (controller.Planted), what the answers cost, and what contexts gain by them.
//
// Run does it all. Whatever a model says is kept in a cache and never asked for twice.
package controllers

// Kind is what sort of controller it is.
type Kind string

const (
	ByRules    Kind = "rules"
	ByBaseline Kind = "baseline" // needs no model and no thought
	ByModel    Kind = "model"
)
