package evidence

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxweaver/ctxweaver/engine"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func plainFit(t testing.TB) Fit {
	t.Helper()
	f, err := FitWeights(engine.ReplayOptions{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// short are three small runs of two groups.
func short(t *testing.T) []Session {
	t.Helper()
	var out []Session
	for i, group := range []string{"a", "b", "a"} {
		s, err := NewSession(group+string(rune('0'+i)), "made", group, made(uint64(i), 3, 20+i))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestResume stops a run half-way and goes on with it: what was done is not done again.
func TestResume(t *testing.T) {
	policies := []string{"full", "window:2", "polling:1/5"}
	o := Options{Cache: t.TempDir(), Program: "p"}
	want, err := Run(t.Context(), short(t), policies, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var played atomic.Int32
	counting := func(ctx context.Context, _ []Session) (Fit, error) {
		return Fit{ID: "w", Replay: func(ctx context.Context, steps []engine.Step, policy string, first int, emit func(int, *engine.Window) error) error {
			played.Add(1)
			return plainFit(t).Replay(ctx, steps, policy, first, emit)
		}}, nil
	}
	o.Prepare = counting
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	o.Done = func() {
		if done.Add(1) == 4 {
			cancel()
		}
	}
	if _, err := Run(ctx, short(t), policies, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	kept, err := filepath.Glob(o.Cache + "/*.json.gz")
	if err != nil || len(kept) < 4 {
		t.Fatalf("%d results were kept, %v; want 4 or more", len(kept), err)
	}
	if err := os.WriteFile(kept[0], []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.Done = nil
	for _, whole := range []bool{false, true} {
		played.Store(0)
		got, err := Run(t.Context(), short(t), policies, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Score{}, "Seconds")); diff != "" {
			t.Error(diff)
		}
		if whole && played.Load() > 0 {
			t.Errorf("replayed %d times though all was kept", played.Load())
		}
	}
	o.Program = "another"
	if _, err := Run(t.Context(), short(t), policies, o); err != nil || played.Load() == 0 {
		t.Errorf("another program took the results of this one: %v", err)
	}
}

// TestTogether proves that policies measured in one pass score as they do alone, also with calls in parallel and
// with an end in the middle of a turn.
func TestTogether(t *testing.T) {
	steps := made(4, 3, 30)
	for i := 0; i < len(steps); i += 3 {
		steps[i].Calls = append(steps[i].Calls, engine.Call{Name: "ls", Args: "pkg1", Observation: seen("unit_1.go")})
	}
	s, err := NewSession("parallel", "made", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	policies := []string{"full", "polling:1/5", "clear:2000/3/500", "prune:1000/500", "window:2"}
	for _, first := range []int{0, 14, 15, 16} {
		alone, err := Run(t.Context(), []Session{s}, policies, Options{First: first})
		if err != nil {
			t.Fatal(err)
		}
		together, err := Run(t.Context(), []Session{s}, nil, Options{First: first, Naive: policies})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone, together, cmpopts.IgnoreFields(Score{}, "Seconds")); diff != "" {
			t.Errorf("the first %d calls: %s", first, diff)
		}
		if n := together[0].Score.Requests; first > 0 && n != first {
			t.Errorf("%d requests, want the first %d", n, first)
		}
	}
}

// TestFolds proves that no session is replayed with what it or its group taught.
func TestFolds(t *testing.T) {
	sessions := short(t)
	var taught [][]string
	o := Options{Folds: 2, Prepare: func(_ context.Context, train []Session) (Fit, error) {
		var names []string
		for _, s := range train {
			names = append(names, s.Name)
		}
		taught = append(taught, names)
		return plainFit(t), nil
	}}
	if _, err := Run(t.Context(), sessions, []string{Baseline}, o); err != nil {
		t.Fatal(err)
	}
	if sessions[0].Fold != sessions[2].Fold {
		t.Errorf("one group is in two folds: %d, %d", sessions[0].Fold, sessions[2].Fold)
	}
	if len(taught) != o.Folds {
		t.Fatalf("fitted %d times, want %d", len(taught), o.Folds)
	}
	for _, s := range sessions {
		for _, name := range taught[s.Fold] {
			if name == s.Name {
				t.Errorf("%s taught its own fold", name)
			}
		}
	}
	failed := errors.New("no weights")
	o.Prepare = func(context.Context, []Session) (Fit, error) { return Fit{}, failed }
	if _, err := Run(t.Context(), sessions, []string{Baseline}, o); !errors.Is(err, failed) {
		t.Errorf("a fit that failed: %v", err)
	}
}

func TestGroup(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"runs/django__django-11039.json", "django"},
		{"projects/shop/5f3a.jsonl", "shop"},
		{"runs/__init__.json", "runs"},
	} {
		if got := group(test.path); got != test.want {
			t.Errorf("group(%q) = %q, want %q", test.path, got, test.want)
		}
	}
}

// TestStability: where everything is shown, nothing changes; a window forgets a change, and a boundary that
// moves by steps is moved by noise.
func TestStability(t *testing.T) {
	sessions := short(t)
	results, err := Run(t.Context(), sessions, []string{"full", "window:3", "polling:1/5"}, Options{Stability: true, Seed: 7, First: 15})
	if err != nil {
		t.Fatal(err)
	}
	var by [3]Stability
	for i, r := range results {
		by[i%3].merge(*r.Stability)
	}
	if full := by[0]; full.Drop.Requests == 0 || full.Noise.Requests == 0 || full.Mean() != 0 {
		t.Errorf("full: %+v, want no change", full)
	}
	if window, polling := by[1], by[2]; window.Noise.Mean() == 0 || polling.Noise.Mean() <= window.Noise.Mean() {
		t.Errorf("noise changes a window by %.3f, polling by %.3f; want more than nothing, and more", window.Noise.Mean(), polling.Noise.Mean())
	}
}

func TestSwap(t *testing.T) {
	steps := made(1, 2, 6)
	steps[4].Calls = append(steps[4].Calls, engine.Call{Name: "ls", Observation: seen("x")})
	for seed := range uint64(20) {
		v, ok := swap(random(seed), plainly(steps))
		if !ok {
			t.Fatalf("seed %d: nothing to swap", seed)
		}
		if diff := cmp.Diff([]place{{4, 1}, {4, 0}}, v.origin[4], cmp.AllowUnexported(place{})); diff != "" || v.steps[4].Calls[0].Name != "ls" || v.from != 5 {
			t.Errorf("seed %d: %+v %s", seed, v.steps[4], diff)
		}
	}
	if steps[4].Calls[1].Name != "ls" {
		t.Error("the run itself was changed")
	}
}

// TestReport reads the figures of a run from all that Write leaves.
func TestReport(t *testing.T) {
	sessions := short(t)
	policies := []string{"full", "window:2", "polling:1/5", "clear:1000/2/100"}
	o := Options{Seed: 3}
	results, err := Run(t.Context(), sessions, policies, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(sessions, policies, 2, results, InMoney(engine.PricePresets()[0]), o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	r.Manifest = NewManifest(sessions, policies, 2, o)
	dir := t.TempDir()
	if err := r.Write(dir, results); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recall-cost", "recall-prompt", "session", "paging"} {
		for _, kind := range []string{".png", ".svg"} {
			if info, err := os.Stat(filepath.Join(dir, name+kind)); err != nil || info.Size() < 1000 {
				t.Errorf("%s%s: %v", name, kind, err)
			}
		}
	}
	file, err := os.Open(filepath.Join(dir, "steps.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 1+len(policies)*(20+21+22) {
		t.Errorf("steps.csv has %d rows, %v", len(rows), err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Groups, again.Groups, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, "table.txt"))
	if err != nil || !strings.Contains(string(text), "window:2") || !strings.Contains(string(text), "an estimate") {
		t.Errorf("table.txt: %v\n%s", err, text)
	}
	if _, err := NewReport(sessions, policies[1:], 1, results, InMoney(engine.PricePresets()[0]), 1); err == nil {
		t.Error("a report without the baseline")
	}
}

// scores makes results of one session, of one request each: so many references, held, tokens and uncached tokens.
func scores(rows ...[4]int) (results []Result) {
	for _, r := range rows {
		q := Request{Call: WarmUp, References: r[0], Held: r[1], Prompt: r[2], Uncached: r[3]}
		var s Score
		s.Add(q)
		results = append(results, Result{Score: s, Requests: []Request{q}})
	}
	return results
}

func TestRival(t *testing.T) {
	for _, test := range []struct {
		reason string
		naive  [][4]int
		want   string
		lead   float64
	}{
		{"the best of those that cost no more", [][4]int{{10, 5, 90, 10}, {10, 6, 100, 10}, {10, 2, 50, 5}}, "n1", 0.1},
		{"more prompt is not allowed", [][4]int{{10, 9, 101, 5}, {10, 3, 80, 5}}, "n1", 0.4},
		{"nor is more money for the same prompt", [][4]int{{10, 9, 100, 11}, {10, 3, 80, 5}}, "n1", 0.4},
		{"a naive policy may be better", [][4]int{{10, 9, 100, 10}}, "n0", -0.2},
		{"none may be so cheap", [][4]int{{10, 9, 200, 10}}, "", 0},
	} {
		results := scores(append([][4]int{{10, 10, 400, 20}, {10, 7, 100, 10}}, test.naive...)...)
		policies := []string{Baseline, "tested"}
		for i := range test.naive {
			policies = append(policies, "n"+string(rune('0'+i)))
		}
		r, err := NewReport([]Session{{Format: "f"}}, policies, 2, results, InMoney(engine.PricePresets()[0]), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Groups[0].Frontier[0]
		if got.Naive != test.want || got.Lead.Value-test.lead > 1e-9 || test.lead-got.Lead.Value > 1e-9 {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
}

func TestMoney(t *testing.T) {
	s := Score{Requests: 2, Prompt: 2_000_000, Uncached: 400_000}
	for _, test := range []struct {
		reason string
		prices string
		want   float64 // for a thousand requests of 800,000 cached and 200,000 other tokens
		unit   string
	}{
		{"0.8 × 0.30 + 0.2 × 3.75", "anthropic", 990, "$"},
		{"0.8 × 0.30 + 0.2 × 6", "anthropic-1h", 1440, "$"},
		{"0.8 × 0.125 + 0.2 × 1.5625", "openai", 412.5, "$"},
		{"0.8 × 0.125 + 0.2 × 1.25", "openai-free-write", 350, "$"},
		{"0.8 × 0.125 + 0.2 × 1.25", "gemini", 350, "$"},
		{"0.8 × 0.028 + 0.2 × 0.28", "deepseek", 78.4, "$"},
		{"0.2 million tokens to process, and a fiftieth of 0.8", "local", 216, "M input tokens"},
		{"a million tokens, cached or not", "uncached", 1000, "M input tokens"},
	} {
		ratios, err := engine.ParsePrices(test.prices)
		p := InMoney(ratios)
		if got := s.Money(p); err != nil || p.Unit != test.unit || got-test.want > 1e-6 || test.want-got > 1e-6 {
			t.Errorf("%s: %g %s, want %g %s (%s)", test.prices, got, p.Unit, test.want, test.unit, test.reason)
		}
	}
	for name := range listed {
		if _, err := engine.ParsePrices(name); err != nil {
			t.Errorf("a list price for what the engine does not know: %v", err)
		}
	}
	if got, want := s.Cost(), 330_000.0; got-want > 1e-6 || want-got > 1e-6 {
		t.Errorf("cost %g, want %g", got, want)
	}
}

// TestInterval: the interval holds the figure, is the same each time, and shrinks with more sessions.
func TestInterval(t *testing.T) {
	r := random(5)
	width := func(n int) float64 {
		var rows [][]Score
		for range n {
			rows = append(rows, []Score{{References: 100, Held: 50 + r.IntN(50)}})
		}
		figure := func(s []Score) float64 { return s[0].Recall() }
		i := resample(rows, 1, "x").interval(references, figure)
		if i != resample(rows, 1, "x").interval(references, figure) {
			t.Error("the same seed drew otherwise")
		}
		if i.Low > i.Value || i.High < i.Value {
			t.Errorf("%d sessions: %+v", n, i)
		}
		return i.High - i.Low
	}
	if few, many := width(8), width(200); few <= many || many <= 0 {
		t.Errorf("8 sessions give ± %.3f, 200 give ± %.3f", few/2, many/2)
	}
	if w := width(LeastSessions - 1); w != 0 {
		t.Errorf("too few sessions give an interval of %.3f", w)
	}
	// What takes nothing says nothing: neither that nothing is held, nor that it costs nothing.
	rows := [][]Score{{{References: 10, Held: 10, Requests: 5, Prompt: 50}}}
	for range 7 {
		rows = append(rows, []Score{{}})
	}
	s := resample(rows, 1, "x")
	recall := s.interval(references, func(s []Score) float64 { return s[0].Recall() })
	prompt := s.interval(requests, func(s []Score) float64 { return s[0].MeanPrompt() })
	if want := (Interval{1, 1, 1}); recall != want || prompt != (Interval{10, 10, 10}) {
		t.Errorf("recall %+v, prompt %+v", recall, prompt)
	}
	if none := s.interval(lineReferences, func(s []Score) float64 { return s[0].LineRecall() }); none != (Interval{}) {
		t.Errorf("of no lines: %+v", none)
	}
}
