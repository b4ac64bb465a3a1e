package main

import (
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Only what differs is shown of an observation that stands differently.
func TestChanged(t *testing.T) {
	first, second := engine.Part{Seq: 19, FromLine: 3, ToLine: 9}, engine.Part{Seq: 22, FromLine: 20, ToLine: 20}
	omitted := engine.Sight{Fate: engine.Omitted, Tokens: 9}
	for _, test := range []struct {
		reason string
		a, b   engine.Sight
		want   string
	}{
		{"only one window has it", engine.Sight{}, engine.Sight{Fate: engine.Whole}, "not there → whole"},
		{"it was paged out", engine.Sight{Fate: engine.Whole}, omitted, "whole → omitted"},
		{"and lines of it came back", engine.Sight{Fate: engine.Whole}, engine.Sight{Fate: engine.Omitted, In: []engine.Part{first}}, "whole → omitted; now lines 3-9 behind step 19"},
		{"what both have is left out", engine.Sight{Fate: engine.Omitted, In: []engine.Part{first}}, engine.Sight{Fate: engine.Omitted, In: []engine.Part{first, second}}, "now line 20 behind step 22"},
		{"what came back has left again", engine.Sight{Fate: engine.Omitted, In: []engine.Part{first, second}}, engine.Sight{Fate: engine.Omitted, In: []engine.Part{second}}, "no longer lines 3-9 behind step 19"},
		{"another placeholder is no change to speak of", omitted, engine.Sight{Fate: engine.Omitted, Tokens: 19}, ""},
	} {
		if got := changed(test.a, test.b); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
