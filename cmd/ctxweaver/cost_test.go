package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

func TestMeter(t *testing.T) {
	say := func(texts ...string) *engine.Window {
		w := &engine.Window{Tokens: 100}
		for _, text := range texts {
			w.Messages = append(w.Messages, engine.Prompt{Role: "user", Content: text})
		}
		return w
	}
	for _, test := range []struct {
		reason   string
		requests []*engine.Window
		uncached []int // of each request, all in tokens
	}{
		{"the first request finds nothing in the cache", []*engine.Window{say("one two three")}, []int{5}},
		{"the same again is all cached", []*engine.Window{say("one two three"), say("one two three")}, []int{5, 0}},
		{"what is added at the end is not", []*engine.Window{say("one"), say("one", "two three")}, []int{3, 4}},
		{"a change in the middle takes all after it along", []*engine.Window{say("one", "two", "three"), say("one", "2", "three")}, []int{9, 4}},
		{"a message that grows keeps its beginning", []*engine.Window{say("one"), say("one two")}, []int{3, 1}},
		{"less than before has nothing new", []*engine.Window{say("one", "two"), say("one")}, []int{6, 0}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var m meter
			var got []int
			for _, w := range test.requests {
				before := m.uncached
				m.add(w)
				got = append(got, m.uncached-before)
			}
			if diff := cmp.Diff(test.uncached, got); diff != "" {
				t.Error(diff)
			}
			if m.tokens != 100*len(test.requests) {
				t.Errorf("tokens = %d", m.tokens)
			}
		})
	}
	m := meter{requests: 1, tokens: 100, uncached: 20}
	if got := m.cost(); math.Abs(got-33) > 1e-9 { // 80 read, 20 written
		t.Errorf("cost = %g, want 33", got)
	}
}

func TestCommon(t *testing.T) {
	for _, test := range []struct {
		reason, a, b string
		want         int
	}{
		{"nothing in common", "ab", "cd", 0},
		{"one is the other's beginning", "ab", "abc", 2},
		{"a character is not cut in two: é and è begin with one byte", "é", "è", 0},
	} {
		if got := common(test.a, test.b); got != test.want {
			t.Errorf("%s: common(%q, %q) = %d, want %d", test.reason, test.a, test.b, got, test.want)
		}
	}
}
