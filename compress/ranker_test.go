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
		a := Act{Action: pick([]string{"cat ", "grep ", "edit "}) + pick(seen), Kind: pick(kindsOfCall), Further: random.IntN(5) == 0}
		if !a.Further {
			a.Step = fmt.Sprint("step ", seed, " ", i)
		}
		for range random.IntN(4) {
			a.Links = append(a.Links, Link{fmt.Sprint("step ", seed, " ", random.IntN(i+1)), pick(linkKinds), random.Float64()})
		}
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
		if want := BuiltIn().Score(x); math.Abs(got-want) > 1e-5 {
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
		{"a word within another is not the same", `{"path":"deep/dir/found.go"}`, []int{0}},
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

// TestTookIsWhatAScanFinds proves that what is known of words and lines by number is what all texts, read anew, say.
func TestTookIsWhatAScanFinds(t *testing.T) {
	total := 0
	for seed := range uint64(8) {
		r := NewRanker(nil)
		var said, seen []found
		for k, e := range session(seed, 80) {
			e.tell(r)
			switch {
			case e.act != nil:
				action := find(unescaped.Replace(e.act.Action))
				want := taken(action, said, seen)
				if got := r.Took(); !slices.Equal(got, want) {
					t.Fatalf("seed %d, event %d: %q took from runs %v, want %v", seed, k, e.act.Action, got, want)
				}
				total += len(want)
				said = append(said, action, found{words: find(e.act.Thought).words})
			case e.see != nil:
				for _, x := range Cut(*e.see) {
					seen = append(seen, find((*e.see)[x.From:x.To]))
				}
			default:
				said = append(said, find(e.hear))
			}
		}
	}
	if total == 0 {
		t.Error("nothing was taken")
	}
}

// found are the specific words and the lines of a text, and the lines as they are without a viewer's numbers.
type found struct{ words, lines, bare []string }

func find(text string) found {
	var f found
	for _, w := range specificWord.FindAllString(text, -1) {
		if w = strings.Trim(w, ".-/:"); len(w) >= leastSpecific {
			f.words = append(f.words, w)
		}
	}
	for l := range strings.SplitSeq(text, "\n") {
		if t := strings.TrimSpace(l); len(t) >= leastLine {
			f.lines = append(f.lines, t)
			f.bare = append(f.bare, strings.TrimSpace(unnumbered(l)))
		}
	}
	return f
}

// taken are the newest runs that have what an action takes, once for each thing.
func taken(action found, said, seen []found) []int {
	var out []int
	newest := func(has func(found) bool) {
		if slices.ContainsFunc(seen, has) {
			for i := len(seen) - 1; ; i-- {
				if has(seen[i]) {
					out = append(out, i)
					return
				}
			}
		}
	}
	for i, w := range action.words {
		has := func(f found) bool { return slices.Contains(f.words, w) }
		if !slices.ContainsFunc(said, has) && !slices.Contains(action.words[:i], w) {
			newest(has)
		}
	}
	for i, l := range action.lines {
		as := func(f found) bool { return slices.Contains(f.lines, l) }
		if !slices.ContainsFunc(said, as) && !slices.Contains(action.lines[:i], l) && slices.ContainsFunc(seen, func(f found) bool {
			return slices.Contains(f.lines, l) && slices.Contains(f.bare, l)
		}) {
			newest(func(f found) bool { return slices.Contains(f.bare, l) })
		}
	}
	slices.Sort(out)
	return out
}

// TestForgets proves that a session longer than what is ranked is ranked as far as that goes, and holds no more lists than
// twice that.
func TestForgets(t *testing.T) {
	r := NewRanker(nil)
	for i := 0; r.Len() < 3*mostRuns; i++ {
		r.Act(Act{Action: "cat part", Kind: "view", Step: fmt.Sprint(i), Links: []Link{{Step: fmt.Sprint(i - 1), Kind: "file", Score: 1}}})
		var b strings.Builder
		for k := range 300 {
			fmt.Fprintf(&b, "%s value_%d\n", strings.Repeat("x", textRun), 300*i+k)
		}
		r.See(b.String())
	}
	r.Act(Act{Action: fmt.Sprint("grep value_", r.Len()-mostRuns/2), Thought: "value_7 is long gone"})
	if !slices.Equal(r.Took(), []int{r.Len() - mostRuns/2}) {
		t.Errorf("took from %v", r.Took())
	}
	scores := r.Scores()
	first := slices.IndexFunc(scores, func(s float64) bool { return s > 0 })
	if n := len(scores) - first; n < mostRuns || n > mostRuns+600 {
		t.Errorf("%d runs are ranked, want %d", n, mostRuns)
	}
	if r.Features(first-1) != nil || r.Features(first) == nil {
		t.Errorf("features begin elsewhere than scores, at %d", first)
	}
	if n := len(r.specifics.ends); n > 2*mostRuns+600 {
		t.Errorf("the words of %d runs are kept", n)
	}
	if got := r.Choose(make([]bool, r.Len()), scores, Choice{Cap: 1 << 20}); len(got) == 0 || got[0] < first {
		t.Errorf("chose from run %v on", got[:min(len(got), 1)])
	}
}

// TestLinks proves what the graph tells: of the newest step, its parents and theirs, what else rests on them, and
// where that took from.
func TestLinks(t *testing.T) {
	r := NewRanker(nil)
	do := func(name string, links ...Link) int {
		r.Act(Act{Action: "look", Step: name, Links: links})
		run, _ := r.See("seen\n")
		return run
	}
	root := do("root")
	parent := do("parent", Link{"root", "edit", 0.5}, Link{"never there", "edit", 1})
	mate := do("mate")
	sibling := do("sibling", Link{"parent", "file", 0.8}, Link{"mate", "literal", 0.5})
	apart := do("apart")
	r.Act(Act{Action: "look", Step: "now", Links: []Link{{"parent", "literal", 0.5}}})
	r.Act(Act{Action: "look", Further: true, Links: []Link{{"apart", "test", 1}}}) // only a turn's first call has links
	value := func(run int, name string) float64 {
		return float64(r.Features(run)[slices.Index(FeatureNames(), name)])
	}
	for _, test := range []struct {
		run  int
		name string
		want float64
	}{
		{parent, "ancestor", 0.5},
		{root, "ancestor", 0.25},
		{apart, "ancestor", 0},
		{parent, "parent, literal", 0.5},
		{parent, "parent, file", 0},
		{root, "parent, edit", 0},
		{sibling, "sibling", 0.4},
		{apart, "sibling", 0},
		{mate, "siblings rest on it", 0.2},
		{apart, "never linked", 1},
		{root, "never linked", 0},
	} {
		if got := value(test.run, test.name); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("run %d, %s: %v, want %v", test.run, test.name, got, test.want)
		}
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

// benchmarkStep is what a step takes, ranking included, in a session that has so many behind it; and what the session keeps
// in memory.
func benchmarkStep(b *testing.B, steps int) {
	random := rand.New(rand.NewPCG(1, 0))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := NewRanker(nil)
	step := func(i int) {
		word := func() string { return fmt.Sprintf("name_%d", max(0, i-random.IntN(200))*10+random.IntN(10)) }
		a := Act{Thought: "I look at " + word(), Action: "grep " + word() + " pkg/" + word() + ".go", Kind: "search", Step: fmt.Sprint(i)}
		for range 6 {
			a.Links = append(a.Links, Link{Step: fmt.Sprint(max(0, i-1-random.IntN(60))), Kind: "literal", Score: random.Float64()})
		}
		r.Act(a)
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "pkg/mod%d.go: %s = compute(%s, %d) // as it was before\n", random.IntN(500), word(), word(), random.IntN(100))
		}
		r.See(text.String())
	}
	for i := range steps {
		step(i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for i := steps; b.Loop(); i++ {
		step(i)
		r.Scores()
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20)/(float64(steps)/1000), "MB/1000-steps")
	b.ReportMetric(float64(r.Len())/float64(len(r.calls)), "runs/step")
}

func BenchmarkStep1k(b *testing.B)   { benchmarkStep(b, 1_000) }
func BenchmarkStep10k(b *testing.B)  { benchmarkStep(b, 10_000) }
func BenchmarkStep100k(b *testing.B) { benchmarkStep(b, 100_000) }
