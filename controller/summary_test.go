package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func summarize(t *testing.T, r Rules, turn Turn, parents ...string) Summary {
	t.Helper()
	s, err := r.Summarize(context.Background(), SummaryQuestion{Turn: turn, Facts: Extract(turn), Parents: parents})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStepSummary(t *testing.T) {
	const task = "parse_header in src/http.c crashes on empty input"
	for _, test := range []struct {
		why  string
		call Call
		want string
	}{
		{"what was done, and the verdict",
			Call{Name: "bash", Args: `{"command":"cd /r && pytest -q tests/test_http.py"}`, Answered: true,
				Observation: "....F\n=== FAILURES ===\nE   ValueError: empty\n1 failed, 4 passed in 0.21s\n"},
			"tested pytest -q tests/test_http.py → 1 failed, 4 passed in 0.21s; E ValueError: empty"},
		{"the first error",
			Call{Name: "bash", Args: `{"command":"gcc -c src/http.c"}`, Answered: true, Failed: true,
				Observation: "In file included from x\nsrc/http.c:88: error: unknown type\nsrc/http.c:90: error: more\n"},
			"ran gcc -c src/http.c → src/http.c:88: error: unknown type"},
		{"a word is no error",
			Call{Name: "bash", Args: `{"command":"cat notes"}`, Answered: true, Observation: "how we handle an error: badly\n"},
			"viewed cat notes → how we handle an error: badly"},
		{"the line that the task asks for",
			Call{Name: "Grep", Args: `{"pattern":"header"}`, Answered: true, Observation: "lib/a.c:1: header\nsrc/http.c:88: parse_header(s)\nlib/b.c:2: header\n"},
			"searched header → src/http.c:88: parse_header(s)"},
		{"an edit names its file", Call{Name: "Edit", Args: `{"file_path":"src/http.c","old_string":"x"}`, Answered: true, Observation: "ok"}, "edited src/http.c → ok"},
		{"a shop's tool, whose arguments matter", Call{Name: "get_order", Args: `{"order_id":"#W5744371"}`, Answered: true, Observation: `{"status":"pending"}`},
			`get_order {"order_id":"#W5744371"} → {"status":"pending"}`},
		{"nothing came", Call{Name: "bash", Args: `{"command":"make"}`, Answered: true, Observation: "\n \n"}, "ran make → no output"},
		{"nothing came yet", Call{Name: "bash", Args: `{"command":"make"}`}, "ran make"},
		{"a failure that says nothing", Call{Name: "bash", Args: `{"command":"make"}`, Answered: true, Failed: true}, "ran make → failed; no output"},
		{"colours and a harness's wrapping are left out",
			Call{Name: "bash", Args: `{"command":"ls"}`, Answered: true, Observation: "<returncode>0</returncode>\n<output>\n\x1b[34msrc\x1b[0m\n</output>\n"}, "listed ls → src"},
	} {
		got := summarize(t, Rules{}, Turn{Task: task, Calls: []Call{test.call}}).Step
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.why, got, test.want)
		}
	}
	if got := summarize(t, Rules{}, Turn{Thought: "All\nis done."}).Step; got != "said: All is done." {
		t.Errorf("a turn without calls: %q", got)
	}
}

func TestDependencySummary(t *testing.T) {
	turn := Turn{Calls: []Call{{Name: "Edit", Args: `{"file_path":"a.c"}`, Answered: true, Observation: "ok"}}}
	got := summarize(t, Rules{}, turn, "viewed a.c → int x; ← listed ls → a.c", "tested make → FAIL ← listed ls → a.c").Dependency
	want := "edited a.c → ok ← viewed a.c → int x; ← tested make → FAIL ← listed ls → a.c"
	if got != want {
		t.Errorf("newest first, best parent first, each fact once:\n got %s\nwant %s", got, want)
	}
}

// However long the sources, a summary keeps its limits and its one line, and no specific word of it is
// made up.
func TestSummaryProperties(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	vocabulary := []string{"the", "file", "error:", "parse_header", "src/http.c:88", "1 failed", "HTTPServer", "\n", "\n", "\t", "…", "←", "→",
		"4096", "x.y.z", "\x1b[31m", "日本語", "\xff", "E   ", "a-b_c", "https://a.b/c_d", "FAIL", strings.Repeat("long_", 50), "ok pkg/a 0.1s", ";", "|"}
	text := func(most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString(vocabulary[r.IntN(len(vocabulary))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
	known := []string{}
	for round := range 3000 {
		turn := Turn{Task: text(40), Thought: text(300)}
		for range r.IntN(4) {
			turn.Calls = append(turn.Calls, Call{Name: []string{"bash", "Edit", "get_user", "Grep", "weird.tool"}[r.IntN(5)],
				Args: text(120), Observation: text(2000), Answered: r.IntN(5) > 0, Failed: r.IntN(5) == 0})
		}
		sources := turn.Thought
		for _, c := range turn.Calls {
			sources += "\n" + c.Name + "\n" + c.Args + "\n" + c.Observation
		}
		var parents []string
		for range min(len(known), r.IntN(4)) {
			parents = append(parents, known[r.IntN(len(known))])
		}
		rules := Rules{StepWords: r.IntN(80), DependencyWords: r.IntN(90)}
		got := summarize(t, rules, turn, parents...)
		stepLimit, depLimit := rules.StepWords, rules.DependencyWords
		if stepLimit == 0 {
			stepLimit = 60
		}
		if depLimit == 0 {
			depLimit = 70
		}
		fail := func(what, detail string) {
			t.Fatalf("seed %d round %d: %s: %q\ngot %+v", seed, round, what, detail, got)
		}
		for _, part := range []struct {
			text, from string
			limit      int
		}{{got.Step, sources, stepLimit}, {got.Dependency, sources + "\n" + strings.Join(parents, "\n"), depLimit}} {
			if n := len(strings.Fields(part.text)); n > part.limit {
				fail("too long", fmt.Sprintf("%d words, limit %d: %s", n, part.limit, part.text))
			}
			if strings.ContainsAny(part.text, "\n\r\t\x1b") {
				fail("not one plain line", part.text)
			}
			for _, w := range Words(part.text) {
				if !strings.Contains(part.from, w) {
					fail("a word of its own", w)
				}
			}
		}
		if again := summarize(t, rules, turn, parents...); again != got {
			fail("not the same twice", again.Dependency)
		}
		known = append(known, got.Dependency)
	}
}

func BenchmarkSummarize(b *testing.B) {
	turn := Turn{Task: strings.Repeat("Fix parse_header in src/http.c so that it reads. ", 20), Calls: []Call{{Name: "bash", Args: `{"command":"make test"}`, Answered: true,
		Observation: strings.Repeat("src/http.c:88: warning: unused variable x_y in parse_header\nok\n", 2000)}}}
	facts := Extract(turn)
	for b.Loop() {
		if _, err := (Rules{}).Summarize(context.Background(), SummaryQuestion{Turn: turn, Facts: facts, Parents: []string{"a ← b", "c ← d"}}); err != nil {
			b.Fatal(err)
		}
	}
}
