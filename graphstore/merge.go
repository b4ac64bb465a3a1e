package graphstore

import "slices"

// merge is what a stored node becomes when it is put again.
func merge(old, n Node) Node {
	given := n.Step
	n.Step = mergeStep(old.Step, given)
	n.Tokens = mergeTokens(old, n, given)
	return n
}

// mergeStep adds to a stored step what it was lacking.
func mergeStep(old, given Step) Step {
	s := old.Clone()
	if s.Thinking == "" {
		s.Thinking = given.Thinking
	}
	if len(s.Raw) == 0 {
		s.Raw = slices.Clone(given.Raw)
	}
	if s.Model == "" {
		s.Model = given.Model
	}
	if s.Time.IsZero() {
		s.Time = given.Time
	}
	fresh := given.Clone()
	for i := range min(len(s.Calls), len(fresh.Calls)) { // both have the same calls, or they had two names
		c := &s.Calls[i]
		if c.Open() {
			c.Observation, c.Joined = fresh.Calls[i].Observation, fresh.Calls[i].Joined
		}
		if c.ID == "" {
			c.ID = fresh.Calls[i].ID
		}
	}
	return s
}

// mergeTokens takes the given counts for what is stored as given, and keeps those of what is not.
func mergeTokens(old, merged Node, given Step) Tokens {
	t := merged.Tokens
	sameText := func(a, b Message) bool { return a.Text == b.Text }
	if !slices.EqualFunc(merged.Step.Before, given.Before, sameText) {
		t.Before = old.Tokens.Before
	}
	if merged.Step.Thinking != given.Thinking {
		t.Thinking = old.Tokens.Thinking
	}
	t.Observations = slices.Clone(t.Observations)
	for i, c := range merged.Step.Calls {
		if i < len(given.Calls) && c.Observation != nil && !sameObservation(c.Observation, given.Calls[i].Observation) {
			count := 0
			if i < len(old.Tokens.Observations) {
				count = old.Tokens.Observations[i]
			}
			for len(t.Observations) <= i {
				t.Observations = append(t.Observations, 0)
			}
			t.Observations[i] = count
		}
	}
	return t
}

func sameObservation(a, b *Observation) bool { return a != nil && b != nil && a.Text == b.Text }
