package main

import (
	"testing"

	"github.com/ctxweaver/ctxweaver/engine"
)

func TestLines(t *testing.T) {
	for _, test := range []struct {
		reason string
		parts  []engine.Part
		want   string
	}{
		{"one line", []engine.Part{{Seq: 20, FromLine: 648, ToLine: 648}}, "line 648 behind step 20"},
		{"several parts in one place", []engine.Part{{Seq: 20, FromLine: 3, ToLine: 9}, {Seq: 20, FromLine: 12, ToLine: 12}}, "lines 3-9, 12 behind step 20"},
		{"several places", []engine.Part{{Seq: 20, FromLine: 3, ToLine: 9}, {Seq: 21, FromLine: 12, ToLine: 12}}, "lines 3-9 behind step 20, line 12 behind step 21"},
		{"parts of one long line", []engine.Part{{Seq: 20, FromLine: 5, ToLine: 5}, {Seq: 20, FromLine: 5, ToLine: 5}}, "line 5 behind step 20"},
	} {
		if got := lines(test.parts); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
