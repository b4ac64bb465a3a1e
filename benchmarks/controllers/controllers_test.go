package controllers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// step runs a command after a thought, and gets an observation.
func step(thought, command, observation string) engine.Step {
	args, _ := json.Marshal(map[string]string{"command": command}) // a string always can
	return engine.Step{Thought: thought, Calls: []engine.Call{{Name: "bash", Args: string(args), Observation: &engine.Observation{Text: observation}}}}
}

// made is a session whose steps print ids and use older ones.
func made(t *testing.T, seed int64, n int) evidence.Session {
	t.Helper()
	rnd := rand.New(rand.NewSource(seed))
	var printed []string
	var steps []engine.Step
	for i := range n {
		command := fmt.Sprintf("make part %d", i)
		if len(printed) > 0 && rnd.Intn(3) > 0 {
			command = "inspect " + printed[rnd.Intn(len(printed))]
		}
		id := fmt.Sprintf("item_%08x", rnd.Uint32())
		printed = append(printed, id)
		steps = append(steps, step("I go on.", command, "done: "+id+strings.Repeat("\nnothing else happened here", 40)))
	}
	steps[0].Before = []engine.Message{{Role: "user", Text: "Make all parts."}}
	s, err := evidence.NewSession(fmt.Sprint("made ", seed), "made", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLiteralParents(t *testing.T) {
	steps := []engine.Step{
		step("", "ls", "item_one item_two known_word"),    // 0
		step("", "cat item_two", "item_three"),            // 1
		step("", "ls again", "item_one"),                  // 2: now the newest holder
		step("", "rm item_one", "ok"),                     // 3
		step("", "rm item_three", "ok"),                   // 4
		step("", "echo known_word", "ok"),                 // 5
		step("", "echo new_word", "ok"),                   // 6
		step("", "rm item_one item_three known_word", ""), // 7: all said before
	}
	steps[0].Before = []engine.Message{{Role: "user", Text: "Use known_word."}}
	s, err := evidence.NewSession("a", "", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	qs, err := questions(context.Background(), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int][]int{1: {0}, 3: {2}, 4: {1}}
	seqs := map[string]int{}
	for _, q := range qs {
		seqs[q.ask.Turn.ID] = q.seq
		var got []int
		for _, id := range q.parents {
			for i, c := range q.ask.Candidates {
				if c.ID == id {
					got = append(got, q.seq-1-i) // all are candidates here
				}
			}
		}
		if !slices.Equal(got, want[q.seq]) {
			t.Errorf("step %d rests on %v, want %v", q.seq, got, want[q.seq])
		}
		if q.near() != (q.seq == 1 || q.seq == 3) {
			t.Errorf("step %d: near is %v", q.seq, q.near())
		}
		if q.edges.N != q.edges.Of {
			t.Errorf("step %d: rules have edges to %d of %d holders", q.seq, q.edges.N, q.edges.Of)
		}
	}
	if len(qs) != 7 {
		t.Errorf("%d questions, want one for each step but the first", len(qs))
	}
}

// bag is a server with an embedding model of words; it dies after so many requests for vectors, unless that is 0.
type bag struct{ asked, dies int }

func (b *bag) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"bag","digest":"d1","size":1000}]}`)
	case "/api/show":
		fmt.Fprint(w, `{"details":{"parameter_size":"1M"},"model_info":{"general.architecture":"bag","bag.context_length":8192},"capabilities":["embedding"]}`)
	case "/api/ps":
		fmt.Fprint(w, `{"models":[{"name":"bag:latest","digest":"d1","size":2000}]}`)
	case "/api/embed":
		if b.asked++; b.dies > 0 && b.asked > b.dies {
			http.Error(w, `{"error":"the runner died"}`, http.StatusInternalServerError)
			return
		}
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var out [][]float32
		for _, text := range q.Input {
			v := make([]float32, 64)
			v[0] = 0.1
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,:;'\"{}\n", r) }) {
				v[1+len(word)*7%63]++
			}
			out = append(out, v)
		}
		json.NewEncoder(w).Encode(map[string]any{"embeddings": out, "prompt_eval_count": 10 * len(out)})
	default:
		http.NotFound(w, r)
	}
}

// measure runs a measurement against the server.
func (b *bag) measure(t *testing.T, sessions []evidence.Session, o Options) (*Report, error) {
	t.Helper()
	server := httptest.NewServer(b)
	defer server.Close()
	m, err := NewModel(context.Background(), controller.OllamaOptions{Host: server.URL, Model: "bag"})
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), sessions, []*Model{m}, o)
}

// What was said is kept through a failure, and nothing is asked twice.
func TestRunGoesOn(t *testing.T) {
	seed := time.Now().UnixNano()
	var sessions []evidence.Session
	for i := range int64(6) {
		sessions = append(sessions, made(t, seed+i, 14))
	}
	kept := t.TempDir()
	o := Options{Sessions: 5, Steps: 4, Planted: 6, Seed: 7, Cache: kept}
	promised := 0
	o.Part = func(_ string, pieces int) { promised += pieces }
	dying := &bag{dies: 9}
	if _, err := dying.measure(t, sessions, o); !errors.Is(err, controller.ErrServer) || !strings.Contains(fmt.Sprint(err), "bag/embeddings: ") {
		t.Fatalf("%v, want one that names the model and its server's failure", err)
	}
	promised = 0
	counted := make(chan struct{}, 1000)
	o.Done = func() { counted <- struct{}{} }
	b := &bag{}
	first, err := b.measure(t, sessions, o)
	if err != nil {
		t.Fatal(err)
	}
	if done := len(counted); done != promised {
		t.Errorf("%d pieces done of %d that were told of", done, promised)
	}
	fresh := &bag{}
	o.Done, o.Part, o.Cache = nil, nil, ""
	if _, err := fresh.measure(t, sessions, o); err != nil {
		t.Fatal(err)
	}
	if b.asked >= fresh.asked {
		t.Errorf("seed %d: %d requests after %d of an earlier run, and %d by one that knows of none", seed, b.asked, dying.dies, fresh.asked)
	}
	o.Cache = kept
	again := &bag{}
	second, err := again.measure(t, sessions, o)
	if err != nil {
		t.Fatal(err)
	}
	if again.asked != 0 {
		t.Errorf("%d requests for what was said already", again.asked)
	}
	var x, y bytes.Buffer
	for report, b := range map[*Report]*bytes.Buffer{first: &x, second: &y} {
		if _, err := report.WriteTo(b); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(x.String(), y.String()); d != "" {
		t.Errorf("seed %d: the same again (-first +second):\n%s", seed, d)
	}
	model := first.Rows[len(first.Rows)-1]
	if model.Memory != 2000 || model.In == 0 || model.Planted.Of != 6 || first.Questions != 20 || model.Plus == nil {
		t.Errorf("%+v", model)
	}
	if rules := first.Rows[0]; rules.Planted.N != 6 || rules.Hit.N != rules.Hit.Of || first.Edges.N != first.Edges.Of {
		t.Errorf("seed %d: rules miss something: %+v", seed, rules)
	}
}

// liar is a server with a chat model that finds no parents, breaks off when it is asked about part 5, and makes words up. A token is five bytes, and marks take ten.
func liar(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"liar","digest":"d2","size":1000}]}`)
	case "/api/show":
		fmt.Fprint(w, `{"details":{"parameter_size":"1M"},"model_info":{"general.architecture":"liar","liar.context_length":8192},"capabilities":["completion"]}`)
	case "/api/chat":
		var q struct {
			Messages []struct{ Content string }
			Format   json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		tokens := 10
		for _, m := range q.Messages {
			tokens += len(m.Content) / 5
		}
		text := "tree"
		switch asked := q.Messages[len(q.Messages)-1].Content; {
		case strings.Contains(asked[strings.LastIndex(asked, "New step:")+1:], "make part 5"):
			fmt.Fprintln(w, `{"message":{"role":"assistant","content":"{\"par"},"done":false}`)
			return
		case strings.Contains(string(q.Format), `"parents"`):
			text = `{"parents":[]}`
		case strings.Contains(string(q.Format), `"summary"`):
			text = `{"summary":"It repaired made_up_name in lie_number_7."}`
		}
		json.NewEncoder(w).Encode(map[string]any{"message": map[string]string{"role": "assistant", "content": text}, "done": true, "prompt_eval_count": tokens, "eval_count": 3})
	default:
		http.NotFound(w, r)
	}
}

// Words that a model makes up are counted before they are refused, and no answer is told from a wrong one.
func TestSummaries(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(liar))
	defer server.Close()
	m, err := NewModel(context.Background(), controller.OllamaOptions{Host: server.URL, Model: "liar"})
	if err != nil {
		t.Fatal(err)
	}
	var steps []engine.Step
	for i := range 7 {
		steps = append(steps, step("", fmt.Sprintf("make part %d", i), "done"))
	}
	idle, err := evidence.NewSession("idle", "", "", steps)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(context.Background(), []evidence.Session{made(t, 1, 12), idle}, []*Model{m}, Options{Steps: 6, Sums: 3})
	if err != nil {
		t.Fatal(err)
	}
	row := report.Rows[len(report.Rows)-1]
	s := row.Summaries
	if s.Made.Of != 3 || s.Made.Invented < 3 || s.Made.Passed != 0 || s.Asked != 3 || s.Refused != 3 || s.Passed != 0 || s.In == 0 {
		t.Errorf("%+v", s)
	}
	if row.Name != "liar/chat" || row.None.N != row.None.Of || row.None.Of == 0 || row.Hit.N != 0 || row.Wrong == 0 {
		t.Errorf("%+v", row)
	}
	var b bytes.Buffer
	if _, err := report.WriteTo(&b); err != nil || !strings.Contains(b.String(), "SUMMARIES BY") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// A measurement that is broken off again and again, also within an exam, comes to what one that runs through does.
func TestRunBrokenOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(liar))
	defer server.Close()
	m, err := NewModel(context.Background(), controller.OllamaOptions{Host: server.URL, Model: "liar"})
	if err != nil {
		t.Fatal(err)
	}
	sessions := []evidence.Session{made(t, 1, 12)}
	o := Options{Steps: 6, Planted: 3, Sums: 7}
	want, err := Run(context.Background(), sessions, []*Model{m}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Cache = t.TempDir()
	part := ""
	o.Part = func(name string, _ int) { part = name }
	for broken := 0; ; broken++ {
		ctx, cancel := context.WithCancel(context.Background())
		done := 0
		o.Done = func() {
			if strings.HasPrefix(part, "liar") { // of what was done before little is left to be done
				if done++; done == 2*broken+2 {
					cancel()
				}
			}
		}
		got, err := Run(ctx, sessions, []*Model{m}, o)
		cancel()
		if err == nil {
			row, through := got.Rows[len(got.Rows)-1], want.Rows[len(want.Rows)-1]
			row.Millis, row.Summaries.Millis = through.Millis, through.Summaries.Millis
			a, _ := json.MarshalIndent(through, "", " ")
			b, err := json.MarshalIndent(row, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(a), string(b)); d != "" || broken < 3 {
				t.Errorf("after %d breaks (-at once +resumed):\n%s", broken, d)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || broken > 50 {
			t.Fatal(err)
		}
	}
}

// However badly a controller chooses, a cascade that does not trust it changes nothing.
func TestCascadeLosesNothing(t *testing.T) {
	seed := time.Now().UnixNano()
	var sessions []evidence.Session
	for i := range int64(5) {
		sessions = append(sessions, made(t, seed+i, 45))
	}
	report, err := Run(context.Background(), sessions, nil, Options{Seed: uint64(seed), Replay: engine.ReplayOptions{Prices: engine.PricePresets()[0]}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range report.Rows[1:] {
		for _, policy := range graded {
			g := row.Gain(policy, string(cascade))
			if g.Asked == 0 || g.Recall.Low < -0.002 || g.Hit.Low < -0.002 {
				t.Errorf("seed %d: %s, %s: %+v", seed, row.Name, policy, g)
			}
		}
		if trust := row.Gain(graded[0], string(trusted)); trust.Asked <= row.Gain(graded[0], string(cascade)).Asked {
			t.Errorf("seed %d: %s is asked no more often when it is trusted: %+v", seed, row.Name, trust)
		}
	}
}

func TestDraws(t *testing.T) {
	qs := make([]question, 50)
	qs[7].parents, qs[30].parents = []string{"a"}, []string{"b"}
	few, many := drawSteps(qs, 5, 3, "a"), drawSteps(qs, 9, 3, "a")
	for _, i := range append(few, 7, 30) {
		if !slices.Contains(many, i) {
			t.Errorf("%v lacks %d", many, i)
		}
	}
	if slices.Equal(few, drawSteps(qs, 5, 4, "a")) || len(drawSteps(qs[:3], 5, 1, "a")) != 3 || len(drawSteps(qs[:3], 0, 1, "a")) != 3 {
		t.Error("a draw does not heed its seed, or does not take all there are")
	}
	var all []evidence.Session
	for i := range 10 {
		all = append(all, evidence.Session{Name: fmt.Sprint(i), Hash: fmt.Sprint(i)})
	}
	got := drawSessions(all, 4, 1)
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	other := drawSessions(backwards, 4, 1)
	slices.Reverse(other)
	if d := cmp.Diff(got, other); d != "" || len(got) != 4 {
		t.Errorf("the draw depends on the order:\n%s", d)
	}
}

func TestShares(t *testing.T) {
	if s := found(tally{50, 50}); s.Value != 1 || s.High != 1 || s.Low < 0.92 || s.Low > 0.94 {
		t.Errorf("50 of 50: %+v", s) // Wilson: 0.929
	}
	if s := found(tally{}); s.Value != 0 || s.High != 0 {
		t.Errorf("nothing: %+v", s)
	}
	sessions := []tally{{1, 2}, {2, 2}, {0, 2}, {1, 2}, {1, 2}}
	s := shareOf(sessions, 1)
	if s.Value != 0.5 || !(s.Low < 0.5 && s.High > 0.5) || s.Of != 10 {
		t.Errorf("%+v", s)
	}
	if d := differenceOf(sessions, sessions, 1); d.Low != 0 || d.High != 0 {
		t.Errorf("nothing differs from itself: %+v", d)
	}
	if s := shareOf(sessions[:4], 1); s.Low != s.High {
		t.Errorf("four sessions make no interval: %+v", s)
	}
	for _, c := range []struct {
		a, b []string
		want float64
	}{{nil, nil, 1}, {[]string{"a"}, nil, 0}, {[]string{"a", "b"}, []string{"b", "c"}, 1.0 / 3}} {
		if got := jaccard(c.a, c.b); got != c.want {
			t.Errorf("jaccard of %v and %v is %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
