package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// story is a session in which a test fails, the code is read and edited, and the test passes.
func story(t *testing.T) (*graphstore.Store, []graphstore.Node) {
	t.Helper()
	s, err := graphstore.Open("", &graphstore.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := s.Check(context.Background())
		if err != nil || len(report.Problems) > 0 {
			t.Error(err, report.Problems)
		}
		s.Close()
	})
	type edge struct {
		to        int
		kind      graphstore.EdgeKind
		candidate bool
	}
	var nodes []graphstore.Node
	previous := graphstore.Root("story")
	for i, step := range []struct {
		thought, tool, args, out string
		files                    []string
		parents                  []edge
	}{
		{"Look around.", "ls", "{}", "src\ntests", nil, nil},
		{"Run the tests.", "bash", `{"cmd":"pytest"}`, "FAILED test_login", []string{"/w/tests/test_login.py"}, []edge{{0, graphstore.Literal, true}}},
		{"Read it.", "view", `{"path":"src/login.py"}`, "def login(user):\n  return check_token(user)", []string{"src/login.py"}, []edge{{0, graphstore.Literal, true}}},
		{"check_token is wrong.", "edit", `{"path":"src/login.py"}`, "ok", []string{"/w/src/login.py"}, []edge{{2, graphstore.Literal, true}, {2, graphstore.File, true}, {1, graphstore.Test, false}}},
		{"Again.", "bash", `{"cmd":"pytest"}`, "1 passed", []string{"/w/tests/test_login.py"}, []edge{{3, graphstore.Edit, true}}},
		{"Something else.", "view", `{"path":"src/xlogin.py"}`, "", []string{`C:\w\src\xlogin.py`}, nil},
	} {
		n := graphstore.Node{Previous: previous, Seq: i, Summary: fmt.Sprint("summary ", i), Files: step.files, Step: graphstore.Step{
			Thought: step.thought, Calls: []graphstore.Call{{Name: step.tool, Args: step.args, Observation: &graphstore.Observation{Text: step.out}}}}}
		n.ID = graphstore.Identify(previous, n.Step)
		for _, e := range step.parents {
			n.Parents = append(n.Parents, graphstore.Parent{ID: nodes[e.to].ID, Kind: e.kind, Candidate: e.candidate})
		}
		nodes = append(nodes, n)
		previous = n.ID
	}
	nodes[1].Validation = graphstore.Failed
	nodes[1].Tests = []graphstore.TestResult{{Runner: "pytest", Name: "test_login", Status: graphstore.TestFailed}, {Runner: "pytest", Name: "test_open", Status: graphstore.TestErrored}}
	nodes[1].Fixes = []graphstore.Fix{{Test: "test_login", By: nodes[4].ID}}
	nodes[4].Validation = graphstore.Passed
	if err := s.Put(context.Background(), "story", nodes...); err != nil {
		t.Fatal(err)
	}
	return s, nodes
}

// said writes relatives as "seq@depth kinds".
func said(relatives []Relative) string {
	var out []string
	for _, r := range relatives {
		s := fmt.Sprintf("%d@%d", r.Seq, r.Depth)
		for _, e := range r.Edges {
			s += " " + string(e.Kind)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestRelatives(t *testing.T) {
	ctx := context.Background()
	s, nodes := story(t)
	type ask func(context.Context, *graphstore.Store, string, graphstore.NodeID, graphstore.Walk) ([]Relative, error)
	for _, c := range []struct {
		why  string
		ask  ask
		node int
		walk graphstore.Walk
		want string
	}{
		{"all the way, the failed step among them", Ancestors, 4, graphstore.Walk{Facts: true}, "3@1 edit, 2@2 literal file, 1@2 test, 0@3 literal"},
		{"only what may stand in a context", Ancestors, 4, graphstore.Walk{}, "3@1 edit, 2@2 literal file, 0@3 literal"},
		{"no further than asked", Ancestors, 4, graphstore.Walk{Facts: true, Depth: 1}, "3@1 edit"},
		{"no more than asked", Ancestors, 4, graphstore.Walk{W: 2}, "3@1 edit, 2@2 literal file"},
		{"a step that rests on nothing", Ancestors, 0, graphstore.Walk{Facts: true}, ""},
		{"the other way", Descendants, 1, graphstore.Walk{Facts: true}, "3@1 test, 4@2 edit"},
		{"all that rests on the first", Descendants, 0, graphstore.Walk{Facts: true}, "1@1 literal, 2@1 literal, 3@2 test, 4@3 edit"},
		{"the function says which way", Ancestors, 0, graphstore.Walk{Descendants: true}, ""},
	} {
		got, err := c.ask(ctx, s, "story", nodes[c.node].ID, c.walk)
		if err != nil || said(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.why, said(got), err, c.want)
		}
	}
	if _, err := Ancestors(ctx, s, "story", graphstore.Root("x"), graphstore.Walk{}); !errors.Is(err, graphstore.ErrNotFound) {
		t.Error(err)
	}
}

func TestPathBetween(t *testing.T) {
	ctx := context.Background()
	s, nodes := story(t)
	for _, c := range []struct {
		why  string
		a, b int
		want string
	}{
		{"back from a later step", 4, 2, "4@0, 3@1 edit, 2@2 literal file"},
		{"the same if asked the other way round", 2, 4, "4@0, 3@1 edit, 2@2 literal file"},
		{"no way", 5, 0, ""},
		{"a step and itself", 3, 3, ""},
	} {
		got, err := PathBetween(ctx, s, "story", nodes[c.a].ID, nodes[c.b].ID)
		if err != nil || said(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.why, said(got), err, c.want)
		}
	}
}

func TestFailed(t *testing.T) {
	s, nodes := story(t)
	got, err := Failed(context.Background(), s, "story")
	want := []Fate{{"test_login", nodes[4].ID}, {"test_open", ""}}
	if err != nil || len(got) != 1 || got[0].Seq != 1 || fmt.Sprint(got[0].Tests) != fmt.Sprint(want) {
		t.Fatal(got, err)
	}
}

func TestTouching(t *testing.T) {
	s, _ := story(t)
	for _, c := range []struct{ why, file, want string }{
		{"by the last element, under two names", "login.py", "2[src/login.py] 3[/w/src/login.py]"},
		{"by more of the path", "src/login.py", "2[src/login.py] 3[/w/src/login.py]"},
		{"by the whole path", "/w/src/login.py", "3[/w/src/login.py]"},
		{"from another system", "src/xlogin.py", `5[C:\w\src\xlogin.py]`},
		{"a part of an element is none", "ogin.py", ""},
		{"a folder is no file", "src", ""},
	} {
		got, err := Touching(context.Background(), s, "story", c.file)
		var out []string
		for _, g := range got {
			out = append(out, fmt.Sprint(g.Seq, g.Files))
		}
		if join := strings.ReplaceAll(strings.Join(out, " "), " [", "["); err != nil || join != c.want {
			t.Errorf("%s: %s, %v, want %s", c.why, join, err, c.want)
		}
	}
}

func TestUsing(t *testing.T) {
	ctx := context.Background()
	s, _ := story(t)
	got, err := Using(ctx, s, "story", "check_token")
	want := `[2 [{observation 0   return check_token(user)}] 3 [{thought 0 check_token is wrong.}]]`
	var out []any
	for _, u := range got {
		out = append(out, u.Seq, u.Places)
	}
	if err != nil || fmt.Sprint(out) != want {
		t.Fatalf("%v, %v", out, err)
	}
	for word, part := range map[string]string{"pytest": "call", "bash": "call", "1 passed": "observation", "Again": "thought"} {
		if got, err := Using(ctx, s, "story", word); err != nil || len(got) == 0 || got[0].Places[0].Part != part {
			t.Errorf("%s: %v, %v, want it in the %s", word, got, err, part)
		}
	}
	if _, err := Using(ctx, s, "story", ""); err == nil {
		t.Error("no word was looked for")
	}
	if _, err := Using(ctx, s, "none", "x"); !errors.Is(err, graphstore.ErrNotFound) {
		t.Error(err)
	}
}
