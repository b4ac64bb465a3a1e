package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine/importer"
)

func TestChoose(t *testing.T) {
	found := []importer.Found{{Path: "a"}, {Path: "b"}, {Path: "c"}}
	for _, test := range []struct {
		answer string
		want   []string
		ok     bool
	}{
		{"all", []string{"a", "b", "c"}, true},
		{"ALL", []string{"a", "b", "c"}, true},
		{"2", []string{"b"}, true},
		{"1 3", []string{"a", "c"}, true},
		{"3,1", []string{"c", "a"}, true},
		{"", nil, true},
		{"0", nil, false},
		{"4", nil, false},
		{"both", nil, false},
	} {
		got, err := choose(found, test.answer)
		if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != test.ok {
			t.Errorf("choose(%q): %v %s", test.answer, err, diff)
		}
	}
}
