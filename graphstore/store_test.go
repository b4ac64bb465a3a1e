package graphstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// open opens a store in a new folder. When the test ends, Check must find nothing wrong with it.
func open(t testing.TB, opts *Options) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if errors.Is(check(t, s), ErrClosed) {
			return // the test closed it, to look at it in another way
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// check fails the test for every promise that the store breaks.
func check(t testing.TB, s *Store) error {
	t.Helper()
	report, err := s.Check(context.Background())
	if err != nil && !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
	return err
}

// chain is n nodes, each after the one before it.
func chain(session string, n int) []Node {
	nodes := make([]Node, n)
	previous := Root(session)
	for i := range nodes {
		step := Step{
			Thought: fmt.Sprintf("thought %d", i),
			Calls: []Call{{Name: "bash", Args: fmt.Sprintf(`{"cmd":"echo %d"}`, i),
				Observation: &Observation{Text: strings.Repeat(fmt.Sprintf("line %d\n", i), 100)}}},
		}
		nodes[i] = Node{ID: Identify(previous, step), Previous: previous, Seq: i, Step: step,
			Files:  []string{fmt.Sprintf("src/f%d.go", i%3)},
			Tokens: Tokens{Thought: 2, Calls: []int{5}, Observations: []int{300}}}
		if i > 0 {
			nodes[i].Parents = []Parent{{ID: previous, Kind: Previous, Score: 0.1, By: "rules", Candidate: true}}
		}
		previous = nodes[i].ID
	}
	return nodes
}

func put(t testing.TB, s *Store, session string, nodes ...Node) {
	t.Helper()
	if err := s.Put(context.Background(), session, nodes...); err != nil {
		t.Fatal(err)
	}
}

func all(t testing.TB, s *Store, session string) []Node {
	t.Helper()
	var out []Node
	for n, err := range s.Session(context.Background(), session) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func TestWhatIsPutIsRead(t *testing.T) {
	ctx := context.Background()
	s := open(t, nil)
	want := chain("a/b \"c\" %2F", 130)
	put(t, s, "a/b \"c\" %2F", want[:100]...)
	put(t, s, "a/b \"c\" %2F", want[100:]...)
	if d := cmp.Diff(want, all(t, s, "a/b \"c\" %2F")); d != "" {
		t.Fatal(d)
	}
	path, err := s.Path(ctx, "a/b \"c\" %2F", want[129].ID)
	if err != nil || len(path) != 130 || path[0] != want[0].ID || path[129] != want[129].ID {
		t.Fatal(len(path), err)
	}
	got, err := s.Ancestry(ctx, "a/b \"c\" %2F", want[129].ID, Walk{W: 5})
	if err != nil || len(got) != 5 || got[4].ID != want[124].ID || got[4].Depth != 5 || got[4].Via != want[125].ID {
		t.Fatal(got, err)
	}
	if _, err := s.Get(ctx, "none", want[0].ID); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}
