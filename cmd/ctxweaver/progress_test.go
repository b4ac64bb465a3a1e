package main

import (
	"bytes"
	"testing"
	"time"
)

// Where there is no terminal a line a minute says how far work has come, however often it comes on.
func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	began := time.Now()
	p := &progress{label: "examine m: chains", lines: &out, total: 50, began: began, told: began}
	for second := range 200 {
		p.done = int64(second / 10)
		p.line(began.Add(time.Duration(second) * time.Second))
	}
	want := "examine m: chains: 6 of 50, 7m20s left\nexamine m: chains: 12 of 50, 6m20s left\nexamine m: chains: 18 of 50, 5m20s left\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		why         string
		done, total int64
		took        time.Duration
		want        string
	}{
		{"nothing is done", 0, 43, time.Minute, ""},
		{"some is done", 7, 43, 35 * time.Second, ", 3m0s left"},
		{"all is done", 43, 43, time.Minute, ""},
		{"how much there is, is not known", 7, 0, time.Minute, ""},
	} {
		if got := ahead(c.done, c.total, c.took); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
