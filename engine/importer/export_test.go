package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// readBack exports the steps and reads the file again.
func readBack(t testing.TB, info graphstore.SessionInfo, steps []graphstore.Step) (*Trajectory, []byte) {
	t.Helper()
	var nodes []graphstore.Node
	for i, s := range steps {
		nodes = append(nodes, graphstore.Node{ID: graphstore.NodeID(fmt.Sprintf("%032d", i)), Seq: i, Step: s})
	}
	var b bytes.Buffer
	if err := Export(&b, info, nodes); err != nil {
		t.Fatal(err)
	}
	ts, err := Read(bytes.NewReader(b.Bytes()), "x.json", Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	if len(ts) != 1 || ts[0].Format != "atif" {
		t.Fatalf("read back as %d trajectories of %s", len(ts), ts[0].Format)
	}
	return ts[0], b.Bytes()
}

// asJSON is the steps as JSON can hold them.
func asJSON(steps []graphstore.Step) []graphstore.Step {
	var out []graphstore.Step
	for _, s := range steps {
		s = s.Clone()
		s.Raw = nil
		s.Thinking, s.Thought, s.Model = wellFormed(s.Thinking), wellFormed(s.Thought), wellFormed(s.Model)
		for i := range s.Before {
			s.Before[i].Text = wellFormed(s.Before[i].Text)
		}
		for i := range s.Calls {
			c := &s.Calls[i]
			c.ID, c.Name, c.Args = wellFormed(c.ID), wellFormed(c.Name), wellFormed(c.Args)
			if c.Observation != nil {
				c.Observation.Text = wellFormed(c.Observation.Text)
			}
		}
		out = append(out, s)
	}
	return out
}

func TestExportReadsBack(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		steps := someSteps(r)
		info := graphstore.SessionInfo{Name: "s", Agent: some(r, "", "codex"), Model: some(r, "", "m"), Title: some(r, "", "t"), Dir: "/r"}
		got, file := readBack(t, info, steps)
		if diff := cmp.Diff(asJSON(steps), got.Steps, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-kept +read back)\n%s\n%s", seed, diff, file)
		}
		if got.Name != "s" || got.Agent != info.Agent || got.Model != info.Model || got.Title != info.Title || got.Dir != info.Dir {
			t.Fatalf("seed %d: read back as %+v, not %+v", seed, got, info)
		}
		if bad := conforms(file); bad != "" {
			t.Fatalf("seed %d: no ATIF: %s\n%s", seed, bad, file)
		}
	}
}

func some[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func someText(r *rand.Rand) string {
	return some(r, "", "plain", "two\nlines\r\n", "ünïcode 漢字 \U0001F600", "bad \xff\xfe utf8", "nul \x00 esc \x1b[31m",
		"<a&b>", "line\u2028end", "Performed context compaction.", `back\slash "quoted"`, strings.Repeat("long ", 2000))
}

func someArgs(r *rand.Rand) string {
	return some(r, someText(r), `{}`, `{"a":1,"a":2}`, `{ "spaced" : 1 }`, `{"big":12345678901234567890,"e":1e400}`, `{"u":"\u00fc"}`, `{"u":"ü"}`,
		`[1]`, `"text"`, `null`, `{"broken":`, "{\"raw\":\"\xff\"}", `{"input":"x"}`, `{"lone":"\ud800"}`)
}

func someSteps(r *rand.Rand) []graphstore.Step {
	var steps []graphstore.Step
	for range 1 + r.IntN(5) {
		s := graphstore.Step{Thinking: someText(r), Thought: someText(r), Model: some(r, "", "m2")}
		if r.IntN(2) == 0 {
			s.Time = time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
		}
		for range r.IntN(4) {
			s.Before = append(s.Before, graphstore.Message{
				Role: some(r, graphstore.System, graphstore.User, graphstore.Orphan), Text: someText(r),
				Images: some(r, 0, 0, 2), Compaction: r.IntN(4) == 0,
			})
		}
		for range r.IntN(4) {
			c := graphstore.Call{ID: some(r, "", "call_0", "call_1", "toolu_x", someText(r)), Name: some(r, "", "bash", someText(r)), Args: someArgs(r)}
			if r.IntN(3) > 0 {
				c.Observation = &graphstore.Observation{Text: someText(r), Images: some(r, 0, 0, 1), Failed: r.IntN(2) == 0}
				if r.IntN(2) == 0 {
					code := r.IntN(300) - 20
					c.Observation.ExitCode = &code
				}
			} else {
				c.Joined = r.IntN(2) == 0
			}
			s.Calls = append(s.Calls, c)
		}
		steps = append(steps, s)
	}
	return steps
}

// conforms checks what ATIF v1.7 asks for: which fields there may be and which must, steps
// numbered from 1, fields that only an agent's step has, results that name a call of their step.
func conforms(file []byte) string {
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(file))
	d.UseNumber() // a number may be more than a float64 holds
	if err := d.Decode(&doc); err != nil {
		return err.Error()
	}
	if bad := fields(doc, "schema_version session_id agent steps", "final_metrics extra"); bad != "" {
		return "root: " + bad
	}
	if doc["schema_version"] != "ATIF-v1.7" {
		return "version"
	}
	if bad := fields(doc["agent"].(map[string]any), "name version", "model_name"); bad != "" {
		return "agent: " + bad
	}
	for i, v := range doc["steps"].([]any) {
		if bad := stepConforms(i+1, v.(map[string]any)); bad != "" {
			return fmt.Sprintf("step %d: %s", i+1, bad)
		}
	}
	return ""
}

func stepConforms(number int, s map[string]any) string {
	also := "timestamp extra"
	switch s["source"] {
	case "agent":
		also += " model_name reasoning_content tool_calls observation"
	case "system", "user":
	default:
		return fmt.Sprintf("source %v", s["source"])
	}
	if bad := fields(s, "step_id source message", also); bad != "" {
		return bad
	}
	if s["step_id"] != json.Number(strconv.Itoa(number)) {
		return fmt.Sprintf("step_id %v", s["step_id"])
	}
	if _, ok := s["message"].(string); !ok {
		return "message"
	}
	calls := map[any]bool{}
	list, _ := s["tool_calls"].([]any)
	for _, v := range list {
		c := v.(map[string]any)
		if bad := fields(c, "tool_call_id function_name arguments", ""); bad != "" {
			return "call: " + bad
		}
		if _, ok := c["arguments"].(map[string]any); !ok {
			return "arguments are no object"
		}
		if calls[c["tool_call_id"]] || c["tool_call_id"] == "" {
			return "ids do not tell the calls apart"
		}
		calls[c["tool_call_id"]] = true
	}
	o, _ := s["observation"].(map[string]any)
	results, _ := o["results"].([]any)
	for _, v := range results {
		r := v.(map[string]any)
		if bad := fields(r, "source_call_id content", ""); bad != "" {
			return "result: " + bad
		}
		if !calls[r["source_call_id"]] {
			return fmt.Sprintf("result for %v", r["source_call_id"])
		}
	}
	return ""
}

func fields(v map[string]any, must, may string) string {
	for f := range strings.FieldsSeq(must) {
		if _, ok := v[f]; !ok {
			return "no " + f
		}
	}
	for _, f := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(strings.Fields(must+" "+may), f) {
			return "foreign field " + f
		}
	}
	return ""
}

func TestExportKeepsTheGraph(t *testing.T) {
	node := graphstore.Node{
		ID: "n2", Previous: "n1", Seq: 1, Summary: "runs the tests", DependencySummary: "after the edit", Files: []string{"a.go"}, Action: "test",
		Parents:    []graphstore.Parent{{ID: "n1", Kind: graphstore.Edit, Score: 0.5, Reason: "a.go", Words: []string{"a.go"}, By: "rules", Candidate: true}},
		Validation: graphstore.Superseded, Tests: []graphstore.TestResult{{Runner: "go test", Name: "TestA", Status: graphstore.TestFailed}},
		Evidence: []graphstore.Evidence{{Source: "exit code", Failed: true}}, Fixes: []graphstore.Fix{{Test: "TestA", By: "n9"}},
		Tokens: graphstore.Tokens{Thought: 7},
		Step:   graphstore.Step{Thought: "now the tests"},
	}
	var b bytes.Buffer
	if err := Export(&b, graphstore.SessionInfo{Name: "s"}, []graphstore.Node{node}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Steps []struct {
			Extra struct {
				Own struct{ Node map[string]any } `json:"ctxweaver"`
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	got := doc.Steps[0].Extra.Own.Node
	if _, ok := got["step"]; ok {
		t.Error("the step is said twice")
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back graphstore.Node
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	node.Step = graphstore.Step{}
	if diff := cmp.Diff(node, back); diff != "" {
		t.Errorf("(-node +extra)\n%s", diff)
	}
}

// Agents work on agents: a session may be about any format, and quote it.
func TestExportIsKnownWhateverItSays(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		trace := string(a.Files[0].Data)
		for _, quoted := range []string{trace, trace[:len(trace)/2], trace[len(trace)/2:]} {
			readBack(t, graphstore.SessionInfo{Name: f}, []graphstore.Step{{
				Before: []graphstore.Message{{Role: graphstore.User, Text: quoted}}, Thought: quoted,
			}})
		}
	}
	for _, ends := range []string{`{"turn_history`, `{"schema_version`, `{"messages":[{"role`} {
		readBack(t, graphstore.SessionInfo{Name: "s"}, []graphstore.Step{{Thought: ends}})
	}
}

func TestExportOfNothing(t *testing.T) {
	err := Export(&bytes.Buffer{}, graphstore.SessionInfo{Name: "empty"}, nil)
	if !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("%v, not ErrNothing with the session's name: ATIF asks for a step", err)
	}
}
