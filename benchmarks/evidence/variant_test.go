package evidence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func TestParseVariant(t *testing.T) {
	walk := func(w, m int) engine.Ablation { return engine.Ablation{Walk: graphstore.Walk{W: w, M: m}} }
	for _, test := range []struct {
		reason, name string
		want         Variant
	}{
		{"a policy is the whole", "window:5", Variant{Name: "window:5", Policy: engine.LatestN(5)}},
		{"in its full name", "bm25", Variant{Name: "bm25:5/5", Policy: engine.BM25(5, 5)}},
		{"a part left out", "workingset without validation", Variant{Name: "workingset without validation", Policy: engine.WorkingSet, Ablation: engine.Ablation{NoValidation: true}}},
		{"at every level", "workingset:lean without graph", Variant{Name: "workingset:lean without graph", Policy: engine.WorkingSetLean, Ablation: engine.Ablation{NoGraph: true}}},
		{"one parent makes a tree, and is called so", "workingset m=1", Variant{Name: "workingset m=1 (tree)", Policy: engine.WorkingSet, Ablation: walk(0, 1)}},
		{"ancestors", "workingset W=20", Variant{Name: "workingset W=20", Policy: engine.WorkingSet, Ablation: walk(20, 0)}},
		{"a policy that has the size in its name is another policy", "paper-tail:3/5 m=1 (tree)", Variant{Name: "paper-tail:3/5 m=1 (tree)", Policy: engine.PaperTail(1, 5)}},
		{"a strategy", "workingset:rich recency", Variant{Name: "workingset:rich recency", Policy: engine.WorkingSetRich, Strategy: engine.Recency}},
		{"either size", "paper:3/5 W=20", Variant{Name: "paper:3/5 W=20", Policy: engine.Paper(3, 20)}},
	} {
		got, err := ParseVariant(test.name)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(engine.Policy{})); err != nil || diff != "" {
			t.Errorf("%s: %q: %v %s", test.reason, test.name, err, diff)
		}
		if again, err := ParseVariant(got.Name); err != nil || again != got {
			t.Errorf("%q reads back as %+v, %v", got.Name, again, err)
		}
	}
	for _, test := range []struct{ reason, name, want string }{
		{"no such policy", "nonsense without graph", "unknown"},
		{"nothing to leave out", "window:5 without validation", "has no parts"},
		{"paper-tail is all graph", "paper-tail:3/5 without graph", "no such variant"},
		{"and goes by it always", "paper-tail:3/5 recency", "no such variant"},
		{"a graph with two parents is no tree", "workingset m=2 (tree)", "no such variant"},
		{"no size", "workingset m=0", "no such variant"},
		{"no change", "workingset ", "no such variant"},
	} {
		if _, err := ParseVariant(test.name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q: error %v, want one with %q", test.reason, test.name, err, test.want)
		}
	}
}

func FuzzParseVariant(f *testing.F) {
	f.Add("workingset m=1 (tree)")
	f.Add("paper:3/5 W=20")
	f.Fuzz(func(t *testing.T, name string) {
		v, err := ParseVariant(name)
		if err != nil {
			return
		}
		if again, err := ParseVariant(v.Name); err != nil || again != v {
			t.Errorf("%q is %+v, which reads back as %+v, %v", name, v, again, err)
		}
	})
}

func TestAblations(t *testing.T) {
	for _, test := range []struct {
		reason, policy string
		want           []string
	}{
		{"all parts, after the whole", "workingset", []string{"workingset", "workingset without validation", "workingset without graph",
			"workingset m=1 (tree)", "workingset m=2", "workingset m=3", "workingset m=5", "workingset W=5", "workingset W=10", "workingset W=20",
			"workingset auto", "workingset structural", "workingset recency"}},
		{"sizes that the name has are the whole", "paper-tail:3/5", []string{"paper-tail:3/5", "paper-tail:3/5 without validation",
			"paper-tail:3/5 m=1 (tree)", "paper-tail:3/5 m=2", "paper-tail:3/5 m=5", "paper-tail:3/5 W=10", "paper-tail:3/5 W=20"}},
	} {
		got, err := Ablations(test.policy)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", test.reason, err, diff)
		}
	}
	if _, err := Ablations("polling:5/20"); err == nil || !strings.Contains(err.Error(), "has no parts") {
		t.Errorf("polling has parts: %v", err)
	}
}

// TestVariantsRun proves that a variant is measured as what it says, and compared with its whole alone.
func TestVariantsRun(t *testing.T) {
	sessions := short(t)
	names := []string{"full", "window:2", "paper:3/5", "paper:3/5 m=1 (tree)", "paper:1/5"}
	results, err := Run(t.Context(), sessions, names, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(results); i += len(names) {
		if diff := cmp.Diff(results[i+4].Requests, results[i+3].Requests); diff != "" {
			t.Errorf("paper:3/5 with one parent is not paper:1/5: %s", diff)
		}
	}
	r, err := NewReport(sessions, names, len(names), results, InMoney(engine.PricePresets()[0]), 1)
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for _, d := range r.Groups[0].Differences {
		pairs = append(pairs, d.A+" − "+d.B)
	}
	want := []string{"paper:3/5 − window:2", "paper:3/5 m=1 (tree) − paper:3/5", "paper:1/5 − window:2", "paper:1/5 − paper:3/5"}
	if diff := cmp.Diff(want, pairs); diff != "" {
		t.Error(diff)
	}
}
