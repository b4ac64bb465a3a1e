package graphstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// model is what a session should be, kept the naive way.
type model struct {
	session string
	nodes   []Node
	edges   map[NodeID][]edge
	made    int // edges so far
}

type edge struct {
	to        NodeID
	candidate bool
	number    int
}

func (m *model) index(id NodeID) int {
	return slices.IndexFunc(m.nodes, func(n Node) bool { return n.ID == id })
}

func (m *model) put(n Node) {
	if i := m.index(n.ID); i >= 0 {
		m.nodes[i] = n
	} else {
		m.nodes = append(m.nodes, n)
	}
	old := m.edges[n.ID]
	var now []edge
	for _, p := range n.Parents {
		same := func(e edge) bool { return e.to == p.ID && e.candidate == p.Candidate }
		if slices.ContainsFunc(now, same) {
			continue
		}
		if k := len(now); k < len(old) && same(old[k]) && (k == 0 || now[k-1].number == old[k-1].number) {
			now = append(now, old[k])
		} else {
			m.made++
			now = append(now, edge{p.ID, p.Candidate, m.made})
		}
	}
	m.edges[n.ID] = now
}

// walk is Ancestry by the book: §3.4, over lists.
func (m *model) walk(start NodeID, w Walk) []Reached {
	var out []Reached
	seen := map[NodeID]bool{start: true}
	queue := []Reached{{ID: start}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if w.Depth > 0 && at.Depth == w.Depth {
			continue
		}
		for _, id := range m.next(at.ID, w) {
			if seen[id] {
				continue
			}
			seen[id] = true
			r := Reached{ID: id, Depth: at.Depth + 1, Via: at.ID}
			out, queue = append(out, r), append(queue, r)
			if len(out) == w.W {
				return out
			}
		}
	}
	return out
}

func (m *model) next(id NodeID, w Walk) []NodeID {
	var found []edge
	for from, list := range m.edges {
		for _, e := range list {
			if !e.candidate && !w.Facts {
				continue
			}
			if w.Descendants && e.to == id {
				found = append(found, edge{to: from, number: e.number})
			} else if !w.Descendants && from == id {
				found = append(found, e)
			}
		}
	}
	slices.SortFunc(found, func(a, b edge) int { return cmp.Compare(a.number, b.number) })
	if w.M > 0 && len(found) > w.M {
		found = found[:w.M]
	}
	out := make([]NodeID, len(found))
	for i, e := range found {
		out[i] = e.to
	}
	return out
}

// words are texts that have broken stores: of all lengths around the bounds, with bytes that are no text.
func words(rng *rand.Rand) string {
	const odd = "a\x00b \xff\xfe <é\"'%2F\\/\n{}|^`> \u2028 rdf:type _:b0 "
	n := []int{0, 1, 7, 255, 256, 257, 1023, 1025, 5000}[rng.IntN(9)]
	s := fmt.Sprint(rng.Uint64())
	for len(s) < n {
		s += odd[rng.IntN(len(odd)):]
	}
	return s[:n]
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// grow is a new node after one of the model's, mostly the last.
func (m *model) grow(rng *rand.Rand) Node {
	n := Node{Previous: Root(m.session)}
	if len(m.nodes) > 0 && rng.IntN(50) > 0 {
		at := len(m.nodes) - 1
		if rng.IntN(10) == 0 {
			at = rng.IntN(len(m.nodes))
		}
		n.Previous, n.Seq = m.nodes[at].ID, m.nodes[at].Seq+1
	}
	n.Step = Step{Thought: words(rng), Thinking: words(rng), Raw: []byte(words(rng) + "x"), Model: "m\xff", Time: time.Unix(rng.Int64N(1e9), 5).UTC()}
	for range rng.IntN(3) {
		n.Step.Before = append(n.Step.Before, Message{Role: pick(rng, User, System, Orphan), Text: words(rng), Images: rng.IntN(2)})
	}
	for range rng.IntN(4) {
		c := Call{ID: words(rng), Name: pick(rng, "bash", "édit", "a b<c>", ""), Args: words(rng)}
		switch rng.IntN(4) {
		case 0:
			c.Joined = true
		case 1, 2:
			c.Observation = &Observation{Text: words(rng), Failed: rng.IntN(2) == 0, ExitCode: pick(rng, nil, new(int))}
		}
		n.Step.Calls = append(n.Step.Calls, c)
	}
	n.ID = Identify(n.Previous, n.Step)
	m.judge(rng, &n, len(m.nodes))
	return n
}

// judge sets what can change about a node, the parents among the first of the model's.
func (m *model) judge(rng *rand.Rand, n *Node, earlier int) {
	n.Summary, n.DependencySummary = words(rng), words(rng)
	n.Action = pick(rng, "", "edit", "te\x00st", "\xff")
	n.Validation = pick(rng, Unknown, Passed, Failed, Superseded)
	n.Files, n.Tests, n.Fixes, n.Evidence = nil, nil, nil, nil
	for range rng.IntN(4) {
		n.Files = append(n.Files, pick(rng, "a.go", "/x/a.go", "dir with space/é.py", `C:\x\b.go`, "\xff/%41", ""))
		n.Tests = append(n.Tests, TestResult{Runner: "pytest", Name: pick(rng, "t1", "t 2[<é>]", "\xfft"), Status: pick(rng, TestPassed, TestFailed, TestErrored)})
	}
	n.Evidence = append(n.Evidence, Evidence{Source: "exit code", Failed: true, Detail: words(rng)})
	if earlier > 0 && rng.IntN(2) == 0 {
		n.Fixes = append(n.Fixes, Fix{Test: "t1", By: m.nodes[rng.IntN(len(m.nodes))].ID})
	}
	if rng.IntN(3) > 0 || n.Parents == nil {
		n.Parents = nil
		for range rng.IntN(5) {
			if earlier > 0 {
				n.Parents = append(n.Parents, Parent{ID: m.nodes[earlier-1-min(rng.IntN(earlier), rng.IntN(earlier))].ID,
					Kind: pick(rng, Literal, File), Score: rng.Float64(), Reason: words(rng), By: "rules", Candidate: rng.IntN(3) > 0})
			}
		}
	}
	rng.Shuffle(len(n.Parents), func(i, j int) { n.Parents[i], n.Parents[j] = n.Parents[j], n.Parents[i] })
	n.Tokens = Tokens{Thought: rng.IntN(50), Observations: make([]int, len(n.Step.Calls))}
}

// change is one of the model's nodes, judged anew and perhaps with the observations it lacked.
func (m *model) change(rng *rand.Rand) Node {
	i := rng.IntN(len(m.nodes))
	n := m.nodes[i]
	n.Step = n.Step.Clone()
	for k := range n.Step.Calls {
		if c := &n.Step.Calls[k]; c.Open() && rng.IntN(2) == 0 {
			c.Observation = &Observation{Text: words(rng)}
		}
	}
	n.Parents = slices.Clone(n.Parents)
	m.judge(rng, &n, i)
	return n
}

// TestStoreAgreesWithModel does at random what clients do, and asks the store and the model the same.
func TestStoreAgreesWithModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	ctx := context.Background()
	s := open(t, &Options{InMemory: true})
	models := map[string]*model{}
	for round := range 400 {
		name := pick(rng, "one", "two / \x00 <é>", "three")
		m := models[name]
		if m == nil {
			m = &model{session: name, edges: map[NodeID][]edge{}}
			models[name] = m
		}
		switch k := rng.IntN(100); {
		case k == 0:
			if len(m.nodes) == 0 {
				continue
			}
			if err := s.Delete(ctx, name); err != nil {
				t.Fatal(err)
			}
			delete(models, name)
			continue
		case k < 40 && len(m.nodes) > 0:
			n := m.change(rng)
			put(t, s, name, n)
			m.put(n)
		case k < 50:
			written := s.db.MaxVersion()
			put(t, s, name, m.nodes...)
			if s.db.MaxVersion() != written {
				t.Fatalf("round %d: what is there was written again", round)
			}
		default:
			var batch []Node
			for range 1 + rng.IntN(3) {
				n := m.grow(rng)
				batch = append(batch, n)
				m.put(n)
			}
			put(t, s, name, batch...)
		}
		if len(m.nodes) > 0 {
			m.compareWalks(t, rng, s)
		}
	}
	for name, m := range models {
		if len(m.nodes) == 0 {
			continue
		}
		if d := gocmp.Diff(m.nodes, all(t, s, name), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("session %q: %s", name, d)
		}
		info, err := s.Info(ctx, name)
		tokens := 0
		for _, n := range m.nodes {
			tokens += n.Tokens.Total()
		}
		if err != nil || info.Nodes != len(m.nodes) || info.Tokens != tokens || info.Head != m.nodes[len(m.nodes)-1].ID {
			t.Fatalf("session %q: %+v, %v; want %d nodes, %d tokens", name, info, err, len(m.nodes), tokens)
		}
	}
	got, err := s.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, i := range got {
		names[i.Name] = true
	}
	maps.DeleteFunc(models, func(_ string, m *model) bool { return len(m.nodes) == 0 })
	if !slices.Equal(slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(models))) {
		t.Fatalf("sessions %v", names)
	}
}

func (m *model) compareWalks(t *testing.T, rng *rand.Rand, s *Store) {
	t.Helper()
	for range 5 {
		id := m.nodes[rng.IntN(len(m.nodes))].ID
		w := Walk{W: pick(rng, 0, 1, 5, 20), M: pick(rng, 0, 1, 3), Depth: pick(rng, 0, 0, 1, 3),
			Descendants: rng.IntN(2) == 0, Facts: rng.IntN(2) == 0}
		got, err := s.Ancestry(context.Background(), m.session, id, w)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.walk(id, w); !slices.Equal(got, want) {
			t.Fatalf("%+v from %s:\ngot  %v\nwant %v", w, id, got, want)
		}
		path, err := s.Path(context.Background(), m.session, id)
		if err != nil {
			t.Fatal(err)
		}
		if want := m.path(id); !slices.Equal(path, want) {
			t.Fatalf("path to %s:\ngot  %v\nwant %v", id, path, want)
		}
	}
}

func (m *model) path(id NodeID) []NodeID {
	var out []NodeID
	for i := m.index(id); i >= 0; i = m.index(m.nodes[i].Previous) {
		out = append([]NodeID{m.nodes[i].ID}, out...)
	}
	return out
}

// The walk-through of §3.4: node 18 of pytest-5262 with W = 5.
func TestAncestryOfThePaper(t *testing.T) {
	s := open(t, &Options{InMemory: true})
	nodes := chain("pytest-5262", 19)
	for i := range nodes {
		nodes[i].Parents = nil
	}
	link := func(from int, to ...int) {
		for k, p := range to {
			nodes[from].Parents = append(nodes[from].Parents, Parent{ID: nodes[p].ID, Kind: Model, Score: 1 - float64(k)/10, Candidate: true})
		}
	}
	link(18, 16, 12)
	link(12, 8)
	link(8, 6)
	link(16, 14)
	link(14, 8)
	put(t, s, "pytest-5262", nodes...)
	got, err := s.Ancestry(context.Background(), "pytest-5262", nodes[18].ID, Walk{W: 5})
	if err != nil {
		t.Fatal(err)
	}
	var seqs []string
	for _, r := range got {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == r.ID })
		seqs = append(seqs, fmt.Sprintf("%d@%d", i, r.Depth))
	}
	if s := strings.Join(seqs, " "); s != "16@1 12@1 14@2 8@2 6@3" {
		t.Fatal(s)
	}
}
