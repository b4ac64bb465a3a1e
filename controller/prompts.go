package controller

import "strings"

// Prompts tells the hashes of an Origin apart: of what a model was told to choose parents, and to sum up.
func (o Origin) Prompts() (choosing, summing string) {
	for hash := range strings.FieldsSeq(o.Prompt) {
		if hash == stepPrompt.hash || hash == dependencyPrompt.hash {
			summing += " " + hash
		} else {
			choosing += " " + hash
		}
	}
	return strings.TrimSpace(choosing), strings.TrimSpace(summing)
}

// Prompts are the hashes of all that the model is told before a question: what Origin.Prompt is made of.
func (o *Ollama) Prompts() []string { return promptsOf(o.opts.Ask) }

// Prompts are those of the cascade's models, of those that say what they are told.
func (c *Cascade) Prompts() []string {
	var out []string
	for _, m := range []any{c.Chooser, c.Writer} {
		if p, ok := m.(interface{ Prompts() []string }); ok {
			out = append(out, p.Prompts()...)
		}
	}
	return out
}
