package engine_test

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Rules asked again say what they said, also of steps whose failure was fixed since.
func TestReweaveByRules(t *testing.T) {
	ctx := context.Background()
	seed := time.Now().UnixNano()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	if _, err := s.Sync(ctx, worked(rand.New(rand.NewSource(seed)), 250), nil); err != nil {
		t.Fatal(err)
	}
	told := 0
	got, err := s.Reweave(ctx, engine.Reweaving{By: "rules", Selector: controller.Rules{}, Each: func(engine.Node, engine.Opinion) { told++ }})
	if err != nil || got.Steps != 250 || got.Asked != 250 || told != 250 {
		t.Fatalf("seed %d: %+v, told of %d, %v", seed, got, told, err)
	}
	opinions, err := e.Store().Opinions(ctx, "a", "rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range stored(t, e, "a") {
		o := opinions[n.ID]
		if diff := cmp.Diff(n.Parents, o.Parents); diff != "" {
			t.Fatalf("seed %d: step %d (-first +second):\n%s", seed, n.Seq, diff)
		}
		if o.Summary != n.Summary || o.DependencySummary != n.DependencySummary {
			t.Fatalf("seed %d: step %d: %q, %q, and at first %q, %q", seed, n.Seq, o.Summary, o.DependencySummary, n.Summary, n.DependencySummary)
		}
	}
}

// scripted is a model with a digest, whose prompt can change, which fails when told to.
type scripted struct {
	asked  int
	prompt string
	fails  func(asked int) bool
	err    error
}

func (m *scripted) Model(context.Context) (controller.Model, error) {
	return controller.Model{Name: "m", Digest: "sha256:m"}, nil
}

func (m *scripted) Prompts() []string { return []string{m.prompt} }

func (m *scripted) Select(ctx context.Context, q controller.Question) (controller.Answer, error) {
	if m.asked++; m.fails != nil && m.fails(m.asked) {
		return controller.Answer{}, m.err
	}
	a, err := oldest(ctx, q)
	a.Origin.Digest, a.Origin.Prompt = "sha256:m", m.prompt
	return a, err
}

func TestReweaveGoesOn(t *testing.T) {
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	if _, err := s.Sync(context.Background(), worked(rand.New(rand.NewSource(3)), 30), nil); err != nil {
		t.Fatal(err)
	}
	before := stored(t, e, "a")
	m := &scripted{prompt: "p1", err: errors.New("500")}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := engine.Reweaving{By: "m/chat", Selector: m, Each: func(n engine.Node, _ engine.Opinion) {
		if n.Seq == 10 {
			cancel()
		}
	}}
	if got, err := s.Reweave(ctx, r); !errors.Is(err, context.Canceled) || got.Asked != 10 {
		t.Fatalf("cut short: %+v, %v", got, err)
	}
	r.Each = nil
	for _, tt := range []struct {
		reason       string
		prompt       string
		asked, there int
	}{
		{"what was said before it was cut short is there", "p1", 19, 10},
		{"all is there", "p1", 0, 29},
		{"told otherwise, the model may say otherwise", "p2", 29, 0},
	} {
		m.prompt = tt.prompt
		got, err := s.Reweave(context.Background(), r)
		if err != nil || got.Asked != tt.asked || got.There != tt.there || got.Silent != 1 {
			t.Errorf("%s: %+v, %v", tt.reason, got, err)
		}
	}
	if diff := cmp.Diff(before, stored(t, e, "a")); diff != "" {
		t.Errorf("a second opinion changed the nodes:\n%s", diff)
	}
	m.fails = func(asked int) bool { return asked%2 == 0 }
	r.By = "flaky"
	m.asked = 0
	if got, err := s.Reweave(context.Background(), r); err != nil || got.Failed != 14 {
		t.Errorf("every second question fails: %+v, %v", got, err)
	}
	m.fails = nil
	if got, err := s.Reweave(context.Background(), r); err != nil || got.Asked != 14 || got.There != 15 {
		t.Errorf("what failed is asked again: %+v, %v", got, err)
	}
	m.fails = func(int) bool { return true }
	r.By = "dead"
	if got, err := s.Reweave(context.Background(), r); err == nil || got.Failed != 5 || !strings.Contains(err.Error(), "500") {
		t.Errorf("a dead server: %+v, %v", got, err)
	}
	if _, err := e.Session("nobody").Reweave(context.Background(), r); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}

func TestReweaveAdopts(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	if _, err := s.Sync(ctx, worked(rand.New(rand.NewSource(5)), 40), nil); err != nil {
		t.Fatal(err)
	}
	before := stored(t, e, "a")
	r := engine.Reweaving{By: "m/chat", Selector: &scripted{prompt: "p"}}
	if _, err := s.Reweave(ctx, r); err != nil {
		t.Fatal(err)
	}
	r.Adopt = true // what is there is adopted without being asked again
	for range 2 {
		if got, err := s.Reweave(ctx, r); err != nil || got.There != 39 || got.Asked != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	edges := 0
	for i, n := range stored(t, e, "a") {
		model := byModel(n)
		edges += len(model)
		if len(model) > 1 || !cmp.Equal(before[i].Parents, n.Parents[:len(before[i].Parents)]) {
			t.Errorf("step %d: %+v became %+v", i, before[i].Parents, n.Parents)
		}
	}
	if edges < 20 {
		t.Errorf("%d edges were adopted", edges)
	}
	r.Trust = true
	if _, err := s.Reweave(ctx, r); err != nil {
		t.Fatal(err)
	}
	for i, n := range stored(t, e, "a") {
		for j, p := range n.Parents {
			if p.Kind == graphstore.Model && !p.Candidate {
				t.Errorf("step %d: a trusted edge is not selected", i)
			}
			if p.Kind == graphstore.Model && j > 0 && n.Parents[j-1].Kind == graphstore.Previous {
				t.Errorf("step %d: a guess comes before a trusted edge: %+v", i, n.Parents)
			}
		}
	}
}

// A cascade asks about no more than its share, however often the session is gone through.
func TestReweaveByCascade(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	if _, err := s.Sync(ctx, worked(rand.New(rand.NewSource(7)), 80), nil); err != nil {
		t.Fatal(err)
	}
	m := &scripted{prompt: "p"}
	for i := range 3 {
		r := engine.Reweaving{By: "m/chat", Selector: &controller.Cascade{Chooser: m, Name: "m/chat", Share: 0.1}, Adopt: true} // as after a restart
		got, err := s.Reweave(ctx, r)
		if err != nil || m.asked < 4 || m.asked > 8 || got.Asked+got.There != m.asked || i > 0 && got.Asked > 0 || got.Steps != 80 {
			t.Errorf("time %d: %+v, %v; the model was asked %d times", i, got, err, m.asked)
		}
	}
}

// A failure takes nothing back, and a model that answers some steps is asked about all.
func TestReweaveOutlastsUselessAnswers(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	if _, err := s.Sync(ctx, worked(rand.New(rand.NewSource(11)), 40), nil); err != nil {
		t.Fatal(err)
	}
	m := &scripted{prompt: "p1", err: errors.New("500")}
	r := engine.Reweaving{By: "m/chat", Selector: m, Adopt: true}
	if _, err := s.Reweave(ctx, r); err != nil {
		t.Fatal(err)
	}
	before := stored(t, e, "a")
	said, err := e.Store().Opinions(ctx, "a", "m/chat")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason string
		err    error
		from   int // the question from which on all fail
		asked  int // and how many are asked then
	}{
		{"the server is gone", controller.ErrNoServer, 1, 5},
		{"it goes", controller.ErrServer, 20, 24},
		{"the model is of no use", controller.ErrBabble, 1, 5},
		{"it is of no use for these steps", controller.ErrBabble, 2, 39},
		{"it makes words up", controller.ErrInvented, 2, 39},
		{"its context is small", controller.ErrTooLong, 2, 39},
	} {
		m.asked, m.prompt, m.err = 0, m.prompt+"x", tt.err // told otherwise, so that all are asked again
		m.fails = func(asked int) bool { return asked >= tt.from }
		got, err := s.Reweave(ctx, r)
		if m.asked != tt.asked || got.Failed != tt.asked-tt.from+1 || errors.Is(err, engine.ErrController) != (tt.asked < 39) {
			t.Errorf("%s: asked %d times, %+v, %v; want %d", tt.reason, m.asked, got, err, tt.asked)
		}
		now, err := e.Store().Opinions(ctx, "a", "m/chat")
		if err != nil {
			t.Fatal(err)
		}
		for id, o := range said {
			if !cmp.Equal(o.Parents, now[id].Parents) {
				t.Errorf("%s: the opinion %+v became %+v", tt.reason, o, now[id])
			}
		}
		if diff := cmp.Diff(before, stored(t, e, "a")); diff != "" {
			t.Fatalf("%s: the steps changed:\n%s", tt.reason, diff)
		}
	}
}
