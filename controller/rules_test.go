package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// story tells a session turn by turn and selects the parents of each before it is added.
type story struct {
	t     *testing.T
	trace *Trace
	task  string
}

func newStory(t *testing.T, task string) *story { return &story{t: t, trace: NewTrace(), task: task} }

// turn adds a turn of one call and returns what was chosen for it. Its id is its number.
func (s *story) turn(thought, name, args, observation string) []Choice {
	s.t.Helper()
	turn := Turn{ID: fmt.Sprint(s.trace.Len()), Seq: s.trace.Len(), Task: s.task, Thought: thought,
		Calls: []Call{{Name: name, Args: args, Observation: observation, Answered: true}}}
	a, err := Rules{}.Select(context.Background(), Question{Turn: turn, Trace: s.trace})
	if err != nil {
		s.t.Fatal(err)
	}
	s.trace.Add(turn, Extract(turn))
	return a.Choices
}

func (s *story) shell(line, observation string) []Choice {
	s.t.Helper()
	return s.turn("", "bash", args(s.t, "command", line), observation)
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// to finds the choice of a turn.
func to(choices []Choice, id string) Choice {
	for _, c := range choices {
		if c.ID == id {
			return c
		}
	}
	return Choice{}
}

func TestSelect(t *testing.T) {
	type want struct {
		id     string
		kind   LinkKind
		reason string // part of it
	}
	for _, test := range []struct {
		why  string
		tell func(s *story) []Choice
		want []want // in order; exactly these
	}{
		{"the first turn rests on nothing", func(s *story) []Choice {
			return s.shell("cat src/http.c", "int parse_header;")
		}, nil},
		{"a turn without any link rests on the one before it", func(s *story) []Choice {
			s.shell("ls", "bin lib")
			return s.shell("make", "")
		}, []want{{"0", PreviousLink, "the step before"}}},
		{"a word is credited to its newest holder, and a little to the first", func(s *story) []Choice {
			s.shell("make", "undefined parse_header")
			s.shell("make lint", "unused")
			s.shell("make again", "undefined parse_header")
			return s.turn("So parse_header it is.", "bash", "{}", "")
		}, []want{{"2", LiteralLink, "uses parse_header from its output"}, {"0", LiteralLink, "was the first to show parse_header"}}},
		{"a rare word weighs more than a common one", func(s *story) []Choice {
			s.shell("ls a", "common_word rare_word")
			for range 5 {
				s.shell("ls b", "common_word")
			}
			return s.turn("common_word rare_word", "think", "{}", "")
		}, []want{{"0", LiteralLink, "uses rare_word from its output; was the first to show common_word"}, {"5", LiteralLink, "uses common_word"}}},
		{"words said before weigh less than words that are news", func(s *story) []Choice {
			s.shell("ls a", "fresh_name")
			s.shell("ls b", "task_name")
			return s.turn("fresh_name task_name", "think", "{}", "")
		}, []want{{"0", LiteralLink, "fresh_name"}, {"1", LiteralLink, "task_name"}}},
		{"a file is known by its name where only that was seen", func(s *story) []Choice {
			s.shell("ls src", "http.c")
			return s.shell("wc -l src/http.c", "")
		}, []want{{"0", LiteralLink, "uses src/http.c"}}},
		{"an edit rests on the newest view of its file, however the path is written", func(s *story) []Choice {
			s.shell("cat /r/src/http.c", "int x;")
			s.shell("ls", "")
			return s.turn("", "Edit", args(s.t, "file_path", "src/http.c", "old_string", "x", "new_string", "y"), "")
		}, []want{{"0", FileLink, "looked at src/http.c, which this step edits"}}},
		{"another file of the same name is another file", func(s *story) []Choice {
			s.shell("cat lib/http.c", "int x;")
			return s.turn("", "Edit", args(s.t, "file_path", "src/http.c", "old_string", "x", "new_string", "y"), "")
		}, []want{{"0", PreviousLink, ""}}},
		{"an edit that names no file changes the one that is open", func(s *story) []Choice {
			s.turn("", "open", "src/http.c", "int x;")
			s.shell("make", "")
			return s.turn("", "edit", "1:1\nint y;\nend_of_edit", "")
		}, []want{{"0", FileLink, "src/http.c"}}},
		{"a look rests on the edit before it", func(s *story) []Choice {
			s.turn("", "Edit", args(s.t, "file_path", "a.c", "old_string", "x"), "done")
			s.shell("make", "")
			return s.shell("cat a.c", "")
		}, []want{{"0", EditLink, "edited a.c, which this step looks at"}}},
		{"running a script rests on writing it", func(s *story) []Choice {
			s.shell("cat > repro.py <<'E'\nprint(1)\nE", "")
			s.shell("ls", "")
			return s.shell("python repro.py", "")
		}, []want{{"0", EditLink, "edited repro.py, which this step runs"}}},
		{"a run of tests rests on the edits since the last run", func(s *story) []Choice {
			s.shell("sed -i s/a/b/ a.c", "")
			s.shell("make test", "")
			s.shell("sed -i s/a/b/ b.c", "")
			s.shell("sed -i s/a/b/ c.c", "")
			return s.shell("make test", "")
		}, []want{{"3", EditLink, "since the last run"}, {"2", EditLink, "since the last run"}}},
		{"an edit answers the failing test, and the failure is recorded though it is no candidate", func(s *story) []Choice {
			s.shell("pytest", "E assert")
			s.must(s.trace.Mark("0", "failed"))
			s.must(s.trace.Failing("0", []string{"test_login"}))
			s.shell("ls", "")
			return s.shell("sed -i s/a/b/ a.c", "")
		}, []want{{"0", TestLink, "test_login failed there"}}},
		{"what was fixed is not answered again", func(s *story) []Choice {
			s.shell("pytest", "E assert")
			s.must(s.trace.Mark("0", "failed"))
			s.shell("ls", "")
			s.must(s.trace.Mark("0", "superseded"))
			return s.shell("sed -i s/a/b/ a.c", "")
		}, []want{{"1", PreviousLink, ""}}},
		{"older failures count for tests that newer ones do not name", func(s *story) []Choice {
			for i, tests := range [][]string{{"test_a"}, {"test_a", "test_b"}, {"test_b"}} {
				s.shell("pytest", "E assert")
				s.must(s.trace.Mark(fmt.Sprint(i), "failed"))
				s.must(s.trace.Failing(fmt.Sprint(i), tests))
			}
			return s.shell("sed -i s/a/b/ a.c", "")
		}, []want{{"2", TestLink, "test_b failed there"}, {"1", TestLink, "test_a failed there"}}},
		{"one turn may be linked for several reasons", func(s *story) []Choice {
			s.shell("cat a.c", "int parse_header;")
			s.shell("ls", "")
			return s.turn("", "Edit", args(s.t, "file_path", "a.c", "old_string", "parse_header"), "")
		}, []want{{"0", FileLink, "uses parse_header from its output; looked at a.c"}}},
	} {
		got := test.tell(newStory(t, "Please see to task_name."))
		if len(got) != len(test.want) {
			t.Errorf("%s: %d choices, want %d: %+v", test.why, len(got), len(test.want), got)
			continue
		}
		for i, w := range test.want {
			if got[i].ID != w.id || got[i].Kind != w.kind || !strings.Contains(got[i].Reason, w.reason) {
				t.Errorf("%s: choice %d is %+v, want %+v", test.why, i, got[i], w)
			}
		}
	}
}

// Scores stay in range and fall, a guess scores lowest, and asking again, or after the turn was added,
// changes nothing.
func TestSelectProperties(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for round := range 40 {
		s := newStory(t, "Fix name_1 in f_2.py.")
		for k := range 60 {
			thing := fmt.Sprintf("name_%d", r.IntN(20))
			path := fmt.Sprintf("f_%d.py", r.IntN(8))
			line := pick("cat "+path, "grep -rn "+thing+" .", "sed -i s/a/"+thing+"/ "+path, "pytest "+path, "ls", "make")
			turn := Turn{ID: fmt.Sprint(k), Task: s.task, Calls: []Call{{Name: "bash", Args: args(t, "command", line), Observation: pick("", thing, path, thing+" "+path), Answered: true}}}
			ask := func() []Choice {
				a, err := Rules{}.Select(context.Background(), Question{Turn: turn, Trace: s.trace})
				s.must(err)
				return a.Choices
			}
			got := ask()
			if diff := cmp.Diff(got, ask()); diff != "" {
				t.Fatalf("seed %d round %d: not the same twice:\n%s", seed, round, diff)
			}
			if k > 0 && len(got) == 0 {
				t.Fatalf("seed %d round %d: turn %d is an orphan", seed, round, k)
			}
			seen := map[string]bool{turn.ID: true}
			for i, c := range got {
				if seen[c.ID] || c.Score <= 0 || c.Score > 1 || c.Reason == "" || i > 0 && c.Score > got[i-1].Score {
					t.Fatalf("seed %d round %d turn %d: %+v", seed, round, k, got)
				}
				if (c.Kind == PreviousLink) != (c.Score == previousScore) || c.Kind == PreviousLink && len(got) > 1 {
					t.Fatalf("seed %d round %d turn %d: a guess beside what was found: %+v", seed, round, k, got)
				}
				seen[c.ID] = true
			}
			s.trace.Add(turn, Extract(turn))
			for _, c := range ask() {
				if to(got, c.ID).ID == "" {
					t.Fatalf("seed %d round %d turn %d: after it was added: new choice %+v, before %+v", seed, round, k, c, got)
				}
			}
			if len(turn.Calls[0].Observation) > 5 && r.IntN(4) == 0 {
				s.must(s.trace.Mark(turn.ID, pick("failed", "passed", "superseded", "")))
			}
		}
	}
}

// Observations that arrive late, and out of order, make the trace that they make in order.
func TestObserveLate(t *testing.T) {
	tell := func(order []int) []Choice {
		trace := NewTrace()
		texts := []string{"alpha_1 beta_1", "alpha_1", "beta_1 gamma_1", "gamma_1 alpha_1"}
		for k := range texts {
			turn := Turn{ID: fmt.Sprint(k), Calls: []Call{{Name: "bash", Args: "{}"}}}
			trace.Add(turn, Extract(turn))
		}
		for _, k := range order {
			if err := trace.Observe(fmt.Sprint(k), texts[k], false); err != nil {
				t.Fatal(err)
			}
		}
		a, _ := Rules{}.Select(context.Background(), Question{Turn: Turn{ID: "x", Thought: "alpha_1 beta_1 gamma_1"}, Trace: trace})
		return a.Choices
	}
	want := tell([]int{0, 1, 2, 3})
	for _, order := range [][]int{{3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}, {0, 0, 1, 2, 3, 3}} {
		if diff := cmp.Diff(want, tell(order)); diff != "" {
			t.Errorf("order %v (-in order +late):\n%s", order, diff)
		}
	}
}

func TestUnknownTurn(t *testing.T) {
	trace := NewTrace()
	for what, err := range map[string]error{
		"Observe":  trace.Observe("x", "", false),
		"Mark":     trace.Mark("x", "failed"),
		"Failing":  trace.Failing("x", nil),
		"Describe": trace.Describe("x", ""),
	} {
		if !errors.Is(err, ErrUnknownTurn) {
			t.Errorf("%s: %v, want ErrUnknownTurn", what, err)
		}
	}
	if trace.Candidate("x") {
		t.Error("an unknown turn is a candidate")
	}
}

func TestAddTwiceChangesNothing(t *testing.T) {
	trace := NewTrace()
	turn := Turn{ID: "a", Calls: []Call{{Observation: "some_word", Answered: true}}}
	for range 2 {
		trace.Add(turn, Extract(turn))
	}
	if trace.Len() != 1 || trace.mention("some_word").turns != 1 {
		t.Errorf("%d turns, word held by %d", trace.Len(), trace.mention("some_word").turns)
	}
}

func TestChooseTakesCandidatesOnly(t *testing.T) {
	trace := NewTrace()
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		trace.Add(Turn{ID: id}, Facts{})
		if err := trace.Describe(id, "did "+id); err != nil {
			t.Fatal(err)
		}
	}
	for id, label := range map[string]string{"a": "failed", "b": "passed", "d": "superseded"} {
		if err := trace.Mark(id, label); err != nil {
			t.Fatal(err)
		}
	}
	choices := []Choice{{ID: "a"}, {ID: "b"}, {ID: "d"}, {ID: "c"}, {ID: "e"}, {ID: "nowhere"}}
	for m, want := range [][]Choice{nil, {{ID: "b"}}, {{ID: "b"}, {ID: "c"}}, {{ID: "b"}, {ID: "c"}, {ID: "e"}}, {{ID: "b"}, {ID: "c"}, {ID: "e"}}} {
		if diff := cmp.Diff(want, Choose(choices, m, trace.Candidate)); diff != "" {
			t.Errorf("m = %d:\n%s", m, diff)
		}
	}
	if diff := cmp.Diff([]Past{{ID: "e", Seq: 4, Summary: "did e"}, {ID: "c", Seq: 2, Summary: "did c"}}, trace.Newest(2)); diff != "" {
		t.Errorf("newest candidates:\n%s", diff)
	}
}

// Planted chain: an id is printed once early and used by the last step, among decoys. A controller that
// misses it proves nothing by any other number.
func TestPlantedChain(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	id := []func() string{
		func() string { return fmt.Sprintf("req-%07x9", r.IntN(1<<28)) },
		func() string { return fmt.Sprintf("order_%d", r.IntN(1e6)) },
		func() string { return fmt.Sprint(10000 + r.IntN(1e6)) },
		func() string { return fmt.Sprintf("/srv/data/%x/part", r.Uint32()) },
		func() string { return fmt.Sprintf("HAT%03d", r.IntN(1000)) },
		func() string { return fmt.Sprintf("sessionKey%c", 'A'+rune(r.IntN(26))) },
	}
	found, first := 0, 0
	const trials = 50
	for trial := range trials {
		next := id[trial%len(id)]
		planted := next()
		decoy := func() string {
			for {
				if d := next(); d != planted {
					return d
				}
			}
		}
		s := newStory(t, "Find the record and close it.")
		n, at := 20+r.IntN(60), r.IntN(8)
		for k := range n {
			text := fmt.Sprintf("row %d: %s open\nlast seen %s\n", k, decoy(), decoy())
			if k == at {
				text += "owner: " + planted + "\n"
			}
			s.shell(fmt.Sprintf("fetch --page %d", k), text)
		}
		got := s.shell("close --id "+planted, "")
		want := fmt.Sprint(at)
		if slices.ContainsFunc(to(got, want).Words, func(w string) bool { return strings.Contains(planted, w) }) {
			found++
		}
		if got[0].ID == want {
			first++
		}
	}
	if found < trials || first < trials {
		t.Errorf("seed %d: found %d, first %d of %d", seed, found, first, trials)
	}
}

// fill makes a trace of n turns with words of their own and shared ones.
func fill(n int) *Trace {
	trace := NewTrace()
	for k := range n {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, "item_%d_%d in pkg/mod%d/file%d.go\n", k, i, k%50, i)
		}
		turn := Turn{ID: fmt.Sprint(k), Thought: fmt.Sprintf("Look at item_%d_3.", k-1),
			Calls: []Call{{Name: "Edit", Args: fmt.Sprintf(`{"file_path":"pkg/mod%d/file%d.go","old_string":"a"}`, k%50, k%30), Observation: b.String(), Answered: true}}}
		trace.Add(turn, Extract(turn))
	}
	return trace
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			trace := fill(n)
			runtime.GC()
			runtime.ReadMemStats(&after)
			turn := Turn{ID: "x", Thought: "item_17_4 and item_900_2 fail", Calls: []Call{{Name: "Edit", Args: `{"file_path":"pkg/mod7/file9.go","old_string":"item_500_1"}`}}}
			b.ResetTimer()
			for range b.N {
				if _, err := (Rules{}).Select(context.Background(), Question{Turn: turn, Trace: trace}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(trace.words)), "B/word")
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		fill(1000)
	}
}
