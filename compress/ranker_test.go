package compress

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// event is what happens to a ranker.
type event struct {
	hear string
	act  *Act
	see  *string
}

func (e event) tell(r *Ranker) {
	switch {
	case e.act != nil:
		r.Act(*e.act)
	case e.see != nil:
		r.See(*e.see)
	default:
		r.Hear(e.hear)
	}
}

// session makes up a session whose actions take words and lines from what they saw.
func session(seed uint64, calls int) []event {
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	word := func() string {
		return fmt.Sprintf(pick([]string{"handle_%d", "parseItem%d", "pkg/mod%d/file.go", "%d0000"}), random.IntN(400))
	}
	events := []event{{hear: "Please repair " + word() + " in the parser."}}
	seen := []string{"nothing_yet"}
	for i := range calls {
		a := Act{Action: pick([]string{"cat ", "grep ", "edit "}) + pick(seen), Kind: pick(kindsOfCall)}
		if random.IntN(3) > 0 {
			a.Thought = "I look at " + pick(seen) + " and " + word()
		}
		events = append(events, event{act: &a})
		switch random.IntN(12) {
		case 0: // never answered
			continue
		case 1:
			events = append(events, event{hear: "Mind " + word()})
		}
		var b strings.Builder
		for range random.IntN(60) {
			w := word()
			seen = append(seen, w)
			fmt.Fprintf(&b, "%s\treturn %s(%s) // %d\n", pick([]string{"", "  12", "E  "}), w, word(), i)
			if random.IntN(9) == 0 {
				b.WriteString("\ndef " + word() + "():\n")
			}
		}
		text := b.String()
		events = append(events, event{see: &text})
	}
	return events
}

func fed(events []event) *Ranker {
	r := NewRanker(nil)
	for _, e := range events {
		e.tell(r)
	}
	return r
}

// TestScoresAreCausal proves that what a ranker says follows from what it was told so far alone: one that goes on,
// and was asked at every event, says the same as one that was told just the beginning and never asked.
func TestScoresAreCausal(t *testing.T) {
	for seed := range uint64(6) {
		events := session(seed, 40)
		going := NewRanker(nil)
		for k, e := range events {
			e.tell(going)
			scores := going.Scores()
			if !slices.Equal(scores, going.Scores()) {
				t.Fatalf("seed %d, event %d: asked twice, it says something else", seed, k)
			}
			if k%7 != 0 {
				continue
			}
			if fresh := fed(events[:k+1]); !slices.Equal(scores, fresh.Scores()) {
				t.Fatalf("seed %d, event %d: scores depend on what came before being asked", seed, k)
			}
		}
	}
}

func TestScores(t *testing.T) {
	for seed := range uint64(4) {
		r := NewRanker(nil)
		var newest int
		for k, e := range session(seed, 60) {
			switch {
			case e.see != nil:
				newest, _ = r.See(*e.see)
			case e.act != nil:
				r.Act(*e.act)
				newest = r.Len()
			default:
				r.Hear(e.hear)
			}
			scores := r.Scores()
			if len(scores) != r.Len() {
				t.Fatalf("seed %d, event %d: %d scores for %d runs", seed, k, len(scores), r.Len())
			}
			for i, s := range scores {
				if !(s >= 0 && s <= 1) || i >= newest && s != 0 {
					t.Fatalf("seed %d, event %d: run %d has score %v; the newest begin at %d", seed, k, i, s, newest)
				}
				if s > 0 && len(r.Features(i)) != len(FeatureNames()) {
					t.Fatalf("seed %d, event %d: run %d has %d features", seed, k, i, len(r.Features(i)))
				}
			}
		}
	}
}

// TestScoresAreOfFeatures proves that what is learned from is what is used.
func TestScoresAreOfFeatures(t *testing.T) {
	r := fed(session(3, 60))
	for i, got := range r.Scores() {
		x := r.Features(i)
		if x == nil {
			continue
		}
		odds := BuiltIn().Bias
		for n, name := range FeatureNames() {
			k := slices.IndexFunc(BuiltIn().Features, func(f Feature) bool { return f.Name == name })
			f := BuiltIn().Features[k]
			odds += f.Weight * deviation(x[n], f.Mean, f.Scale)
		}
		if want := sigmoid(odds); math.Abs(got-want) > 1e-5 {
			t.Fatalf("run %d has score %v, its features make %v", i, got, want)
		}
	}
}

// TestRelevance proves by one plain case that the ranker is the right way up.
func TestRelevance(t *testing.T) {
	r := NewRanker(nil)
	r.Hear("Dates are wrong in the report. Repair that.")
	see := func(action, kind, text string) (int, int) {
		r.Act(Act{Action: action, Kind: kind})
		return r.See(text)
	}
	wanted, _ := see("cat report/dates.py", "view", "def parse_report_date(text):\n    return strptime_or_none(text)\n")
	other, _ := see("cat web/colors.py", "view", "def mix_background(color):\n    return blend_with(color)\n")
	for range 6 {
		see("ls", "list", "nothing of interest\n")
	}
	r.Act(Act{Thought: "Now I repair how the report parses a date.", Action: "edit report/dates.py", Kind: "edit"})
	r.See("ok\n")
	if s := r.Scores(); s[wanted] <= s[other] {
		t.Errorf("what is spoken of has score %v, another file %v", s[wanted], s[other])
	}
}

func TestTook(t *testing.T) {
	tests := []struct {
		name, action string
		want         []int
	}{
		{"a word of one observation", "grep only_first", []int{0}},
		{"a word of both goes to the newer", "grep in_both", []int{1}},
		{"a word within another, too", `{"path":"deep/dir/found.go"}`, []int{1}},
		{"one that the user said is not taken from anywhere", "grep said_by_user", nil},
		{"one that nobody has seen", "grep never_seen", nil},
		{"a line, out of JSON", `{"old":"x\n    return total / count # mean\n"}`, []int{1}},
		{"a line that only a viewer's number tells apart", `{"old":"return first_total - 1"}`, []int{0}},
		{"the same twice", "grep only_first only_first", []int{0}},
		{"plain words are nobody's", "some plain text", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := NewRanker(nil)
			r.Hear("look for said_by_user")
			r.Act(Act{Action: "cat one", Kind: "view"})
			r.See("only_first in_both said_by_user deep/dir/found.go some plain text\n   7\treturn first_total - 1\n")
			r.Act(Act{Action: "cat two", Kind: "view"})
			r.See("in_both /root/deep/dir/found.go\n    return total / count # mean\n")
			r.Act(Act{Action: test.action, Kind: "edit"})
			if got := r.Took(); !slices.Equal(got, test.want) {
				t.Errorf("took from runs %v, want %v", got, test.want)
			}
			for _, i := range test.want {
				if !slices.Contains(r.Used([]int{0, 1}), i) {
					t.Errorf("run %d is not among those used", i)
				}
			}
			r.Act(Act{Action: test.action, Kind: "edit"})
			if got := r.Took(); len(got) > 0 {
				t.Errorf("it took again, from %v, what it has said itself", got)
			}
		})
	}
}

// TestOddInput proves that nothing a session may hold does harm.
func TestOddInput(t *testing.T) {
	r := NewRanker(nil)
	if from, to := r.See("no call asked for this"); from != 0 || to != 0 {
		t.Error("an observation without a call has runs")
	}
	if len(r.Scores()) != 0 || len(r.Choose(nil, nil, Choice{Cap: 100})) != 0 || r.Used(nil) != nil {
		t.Error("an empty session has something to show")
	}
	r.Hear("")
	odd := []string{"", "\n", "\x00\x01\x02", "\xff\xfe\xfd", strings.Repeat("\x80", 5000), strings.Repeat("9", 1e6), strings.Repeat("a_b/c.go ", 2e5), strings.Repeat("\n", 1e5),
		strings.Repeat("FAILED x\n", 5000), `\n\"\t`, "....//::", strings.Repeat("E  ", 1e5), "ﬁ İstanbul \u2028 x"}
	for _, text := range odd {
		for _, other := range odd[:4] {
			r.Act(Act{Thought: other, Action: text, Kind: "edit", Files: []string{text, "", "/"}})
			r.See(text)
			r.Act(Act{})
		}
		r.Hear(text)
		for i, s := range r.Scores() {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("%.20q: run %d has score %v", text, i, s)
			}
		}
	}
}

// TestOneAnswer proves that a second observation of the same call is refused, as runs are by call.
func TestOneAnswer(t *testing.T) {
	r := NewRanker(nil)
	r.Act(Act{Action: "ls"})
	r.See("a\n")
	if from, to := r.See("b\n"); from != to || r.Len() != 1 {
		t.Errorf("the second answer has runs %d to %d", from, to)
	}
}

func FuzzRanker(f *testing.F) {
	f.Add("fix parse_date", "cat a/b.py", "def parse_date(x):\n  return x\n", "parse_date")
	f.Add("", "\\n\\\"", "\xff\n\n\x00", "E  FAILED")
	f.Fuzz(func(t *testing.T, hear, action, see, thought string) {
		r := NewRanker(nil)
		r.Hear(hear)
		for _, kind := range kindsOfCall {
			r.Act(Act{Thought: thought, Action: action, Kind: kind})
			if from, to := r.See(see); to-from != len(Cut(see)) {
				t.Fatalf("%d runs, cut into %d", to-from, len(Cut(see)))
			}
			for i, s := range r.Scores() {
				if !(s >= 0 && s <= 1) {
					t.Fatalf("run %d has score %v", i, s)
				}
			}
		}
	})
}

// big is a session with so many runs.
func big(runs int) *Ranker {
	r := NewRanker(nil)
	for seed := uint64(0); r.Len() < runs; seed++ {
		for _, e := range session(seed, 40) {
			e.tell(r)
		}
	}
	return r
}

func benchmarkScores(b *testing.B, runs int) {
	r := big(runs)
	for b.Loop() {
		r.changed()
		r.Scores()
	}
	b.ReportMetric(float64(r.Len()), "runs")
}

func BenchmarkScores5000(b *testing.B)  { benchmarkScores(b, 5000) }
func BenchmarkScores20000(b *testing.B) { benchmarkScores(b, 20000) }

// BenchmarkSession is a session of 10,000 observations, with what it keeps in memory.
func BenchmarkSession(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := NewRanker(nil)
		for seed := range uint64(250) {
			for _, e := range session(seed, 40) {
				e.tell(r)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB")
		b.ReportMetric(float64(r.Len()), "runs")
		runtime.KeepAlive(r)
	}
}
