package engine

import "slices"

// Difference is how two windows of a session differ.
type Difference struct {
	// What the two prompts have in common from their start, byte for byte: an upstream that has cached the one
	// reads so much of the other from its cache.
	Messages int `json:"common_messages"`
	Tokens   int `json:"common_tokens"`
	// Changes list the observations that stand differently, in order; those that only one of the windows has too.
	Changes []Change `json:"changes"`
}

// Change is what became of an observation between two windows.
type Change struct {
	Seq    int    `json:"seq"`
	Call   int    `json:"call"`
	Handle Handle `json:"handle,omitempty"`
	A      Sight  `json:"a"`
	B      Sight  `json:"b"`
}

// Sight is how an observation stands in a window.
type Sight struct {
	Fate   Fate   `json:"fate,omitempty"` // "" where the window does not have it
	Reason string `json:"reason,omitempty"`
	Tokens int    `json:"tokens"` // all that it costs, with what is paged in of it
	In     []Part `json:"in,omitempty"`
}

// Diff compares two windows of one session: two requests under one policy, or one request under two policies.
func Diff(a, b *Window) Difference {
	d := Difference{Changes: []Change{}}
	for d.Messages < min(len(a.Messages), len(b.Messages)) && a.Messages[d.Messages].Equal(b.Messages[d.Messages]) {
		d.Tokens += a.Messages[d.Messages].Tokens
		d.Messages++
	}
	for i, j := 0, 0; i < len(a.Items) || j < len(b.Items); {
		var x, y *Item
		if i < len(a.Items) {
			x = &a.Items[i]
		}
		if j < len(b.Items) {
			y = &b.Items[j]
		}
		switch {
		case x == nil || y != nil && y.before(x):
			x = nil
		case y == nil || x.before(y) || !y.before(x) && x.Node != y.Node: // on two branches
			y = nil
		}
		if x != nil {
			i++
		}
		if y != nil {
			j++
		}
		d.change(x, y)
	}
	return d
}

// change notes how an observation stands in both windows, if that differs.
func (d *Difference) change(x, y *Item) {
	c := Change{A: x.sight(), B: y.sight()}
	if c.A.Fate == c.B.Fate && c.A.Tokens == c.B.Tokens && slices.Equal(c.A.In, c.B.In) {
		return
	}
	if x == nil {
		x = y
	}
	c.Seq, c.Call, c.Handle = x.Seq, x.Call, x.Handle
	d.Changes = append(d.Changes, c)
}

func (i *Item) sight() Sight {
	if i == nil {
		return Sight{}
	}
	s := Sight{Fate: i.Fate, Reason: i.Reason, Tokens: i.Tokens, In: i.In}
	for _, p := range i.In {
		s.Tokens += p.Tokens
	}
	return s
}

func (i *Item) before(j *Item) bool { return place{i.Seq, i.Call}.before(place{j.Seq, j.Call}) }
