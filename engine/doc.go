// Package engine is the memory of an agent: it keeps the agent's trace as a graph of steps and weaves
// from it the context of the next request.
//
//	Engine   an open store
//	Session  one agent's thread in it: a path of steps from the root to the head
//	Step     a value handed in: one turn of the model with its calls and their observations
//	Node     a step kept: named, summarised, linked to its parents, labelled by its tests
//	Window   a woven context, with an Item for each observation: what became of it, and why
//
// A step goes through five stages in [Session.Append]: extract, validate, select, summarise, keep.
// A context goes through two in [Session.Weave]: walk, weave. Observations are never changed;
// shortening happens when a context is woven, and a [Handle] brings back what it left out.
package engine
