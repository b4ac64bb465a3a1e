package graphstore

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// Many goroutines put the same and different nodes into the same and different sessions, while others read,
// delete, check and compact.
func TestConcurrentUse(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	const sessions, steps = 6, 40
	var writers, others sync.WaitGroup
	done := make(chan struct{})
	chains := map[string][]Node{}
	for i := range sessions {
		name := fmt.Sprintf("s%d", i)
		nodes := chain(name, steps)
		chains[name] = nodes
		for range 3 { // three clients that send the same history
			writers.Go(func() {
				for k := range nodes {
					if err := s.Put(ctx, name, nodes[max(0, k-3):k+1]...); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	background := func(what func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := what(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	background(func() error {
		list, err := s.Sessions(ctx)
		if err != nil {
			return err
		}
		for _, i := range list {
			if i.Name == "passing" {
				continue
			}
			if i.Head == "" {
				return fmt.Errorf("session %s has no head", i.Name)
			}
			got, err := s.Ancestry(ctx, i.Name, i.Head, Walk{W: 7})
			if err != nil || len(got) != min(7, i.Nodes-1) {
				return fmt.Errorf("ancestry in a chain of %d: %d nodes, %v", i.Nodes, len(got), err)
			}
			if path, err := s.Path(ctx, i.Name, i.Head); err != nil || len(path) != i.Nodes {
				return fmt.Errorf("path in a chain of %d: %d nodes, %v", i.Nodes, len(path), err)
			}
		}
		return nil
	})
	background(func() error {
		if err := s.Put(ctx, "passing", chain("passing", 5)...); err != nil {
			return err
		}
		return s.Delete(ctx, "passing")
	})
	background(func() error {
		report, err := s.Check(ctx)
		for _, p := range report.Problems {
			if p.Kind != KindDeleted { // "passing" is being deleted
				t.Error(p)
			}
		}
		return err
	})
	others.Go(func() { // not in a loop: each makes new tables
		for range 3 {
			if _, err := s.Compact(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	writers.Wait()
	close(done)
	others.Wait()
	for name, want := range chains {
		if got := all(t, s, name); len(got) != len(want) {
			t.Errorf("session %s: %d of %d nodes", name, len(got), len(want))
		}
	}
}

// The caller may use the store, and close it, in the middle of reading a session.
func TestStoreIsFreeWhileReading(t *testing.T) {
	s := open(t, nil)
	nodes := chain("s", 200)
	put(t, s, "s", nodes[:150]...)
	read := 0
	for n, err := range s.Session(context.Background(), "s") {
		if err != nil {
			break // closed below
		}
		if read++; read == 1 {
			put(t, s, "s", nodes...)
		}
		if n.Seq == 130 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if read < 131 || read == 200 {
		t.Errorf("read %d nodes", read)
	}
}
