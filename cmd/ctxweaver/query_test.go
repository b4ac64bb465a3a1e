package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore/query"
)

// Wherever a word stands in its line, the excerpt has it.
func TestAround(t *testing.T) {
	long := strings.Repeat("abcd ", 200)
	for _, test := range []struct{ reason, part, line, want string }{
		{"the line is short", "observation", "if Max {", "if Max {"},
		{"far in a long line", "observation", long + "Max" + long, "…abcd abcd abcd abcd abcd abcd abcd Max" + strings.Repeat("abcd ", 12) + "…"},
		{"indentation takes no room", "observation", strings.Repeat("\t", 50) + "if a > Max {", "if a > Max {"},
		{"escapes of arguments are read", "call", `bash {"command": "cat \"a\"\nsed C:\\new Max\n\techo"}`, `…sh {"command": "cat "a" sed C:\new Max echo"}`},
		{"a cut never leaves half of one", "call", `bash {"command": "` + strings.Repeat(`\n`, 99) + "Max", `bash {"command": " Max`},
		{"what is no arguments is as it is", "thought", `a\nb Max`, `a\nb Max`},
		{"wide runes are not halved", "thought", strings.Repeat("日", 99) + "Max", "… " + strings.Repeat("日", 17) + "Max"},
		{"broken UTF-8 and escapes steer nothing", "observation", "\xff\x1b[31m Max", "\ufffd␛[31m Max"},
	} {
		if diff := cmp.Diff(test.want, around(query.Place{Part: test.part, Line: test.line}, "Max")); diff != "" {
			t.Errorf("%s: %s", test.reason, diff)
		}
	}
}

// What fixed the tests comes first, with all that it fixed.
func TestFailedSaysWhatFixedIt(t *testing.T) {
	th := thread{all: []engine.Node{{ID: "a"}, {ID: "b", Seq: 7}}, at: map[engine.NodeID]int{"a": 0, "b": 1}}
	f := query.Failure{Tests: []query.Fate{{Test: "TestA", FixedBy: "b"}, {Test: "TestB"}, {Test: "TestC", FixedBy: "b"}}}
	f.ID = "a"
	if got, want := th.failed(f).Why, "fixed by 7: TestA, TestC; open: TestB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
