package graphstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What may not be kept is refused as a whole, changes nothing, and leaves the store fit for the next put.
func TestPutRefuses(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	nodes := chain("s", 6)
	put(t, s, "s", nodes[:3]...)
	other := chain("other", 1)
	put(t, s, "other", other...)
	with := func(n Node, change func(*Node)) Node { change(&n); return n }
	for _, c := range []struct {
		why     string
		session string
		nodes   []Node
		says    string
	}{
		{"a session needs a name", "", nodes[3:4], "no name"},
		{"a name that is not UTF-8 would share its id with others", "\xff", nodes[3:4], "not UTF-8"},
		{"the id is the content's", "s", []Node{with(nodes[3], func(n *Node) { n.ID = nodes[4].ID })}, "named"},
		{"an id that is none", "s", []Node{with(nodes[3], func(n *Node) { n.ID = "x" })}, "named"},
		{"content that is not the id's", "s", []Node{with(nodes[1], func(n *Node) { n.Step.Thought = "other" })}, "named"},
		{"the node before is not there", "s", nodes[4:5], "previous node"},
		{"nodes in the wrong order", "s", []Node{nodes[4], nodes[3]}, "previous node"},
		{"a good node first does not help", "s", []Node{nodes[3], nodes[5]}, "previous node"},
		{"a node of another session", "s", other, "previous node"},
		{"seq of a new node", "s", []Node{with(nodes[3], func(n *Node) { n.Seq = 7 })}, "seq is 3, not 7"},
		{"seq of a stored node", "s", []Node{with(nodes[1], func(n *Node) { n.Seq = 7 })}, "seq is 1, not 7"},
		{"a parent that is not there", "s", []Node{with(nodes[3], func(n *Node) { n.Parents = []Parent{{ID: nodes[5].ID}} })}, "parent"},
		{"a parent in another session", "s", []Node{with(nodes[3], func(n *Node) { n.Parents = []Parent{{ID: other[0].ID}} })}, "parent"},
		{"a parent that is no id", "s", []Node{with(nodes[3], func(n *Node) { n.Parents = []Parent{{ID: "../x"}} })}, "parent"},
		{"a node that is its own parent", "s", []Node{with(nodes[3], func(n *Node) { n.Parents = []Parent{{ID: n.ID}} })}, "no earlier node"},
		{"a parent later in the call", "s", []Node{with(nodes[3], func(n *Node) { n.Parents = []Parent{{ID: nodes[4].ID}} }), nodes[4]}, "no earlier node"},
		{"a change that would make a cycle", "s", []Node{with(nodes[1], func(n *Node) { n.Parents = []Parent{{ID: nodes[2].ID}} })}, "no earlier node"},
		{"a fix by nobody", "s", []Node{with(nodes[3], func(n *Node) { n.Fixes = []Fix{{Test: "t", By: nodes[5].ID}} })}, "fix"},
	} {
		written := s.db.MaxVersion()
		err := s.Put(ctx, c.session, c.nodes...)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one with %q", c.why, err, c.says)
		}
		if s.db.MaxVersion() != written {
			t.Errorf("%s: something was written", c.why)
		}
	}
	put(t, s, "s", nodes...)
	if d := gocmp.Diff(nodes, all(t, s, "s")); d != "" {
		t.Error(d)
	}
}

// An observation that is there stays, with its token count, whatever a client sends later (harnesses
// shorten old ones); what was missing is taken.
func TestPutKeepsObservations(t *testing.T) {
	long := strings.Repeat("a line of output\n", 100)
	at := func(texts ...*string) Node {
		step := Step{Before: []Message{{Role: System, Text: "system"}, {Role: User, Text: "do it"}}, Thought: "two calls"}
		tokens := Tokens{Before: []int{1, 2}, Thought: 2, Observations: []int{0, 0}}
		for i, text := range texts {
			c := Call{Name: "bash", Args: "{}"}
			if text != nil {
				c.Observation = &Observation{Text: *text}
				tokens.Observations[i] = len(*text)
			}
			step.Calls = append(step.Calls, c)
		}
		return Node{ID: Identify(Root("s"), step), Previous: Root("s"), Step: step, Tokens: tokens}
	}
	short, second := "(cut)", "second"
	rotated := at(nil, nil)
	rotated.Step.Before[0].Text, rotated.Tokens.Before = "another system text", []int{9, 2}
	for _, c := range []struct {
		why   string
		given []Node
		want  Node
	}{
		{"an answer arrives for each call", []Node{at(nil, nil), at(&long, nil), at(&long, &second)}, at(&long, &second)},
		{"a shortened observation is ignored", []Node{at(&long, &second), at(&short, &second)}, at(&long, &second)},
		{"and so is one that was taken away", []Node{at(&long, &second), at(nil, nil)}, at(&long, &second)},
		{"an empty one takes nothing from a full one", []Node{at(&long, nil), at(new(string), &second)}, at(&long, &second)},
		{"an empty observation is one", []Node{at(new(string), nil), at(&long, nil)}, at(new(string), nil)},
		{"within one call, too", []Node{at(nil, &second), at(&long, &short)}, at(&long, &second)},
		{"system text may rotate", []Node{at(nil, nil), rotated}, at(nil, nil)},
	} {
		for _, together := range []bool{false, true} {
			s := open(t, &Options{InMemory: true})
			if together {
				put(t, s, "s", c.given...)
			} else {
				for _, n := range c.given {
					put(t, s, "s", n)
				}
			}
			if d := gocmp.Diff([]Node{c.want}, all(t, s, "s"), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s (together %v): %s", c.why, together, d)
			}
		}
	}
}

// A skeleton may be put to change what is known of a node; the texts that it lacks stay.
func TestPutSkeleton(t *testing.T) {
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	want := chain("s", 3)
	want[2].Step.Raw = []byte(strings.Repeat("raw", 200))
	put(t, s, "s", want...)
	sk, err := s.Skeleton(ctx, "s", want[2].ID)
	if err != nil {
		t.Fatal(err)
	}
	if sk.Lengths[0] != len(want[2].Step.Calls[0].Observation.Text) || sk.Step.Calls[0].Observation.Text != "" || sk.Step.Raw != nil {
		t.Fatalf("%+v", sk)
	}
	sk.Validation = Failed
	put(t, s, "s", sk.Node)
	want[2].Validation = Failed
	if d := gocmp.Diff(want, all(t, s, "s")); d != "" {
		t.Fatal(d)
	}
	o, err := s.Observation(ctx, "s", want[2].ID, 0)
	if err != nil || o != *want[2].Step.Calls[0].Observation {
		t.Fatal(o, err)
	}
	for _, call := range []int{-1, 1} {
		if _, err := s.Observation(ctx, "s", want[2].ID, call); !errors.Is(err, ErrNotFound) {
			t.Errorf("call %d: %v", call, err)
		}
	}
}

// Steps larger than a transaction of Badger's, and calls of more steps than one transaction takes, are kept
// as any other; so are fixes that point forward over the seam.
func TestPutWithoutBounds(t *testing.T) {
	for _, inMemory := range []bool{true, false} {
		s := open(t, &Options{InMemory: inMemory, NoSync: true})
		noise := make([]byte, 13<<20)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		nodes := chain("s", maxNodes+120)
		step := Step{Thought: "big", Calls: []Call{{Observation: &Observation{Text: string(noise)}}}, Raw: noise[:7<<20]}
		last := nodes[len(nodes)-1]
		big := Node{ID: Identify(last.ID, step), Previous: last.ID, Seq: last.Seq + 1, Step: step}
		for i := range 20_000 {
			big.Tests = append(big.Tests, TestResult{Runner: "pytest", Name: strings.Repeat("t", i%90), Status: TestFailed})
		}
		nodes = append(nodes, big)
		nodes[0].Validation = Superseded
		nodes[0].Fixes = []Fix{{Test: "a", By: nodes[1].ID}, {Test: "b", By: last.ID}, {Test: "c", By: big.ID}}
		put(t, s, "s", nodes...)
		if !reflect.DeepEqual(nodes, all(t, s, "s")) { // cmp takes a minute over megabytes
			t.Fatalf("in memory %v: what was read is not what was put", inMemory)
		}
		written := s.db.MaxVersion()
		put(t, s, "s", nodes...)
		if s.db.MaxVersion() != written {
			t.Error("the same again was written")
		}
	}
}
