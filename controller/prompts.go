package controller

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
