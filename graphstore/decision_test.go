package graphstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

func TestDecisions(t *testing.T) {
	ctx := context.Background()
	s, err := graphstore.Open("", &graphstore.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []graphstore.NodeID
	previous := graphstore.Root("a")
	for i, thought := range []string{"one", "two"} {
		step := graphstore.Step{Thought: thought}
		n := graphstore.Node{ID: graphstore.Identify(previous, step), Previous: previous, Seq: i, Step: step}
		if err := s.Put(ctx, "a", n); err != nil {
			t.Fatal(err)
		}
		ids, previous = append(ids, n.ID), n.ID
	}
	for _, d := range []struct {
		policy, text string
		after        graphstore.NodeID
	}{{"p", "first", ids[0]}, {"p", "second", ids[1]}, {"p", "second again", ids[1]}, {"pp", "other", ids[0]}} {
		if err := s.Decide(ctx, "a", d.policy, d.after, []byte(d.text)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Decisions(ctx, "a", "p")
	want := map[graphstore.NodeID][]byte{ids[0]: []byte("first"), ids[1]: []byte("second again")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; one policy's decisions, the newest of each (-want +got):\n%s", err, diff)
	}
	for reason, err := range map[string]error{
		"a session that is not there": s.Decide(ctx, "b", "p", ids[0], nil),
		"a node that is not there":    s.Decide(ctx, "a", "p", graphstore.Root("b"), nil),
	} {
		if !errors.Is(err, graphstore.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", reason, err)
		}
	}
	for _, policy := range []string{"", strings.Repeat("p", 256)} {
		if err := s.Decide(ctx, "a", policy, ids[0], nil); err == nil {
			t.Errorf("a policy's name of %d bytes was taken", len(policy))
		}
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decisions(ctx, "a", "p"); !errors.Is(err, graphstore.ErrNotFound) {
		t.Errorf("after the session was deleted: %v", err)
	}
	if report, err := s.Check(ctx); err != nil || len(report.Problems) > 0 {
		t.Errorf("check: %v, %v", report.Problems, err)
	}
}
