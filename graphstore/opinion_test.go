package graphstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// three keeps three nodes in session a.
func three(t *testing.T, s *graphstore.Store) []graphstore.Node {
	t.Helper()
	var nodes []graphstore.Node
	previous := graphstore.Root("a")
	for i, thought := range []string{"one", "two", "three"} {
		step := graphstore.Step{Thought: thought, Calls: []graphstore.Call{{Name: "bash", Observation: &graphstore.Observation{Text: strings.Repeat(thought, 200)}}}}
		n := graphstore.Node{ID: graphstore.Identify(previous, step), Previous: previous, Seq: i, Step: step, Summary: "by rules"}
		nodes, previous = append(nodes, n), n.ID
	}
	if err := s.Put(context.Background(), "a", nodes...); err != nil {
		t.Fatal(err)
	}
	return nodes
}

func TestOpinionsStandBesideTheNode(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := graphstore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := three(t, s)
	say := func(by string, of, parent graphstore.NodeID, summary string) graphstore.Opinion {
		return graphstore.Opinion{Node: of, By: by, Summary: summary, Origin: graphstore.Origin{Model: by, Digest: "sha256:" + by, Prompt: "p1", Calls: 1, In: 200, Out: 7, Took: 3 * time.Second},
			Parents: []graphstore.Parent{{ID: parent, Kind: graphstore.Model, Score: 0.005, Reason: "it says so", By: by}}}
	}
	first, second, newer := say("m", n[2].ID, n[0].ID, "s"), say("mm", n[2].ID, n[1].ID, "t"), say("m", n[2].ID, n[1].ID, "u")
	other := say("m", n[1].ID, n[0].ID, "v")
	other.Vector = []float32{0.5, -1}
	if err := s.Opine(ctx, "a", first, second, other); err != nil {
		t.Fatal(err)
	}
	if err := s.Opine(ctx, "a", newer); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = graphstore.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept := other
	kept.Vector = nil
	got, err := s.Opinions(ctx, "a", "m")
	if diff := cmp.Diff(map[graphstore.NodeID]graphstore.Opinion{n[2].ID: newer, n[1].ID: kept}, got); diff != "" || err != nil {
		t.Errorf("%v; the newest of each node (-want +got):\n%s", err, diff)
	}
	on, err := s.OpinionsOn(ctx, "a", n[2].ID)
	if diff := cmp.Diff([]graphstore.Opinion{newer, second}, on); diff != "" || err != nil {
		t.Errorf("%v; of each controller (-want +got):\n%s", err, diff)
	}
	names, err := s.Opiners(ctx, "a")
	if diff := cmp.Diff([]string{"m", "mm"}, names); diff != "" || err != nil {
		t.Errorf("%v; controllers (-want +got):\n%s", err, diff)
	}
	vectors, err := s.Vectors(ctx, "a", "sha256:m", n[0].ID, n[1].ID)
	if diff := cmp.Diff(map[graphstore.NodeID][]float32{n[1].ID: {0.5, -1}}, vectors); diff != "" || err != nil {
		t.Errorf("%v; vectors (-want +got):\n%s", err, diff)
	}
	if vectors, err := s.Vectors(ctx, "a", "sha256:mm", n[1].ID); len(vectors) > 0 || err != nil {
		t.Errorf("another model has the vectors %v, %v", vectors, err)
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	n = three(t, s)
	if on, err := s.OpinionsOn(ctx, "a", n[2].ID); len(on) > 0 || err != nil {
		t.Errorf("a new session of the name has opinions: %v, %v", on, err)
	}
	if report, err := s.Check(ctx); err != nil || len(report.Problems) > 0 {
		t.Errorf("check: %v, %v", report.Problems, err)
	}
}

// JSON names the unit of a time; what is stored keeps the name it had, so that older stores tell it too.
func TestOriginNamesItsUnit(t *testing.T) {
	o := graphstore.Origin{Took: 3 * time.Second}
	text, err := json.Marshal(o)
	if want := `{"took_ns":3000000000}`; string(text) != want || err != nil {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	stored, err := cbor.Marshal(map[string]int64{"took": int64(o.Took)})
	if err != nil {
		t.Fatal(err)
	}
	var got graphstore.Origin
	if err := cbor.Unmarshal(stored, &got); got != o || err != nil {
		t.Errorf("%v, %v, want %v", got, err, o)
	}
}

func TestOpinionsThatAreRefused(t *testing.T) {
	ctx := context.Background()
	s, err := graphstore.Open("", &graphstore.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := three(t, s)
	sound := graphstore.Opinion{Node: n[1].ID, By: "m", Origin: graphstore.Origin{Digest: "d"}}
	for _, tt := range []struct {
		reason string
		change func(*graphstore.Opinion)
		is     error
	}{
		{"a node that is not there", func(o *graphstore.Opinion) { o.Node = graphstore.Root("x") }, graphstore.ErrNotFound},
		{"a node that is none", func(o *graphstore.Opinion) { o.Node = "nonsense" }, graphstore.ErrNotFound},
		{"a parent that is not there", func(o *graphstore.Opinion) { o.Parents = []graphstore.Parent{{ID: graphstore.Root("x")}} }, graphstore.ErrNotFound},
		{"a later parent, which would be a cycle", func(o *graphstore.Opinion) { o.Parents = []graphstore.Parent{{ID: n[2].ID}} }, nil},
		{"nobody's opinion", func(o *graphstore.Opinion) { o.By = "" }, nil},
		{"a name that fits no key", func(o *graphstore.Opinion) { o.By = strings.Repeat("m", 256) }, nil},
		{"a digest that fits no key", func(o *graphstore.Opinion) { o.Origin.Digest = strings.Repeat("d", 256) }, nil},
		{"a vector with what is no number", func(o *graphstore.Opinion) { o.Vector = []float32{1, float32(math.NaN())} }, nil},
		{"an endless vector", func(o *graphstore.Opinion) { o.Vector = make([]float32, 16<<10+1) }, nil},
		{"babble without end", func(o *graphstore.Opinion) {
			for i := range 40000 {
				o.Parents = append(o.Parents, graphstore.Parent{ID: n[0].ID, Reason: time.Unix(int64(i)*7919, 0).String()})
			}
		}, nil},
	} {
		o := sound
		tt.change(&o)
		if err := s.Opine(ctx, "a", sound, o); err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if all, err := s.Opinions(ctx, "a", "m"); len(all) > 0 || err != nil {
			t.Errorf("%s: the sound one beside it was kept: %v, %v", tt.reason, all, err)
		}
	}
	if err := s.Opine(ctx, "b", sound); !errors.Is(err, graphstore.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}

func TestAdopt(t *testing.T) {
	ctx := context.Background()
	s, err := graphstore.Open("", &graphstore.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := three(t, s)
	if err := s.SetHead(ctx, "a", n[0].ID); err != nil {
		t.Fatal(err)
	}
	better := n[1]
	better.Step = n[1].Step.Clone()
	better.Step.Calls[0].Observation.Text = "" // as a node is held in memory
	better.Summary, better.Parents = "by a model", []graphstore.Parent{{ID: n[0].ID, Kind: graphstore.Model, By: "m", Candidate: true}}
	if err := s.Adopt(ctx, "a", better, graphstore.Opinion{Node: n[1].ID, By: "m", Summary: "by a model"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(ctx, "a", n[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Summary != "by a model" || len(got.Parents) != 1 || got.Step.Calls[0].Observation.Text != n[1].Step.Calls[0].Observation.Text {
		t.Errorf("the node became %+v", got)
	}
	if info, err := s.Info(ctx, "a"); err != nil || info.Head != n[0].ID {
		t.Errorf("the head moved to %s, %v", info.Head, err)
	}
	if walk, err := s.Ancestry(ctx, "a", n[1].ID, graphstore.Walk{}); err != nil || len(walk) != 1 {
		t.Errorf("its edge is not walked: %v, %v", walk, err)
	}
	step := graphstore.Step{Thought: "new"}
	fresh := graphstore.Node{ID: graphstore.Identify(n[2].ID, step), Previous: n[2].ID, Seq: 3, Step: step}
	if err := s.Adopt(ctx, "a", fresh, graphstore.Opinion{Node: fresh.ID, By: "m"}); !errors.Is(err, graphstore.ErrNotFound) {
		t.Errorf("a node that was never put: %v, want ErrNotFound", err)
	}
	worse := better
	worse.Summary = "not kept"
	if err := s.Adopt(ctx, "a", worse, graphstore.Opinion{Node: n[1].ID}); err == nil {
		t.Error("an opinion of nobody was adopted")
	}
	if got, err := s.Get(ctx, "a", n[1].ID); err != nil || got.Summary != "by a model" {
		t.Errorf("half of it was kept: %q, %v", got.Summary, err)
	}
	if report, err := s.Check(ctx); err != nil || len(report.Problems) > 0 {
		t.Errorf("check: %v, %v", report.Problems, err)
	}
}
