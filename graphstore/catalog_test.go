package graphstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// Describe and Put each keep their part of what the catalog says.
func TestCatalog(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	at := func(hour int) time.Time { return time.Date(2025, 1, 2, hour, 0, 0, 0, time.UTC) }
	old := SessionInfo{Name: "old", Title: "a title", Task: strings.Repeat("é", maxTask), Format: "atif", Source: "/x", Agent: "a", Model: "m", Dir: "/d", Parent: "p", Created: at(1), Updated: at(2)}
	if err := s.Describe(ctx, old); err != nil {
		t.Fatal(err)
	}
	nodes := chain("old", 3)
	for i := range nodes {
		nodes[i].Step.Time = at(3 + i)
	}
	put(t, s, "old", nodes...)
	put(t, s, "new", chain("new", 2)...) // its steps have no time: they are taken now
	want := old
	want.Task = strings.Repeat("é", maxTask/2)
	want.Updated, want.Head, want.Nodes, want.Tokens = at(5), nodes[2].ID, 3, 3*307
	got, err := s.Sessions(ctx)
	if err != nil || len(got) != 2 || got[0].Name != "new" || time.Since(got[0].Updated) > time.Minute {
		t.Fatal(got, err)
	}
	if d := gocmp.Diff(want, got[1]); d != "" {
		t.Error(d)
	}

	if err := s.SetHead(ctx, "old", nodes[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Describe(ctx, SessionInfo{Name: "old", Title: "another"}); err != nil {
		t.Fatal(err)
	}
	want = SessionInfo{Name: "old", Title: "another", Created: at(1), Updated: at(5), Head: nodes[1].ID, Nodes: 3, Tokens: 3 * 307}
	info, err := s.Info(ctx, "old")
	if d := gocmp.Diff(want, info); d != "" || err != nil {
		t.Error(d, err)
	}

	for what, err := range map[string]error{
		"head that is no node":        s.SetHead(ctx, "old", Root("old")),
		"head in a session not there": s.SetHead(ctx, "none", nodes[0].ID),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Describe(ctx, SessionInfo{}); err == nil {
		t.Error("a session without a name was described")
	}
}

func TestFind(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	want := map[NodeID]string{}
	for _, name := range []string{"a", "b"} {
		nodes := chain(name, 200)
		put(t, s, name, nodes...)
		for _, n := range nodes {
			want[n.ID] = name
		}
	}
	one := chain("b", 1)[0].ID
	for _, prefix := range []string{string(one), string(one[:31]), strings.ToUpper(string(one[:8])), string(one[:2]), string(one[:1])} {
		got, err := s.Find(ctx, prefix)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for id := range want {
			if strings.HasPrefix(string(id), strings.ToLower(prefix)) {
				n++
			}
		}
		for _, f := range got {
			if want[f.ID] != f.Session || !strings.HasPrefix(string(f.ID), strings.ToLower(prefix)) {
				t.Errorf("%s: found %v", prefix, f)
			}
		}
		if len(got) != n {
			t.Errorf("%s: found %d of %d", prefix, len(got), n)
		}
	}
	for _, prefix := range []string{"", "x", "0g", "é", string(one) + "0"} {
		if got, err := s.Find(ctx, prefix); err == nil {
			t.Errorf("%q: found %v, want an error", prefix, got)
		}
	}
}
