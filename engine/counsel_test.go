package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// summarizer answers with a function.
type summarizer func(context.Context, controller.SummaryQuestion) (controller.Summary, error)

func (f summarizer) Summarize(ctx context.Context, q controller.SummaryQuestion) (controller.Summary, error) {
	return f(ctx, q)
}

// oldest chooses the oldest candidate.
func oldest(_ context.Context, q controller.Question) (controller.Answer, error) {
	if len(q.Candidates) == 0 {
		return controller.Answer{By: "m"}, nil
	}
	return controller.Answer{By: "m", Origin: controller.Origin{Model: "m", Digest: "d", Calls: 1, In: 9, Out: 2, Took: time.Millisecond}, Choices: []controller.Choice{
		{ID: q.Candidates[len(q.Candidates)-1].ID, Kind: controller.ModelLink, Score: 0.5, Reason: "it was first"}}}, nil
}

// gated lets f answer when the gate opens.
func gated(gate <-chan struct{}, f selector) selector {
	return func(ctx context.Context, q controller.Question) (controller.Answer, error) {
		select {
		case <-gate:
			return f(ctx, q)
		case <-ctx.Done():
			return controller.Answer{}, ctx.Err()
		}
	}
}

func settle(t *testing.T, e *engine.Engine) engine.Tally {
	t.Helper()
	if err := e.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e.Tally()
}

// stored are the nodes of a session, whole, in the order in which they were put.
func stored(t *testing.T, e *engine.Engine, name string) []engine.Node {
	t.Helper()
	var out []engine.Node
	for n, err := range e.Store().Session(context.Background(), name) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// byModel are the node's edges that a model chose.
func byModel(n engine.Node) (out []graphstore.Parent) {
	for _, p := range n.Parents {
		if p.Kind == graphstore.Model {
			out = append(out, p)
		}
	}
	return out
}

func TestLateOpinionIsMerged(t *testing.T) {
	ctx := context.Background()
	gate := make(chan struct{})
	e := open(t, engine.Options{Selector: gated(gate, oldest), Deadline: -1})
	s := e.Session("a")
	nodes := appendAll(t, s, did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"))
	open := engine.Step{Thought: "and then", Calls: []engine.Call{{ID: "1", Name: "bash", Args: "true"}}}
	nodes = append(nodes, appendAll(t, s, open)...)
	for _, n := range nodes {
		if len(byModel(n)) > 0 {
			t.Fatalf("step %d has a model's edge before the model spoke", n.Seq)
		}
	}
	before := weave(t, s, "paper:2/2")
	if _, err := s.Answer(ctx, nodes[3].ID, 0, engine.Observation{Text: "what came meanwhile"}); err != nil {
		t.Fatal(err)
	}
	if got := e.Tally().Pending; got != 3 {
		t.Errorf("%d questions are pending, want 3: the first step has no candidates", got)
	}
	close(gate)
	if tally := settle(t, e); tally.Merged != 3 || tally.Pending != 0 || tally.Err != nil {
		t.Errorf("tally %+v", tally)
	}
	after := stored(t, e, "a")
	for i, n := range after[2:] {
		edges := byModel(n)
		if len(edges) != 1 || edges[0].ID != nodes[0].ID || edges[0].Candidate || edges[0].By != "m" || edges[0].Score >= n.Parents[0].Score {
			t.Errorf("step %d has the edges %+v; want the model's last, and no candidate", i+2, n.Parents)
		}
	}
	if got := after[3].Step.Calls[0].Observation; got == nil || got.Text != "what came meanwhile" {
		t.Errorf("the answer that came meanwhile became %+v", got)
	}
	if info, err := s.Info(ctx); err != nil || info.Head != nodes[3].ID {
		t.Errorf("the head is %s, %v", info.Head, err)
	}
	opinions, err := e.Store().Opinions(ctx, "a", "m")
	if err != nil || len(opinions) != 3 || opinions[nodes[3].ID].Origin.In != 9 || opinions[nodes[3].ID].Parents[0].Score != 0.5 {
		t.Errorf("opinions %+v, %v", opinions, err)
	}
	if diff := cmp.Diff(before.Messages[:3], weave(t, s, "paper:2/2").Messages[:3]); diff != "" {
		t.Errorf("what was woven changed:\n%s", diff)
	}
}

// A late answer finds the session changed: the node is gone, or on a branch that was left.
func TestOpinionForNobody(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		harm func(*engine.Engine) error
	}{
		{"deleted", func(e *engine.Engine) error { return e.Delete(ctx, "a") }},
		{"branched off", func(e *engine.Engine) error {
			_, err := e.Session("a").Sync(ctx, []engine.Step{did("other", "true", "")}, nil)
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gate := make(chan struct{})
			e := open(t, engine.Options{Selector: gated(gate, oldest), Deadline: -1})
			nodes := appendAll(t, e.Session("a"), did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"))
			if err := tt.harm(e); err != nil {
				t.Fatal(err)
			}
			close(gate)
			if tally := settle(t, e); tally.Gone != 2 || tally.Merged != 0 {
				t.Errorf("tally %+v, want 2 gone", tally)
			}
			if got, err := e.Store().Get(ctx, "a", nodes[2].ID); err == nil && len(byModel(got)) > 0 {
				t.Errorf("a node off the path has %v", byModel(got))
			}
		})
	}
}

// What hangs costs at most one deadline, and closing waits for nothing; no step is lost.
func TestCloseWhileAModelHangs(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    selector
	}{
		{"heeds its context", gated(nil, oldest)},
		{"heeds nothing", func(context.Context, controller.Question) (controller.Answer, error) { select {} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			e, err := engine.Open(dir, &engine.Options{Selector: tt.f, Deadline: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			var steps []engine.Step
			for i := range 300 {
				steps = append(steps, did(fmt.Sprint("hm ", i), "true", fmt.Sprint(i)))
			}
			appendAll(t, e.Session("a"), steps[:20]...)
			if _, err := e.Session("a").Sync(context.Background(), steps, nil); err != nil {
				t.Fatal(err)
			}
			if tally := e.Tally(); tally.Dropped == 0 || tally.Pending > 257 || tally.Dropped+tally.Pending != 299 {
				t.Errorf("tally %+v of 299 questions: want at most 256 that wait for the one that hangs", tally)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = openAt(t, dir, engine.Options{})
			if n := count(t, e, "a"); n != 300 {
				t.Errorf("%d steps, want 300", n)
			}
		})
	}
}

// A server that is killed, hangs and comes back, during 1,000 appends.
func TestModelComesAndGoes(t *testing.T) {
	const deadline = 30 * time.Millisecond
	var state atomic.Int32 // of the server
	const up, down, hung, deaf = 0, 1, 2, 3
	revive := make(chan struct{})
	e := open(t, engine.Options{NoSync: true, Deadline: deadline, Patience: 300 * time.Millisecond, Selector: selector(func(ctx context.Context, q controller.Question) (controller.Answer, error) {
		switch state.Load() {
		case down:
			return controller.Answer{}, errors.New("connection refused")
		case hung:
			<-ctx.Done()
			return controller.Answer{}, ctx.Err()
		case deaf:
			<-revive
			return controller.Answer{}, errors.New("too late")
		}
		return oldest(ctx, q)
	})})
	s := e.Session("a")
	slowest := time.Duration(0)
	var ids []engine.NodeID
	for i := range 1000 {
		switch i {
		case 200:
			state.Store(down)
		case 400:
			state.Store(hung)
		case 600:
			state.Store(deaf)
		case 800: // restarted
			state.Store(up)
			close(revive)
			settle(t, e)
		}
		start := time.Now()
		n, err := s.Append(context.Background(), did(fmt.Sprint("hm ", i), "true", "ok"))
		if err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(start))
		ids = append(ids, n.ID)
		if i == 800 {
			if tally := settle(t, e); tally.Pending > 0 {
				t.Errorf("tally %+v", tally)
			}
			if got, err := e.Store().Get(context.Background(), "a", n.ID); err != nil || len(byModel(got)) != 1 {
				t.Errorf("the first question after the restart brought %v, %v", byModel(got), err)
			}
		}
	}
	tally := settle(t, e)
	t.Logf("slowest append %v, deadline %v; tally %+v", slowest, deadline, tally)
	var got []engine.NodeID
	edges := 0
	for i, n := range stored(t, e, "a") {
		got = append(got, n.ID)
		edges += len(byModel(n))
		if n.Step.Thought != fmt.Sprint("hm ", i) || i > 0 && n.Previous != ids[i-1] {
			t.Fatalf("step %d is %q after %s", i, n.Step.Thought, n.Previous)
		}
	}
	if !slices.Equal(got, ids) {
		t.Errorf("%d steps are stored, want the %d that were acknowledged, in order", len(got), len(ids))
	}
	if tally.Merged+tally.Failed+tally.Dropped != 999 || tally.Pending > 0 || edges < 1 || edges > tally.Merged {
		t.Errorf("tally %+v with %d edges: every question but the first step's has one end", tally, edges)
	}
}

// babbler says anything: ids from nowhere, itself, later steps, words of its own, scores that are no numbers.
type babbler struct{ rnd *rand.Rand }

func (b babbler) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	a := controller.Answer{By: "babbler", Origin: controller.Origin{Model: "babbler", Digest: "b", In: 5}}
	for range b.rnd.Intn(6) {
		c := controller.Choice{Kind: controller.LiteralLink, Score: b.rnd.Float64(), Reason: b.say(q.Turn), Words: []string{"made_up_word"}}
		switch k := b.rnd.Intn(5); {
		case k == 0:
			c.ID = q.Turn.ID
		case k == 1:
			c.ID, c.Score = fmt.Sprintf("%032x", b.rnd.Int63()), b.rnd.NormFloat64()*3
		case len(q.Candidates) > 0:
			c.ID = q.Candidates[b.rnd.Intn(len(q.Candidates))].ID
		}
		a.Choices = append(a.Choices, c)
	}
	return a, nil
}

func (b babbler) Summarize(_ context.Context, q controller.SummaryQuestion) (controller.Summary, error) {
	return controller.Summary{By: "babbler", Step: b.say(q.Turn), Dependency: b.say(q.Turn)}, nil
}

// say mixes words of the turn with plain ones and, half the time, with some of its own.
func (b babbler) say(t controller.Turn) string {
	pool := append(strings.Fields(t.Thought), "the", "step", "looked", "at", "it")
	for _, c := range t.Calls {
		pool = append(pool, strings.Fields(c.Observation)...)
	}
	if b.rnd.Intn(2) == 0 {
		pool = append(pool, "src/never_seen.py", "TestMadeUp", "0xdeadbeef", "4711", "v9", "line 88")
	}
	var out []string
	for range b.rnd.Intn(30) {
		out = append(out, pool[b.rnd.Intn(len(pool))])
	}
	return strings.Join(out, " ")
}

// worked is a session that looks like work: files are viewed, edited and tested again and again, and some steps
// say nothing from which a link could be seen.
func worked(rnd *rand.Rand, n int) []engine.Step {
	var steps []engine.Step
	for i := range n {
		f := fmt.Sprintf("pkg/part_%d.go", rnd.Intn(8))
		var s engine.Step
		switch rnd.Intn(6) {
		case 0:
			s = did("let me see "+f, "cat "+f, fmt.Sprintf("func Handle%d() error {\n\treturn errCode%d\n}", rnd.Intn(40), rnd.Intn(40)))
		case 1:
			s = did("change it", "sed -i s/Handle/handle/ "+f, "")
		case 2:
			s = did("test", "go test ./pkg", fmt.Sprintf("--- FAIL: TestHandle%d (0.00s)\nFAIL\tx/pkg\t0.1s", rnd.Intn(5)))
		case 3:
			s = did("test", "go test ./pkg", "ok  \tx/pkg\t0.1s")
		case 4:
			s = did(fmt.Sprintf("where is Handle%d used?", rnd.Intn(40)), fmt.Sprintf("grep -rn Handle%d .", rnd.Intn(40)), f+":12: call")
		default:
			s = did("hm, think again", "true", "")
		}
		s.Thinking = fmt.Sprint(i)
		s.Calls[0].ID = fmt.Sprint(i)
		steps = append(steps, s)
	}
	steps[0].Before = user("make pkg pass its tests")
	return steps
}

var policies = []string{"full", "window:5", "polling:5/20", "paper:3/5", "paper-tail:3/5", "summary:5", "bm25:5/5", "workingset", "workingset:lean", "workingset:rich"}

// Whatever a model says, no context gets worse by it as long as the model has not earned trust: it stays what rules
// make it, byte for byte. And nothing is stored that was made up.
func TestBabbleHarmsNothing(t *testing.T) {
	ctx := context.Background()
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	babbling := func(seed int64, trust bool) engine.Options {
		b := babbler{rnd: rand.New(rand.NewSource(seed))}
		return engine.Options{NoSync: true, Selector: b, Summarizer: b, Deadline: -1, Trust: trust}
	}
	rules, model, trusted := open(t, engine.Options{NoSync: true}), open(t, babbling(seed+1, false)), open(t, babbling(seed+2, true))
	for i := range 20 {
		name := fmt.Sprint("s", i)
		steps := worked(rnd, 100)
		for j := 49; j < len(steps); j += 50 {
			for _, e := range []*engine.Engine{rules, model, trusted} {
				if _, err := e.Session(name).Sync(ctx, steps[:j+1], nil); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				settle(t, e)
			}
			for _, p := range policies {
				a, b := weave(t, rules.Session(name), p), weave(t, model.Session(name), p)
				if diff := cmp.Diff(a.Messages, b.Messages); diff != "" {
					t.Fatalf("seed %d: %s of session %d after step %d:\n%s", seed, p, i, j, diff)
				}
			}
		}
		plain, said, adopted := stored(t, rules, name), stored(t, model, name), stored(t, trusted, name)
		for j := range plain {
			if err := honest(steps[:j+1], plain[:j], plain[j], said[j]); err != nil {
				t.Fatalf("seed %d: session %d, step %d: %v", seed, i, j, err)
			}
			if said[j].Summary != plain[j].Summary {
				t.Fatalf("seed %d: session %d, step %d: the summary of a model that is not trusted counts", seed, i, j)
			}
			if made := controller.Invented(adopted[j].Summary+" "+adopted[j].DependencySummary, texts(steps[:j+1])...); len(made) > 0 {
				t.Fatalf("seed %d: session %d, step %d: invented %q", seed, i, j, made)
			}
			for k, p := range plain[j].Parents { // facts come first, as they were, also where the model is trusted
				if p.Kind != graphstore.Previous && !cmp.Equal(p, adopted[j].Parents[k]) {
					t.Fatalf("seed %d: session %d, step %d: %+v became %+v", seed, i, j, p, adopted[j].Parents[k])
				}
			}
		}
	}
	tally := model.Tally()
	t.Logf("seed %d: %+v", seed, tally)
	if opinions, err := model.Store().Opinions(ctx, "s0", "babbler"); err != nil || len(opinions) != 100 || tally.Merged != 2000 {
		t.Errorf("seed %d: %d opinions, %+v, %v: want one a step", seed, len(opinions), tally, err)
	}
}

// texts is all that a session has said so far.
func texts(steps []engine.Step) []string {
	var out []string
	for _, s := range steps {
		for _, m := range s.Before {
			out = append(out, m.Text)
		}
		out = append(out, s.Thought)
		for _, c := range s.Calls {
			out = append(out, c.Name, c.Args, c.Observation.Text)
		}
	}
	return out
}

// honest makes sure that a node has all that rules gave it, first and unchanged, and of the model nothing but
// earlier steps, behind, for reasons that make nothing up.
func honest(steps []engine.Step, before []engine.Node, rules, n engine.Node) error {
	if len(n.Parents) < len(rules.Parents) || !cmp.Equal(rules.Parents, n.Parents[:len(rules.Parents)]) {
		return fmt.Errorf("rules found %+v, it has %+v", rules.Parents, n.Parents)
	}
	for _, p := range n.Parents[len(rules.Parents):] {
		earlier := slices.ContainsFunc(before, func(m engine.Node) bool { return m.ID == p.ID })
		made := controller.Invented(p.Reason, texts(steps)...)
		if !earlier || p.Kind != graphstore.Model || p.Candidate || p.By != "babbler" || len(p.Words) > 0 || len(made) > 0 {
			return fmt.Errorf("the model added %+v (invented %q)", p, made)
		}
	}
	return nil
}

// The vectors of candidates come with the next question, also after a restart.
func TestVectorsAreKept(t *testing.T) {
	dir := t.TempDir()
	embedder := &embedding{}
	for i, thought := range []string{"one", "two", "three", "four"} {
		e, err := engine.Open(dir, &engine.Options{Selector: embedder})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, e.Session("a"), did(thought, "true", ""))
		settle(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if want := max(0, i-1); embedder.had != want { // the first step is not asked about
			t.Errorf("after %d steps: %d candidates came with the right vector, want %d", i+1, embedder.had, want)
		}
	}
}

// embedding is a model whose vector of a turn is its place.
type embedding struct{ had int }

func (m *embedding) Model(context.Context) (controller.Model, error) {
	return controller.Model{Name: "m", Digest: "sha256:m"}, nil
}

func (m *embedding) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	m.had = 0
	for i, c := range q.Candidates {
		if len(c.Vector) == 1 && int(c.Vector[0]) == q.Turn.Seq-1-i {
			m.had++
		}
	}
	return controller.Answer{By: "m", Origin: controller.Origin{Digest: "sha256:m"}, Vector: []float32{float32(q.Turn.Seq)}}, nil
}

// A summary of less than there is by now does not replace what rules make of all of it.
func TestSummaryOfAnOlderState(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{Deadline: -1, Trust: true, Summarizer: summarizer(func(_ context.Context, q controller.SummaryQuestion) (controller.Summary, error) {
		if !q.Turn.Calls[0].Answered {
			t.Error("asked to sum up a step whose call is open")
		}
		return controller.Summary{By: "m", Step: "it worked", Dependency: "it all worked"}, nil
	})})
	s := e.Session("a")
	n := appendAll(t, s, engine.Step{Thought: "go", Calls: []engine.Call{{Name: "bash", Args: "make"}}})[0]
	if tally := settle(t, e); tally.Asked != 0 {
		t.Errorf("tally %+v", tally)
	}
	if _, err := s.Answer(ctx, n.ID, 0, engine.Observation{Text: "done"}); err != nil {
		t.Fatal(err)
	}
	settle(t, e)
	if got := stored(t, e, "a")[0]; got.Summary != "it worked" || got.DependencySummary != "it all worked" {
		t.Errorf("summaries %q, %q", got.Summary, got.DependencySummary)
	}
}

// A model that is asked about one part of a step takes back nothing of what it said of the other.
func TestPartsOfAnOpinion(t *testing.T) {
	ctx := context.Background()
	sums := func(_ context.Context, q controller.SummaryQuestion) (controller.Summary, error) {
		return controller.Summary{By: "m", Step: "true gave nothing", Dependency: "true gave nothing", Origin: controller.Origin{Model: "m", Digest: "d", Calls: 1, In: 5}}, nil
	}
	e := open(t, engine.Options{Selector: selector(oldest), Summarizer: summarizer(sums), Deadline: time.Minute})
	s := e.Session("a")
	nodes := appendAll(t, s, did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"))
	nodes = append(nodes, appendAll(t, s, engine.Step{Thought: "and then", Calls: []engine.Call{{ID: "1", Name: "bash", Args: "true"}}})...)
	settle(t, e)
	if _, err := s.Answer(ctx, nodes[3].ID, 0, engine.Observation{Text: "true gave nothing"}); err != nil {
		t.Fatal(err)
	}
	if tally := settle(t, e); tally.Failed > 0 || tally.Merged != 5 {
		t.Errorf("%+v", tally)
	}
	last := stored(t, e, "a")[3]
	if edges := byModel(last); len(edges) != 1 || edges[0].ID != nodes[0].ID {
		t.Errorf("the model's edge became %+v when it summed the step up", edges)
	}
	said, err := e.Store().Opinions(ctx, "a", "m")
	if err != nil {
		t.Fatal(err)
	}
	if o := said[last.ID]; len(o.Parents) != 1 || o.Summary == "" || o.Origin.Calls != 2 || o.Origin.In != 14 {
		t.Errorf("kept of both answers: %+v", o)
	}
}

// A model that heeds its deadline is asked the next question as if nothing had been.
func TestNextQuestionAfterADeadline(t *testing.T) {
	asked := 0
	slow := selector(func(ctx context.Context, q controller.Question) (controller.Answer, error) {
		if asked++; asked%2 == 1 {
			<-ctx.Done()
			return controller.Answer{}, ctx.Err()
		}
		return oldest(ctx, q)
	})
	e := open(t, engine.Options{NoSync: true, Selector: slow, Deadline: -1, Patience: 5 * time.Millisecond})
	if _, err := e.Session("a").Sync(context.Background(), worked(rand.New(rand.NewSource(2)), 21), nil); err != nil {
		t.Fatal(err)
	}
	if tally := settle(t, e); tally.Merged != 10 || tally.Failed != 10 {
		t.Errorf("every second question takes too long: %+v, want half of 20 merged", tally)
	}
}

// Nothing that a model says is kept that a terminal would obey or a reader would not see.
func TestOpinionsAreSeen(t *testing.T) {
	const hidden = "\x00\x1b\x07\r\u0085\u200b\u202e\u2066\ufeff\xff"
	saying := selector(func(ctx context.Context, q controller.Question) (controller.Answer, error) {
		a, err := oldest(ctx, q)
		if err == nil && len(a.Choices) > 0 {
			a.Choices[0].Reason = "it was" + hidden + " first"
		}
		return a, err
	})
	sums := summarizer(func(context.Context, controller.SummaryQuestion) (controller.Summary, error) {
		return controller.Summary{By: "m", Step: "it " + hidden + "ran", Dependency: "it ran " + hidden}, nil
	})
	e := open(t, engine.Options{Selector: saying, Summarizer: sums, Deadline: time.Minute, Trust: true})
	appendAll(t, e.Session("a"), did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"))
	settle(t, e)
	for _, n := range stored(t, e, "a") {
		said := []string{n.Summary, n.DependencySummary}
		for _, p := range n.Parents {
			said = append(said, p.Reason)
		}
		for _, text := range said {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }) {
				t.Errorf("step %d says %+q", n.Seq, text)
			}
		}
		if !strings.HasPrefix(n.Summary, "it") {
			t.Errorf("step %d: the summary %+q is not the model's", n.Seq, n.Summary)
		}
	}
}

// moody is a Selector that panics wherever it can.
type moody struct{}

func (moody) Wants([]controller.Choice) bool { panic("no") }

func (moody) Model(context.Context) (controller.Model, error) { panic("no") }

func (moody) Select(context.Context, controller.Question) (controller.Answer, error) { panic("no") }

func (moody) Summarize(context.Context, controller.SummaryQuestion) (controller.Summary, error) {
	panic("no")
}

// A panic of a model costs no step, whichever of its methods it is in.
func TestPanicsOfAModel(t *testing.T) {
	e := open(t, engine.Options{Selector: moody{}, Summarizer: moody{}, Deadline: time.Minute})
	nodes := appendAll(t, e.Session("a"), did("hm", "true", ""), did("er", "true", "1"), did("so", "true", "2"))
	if tally := settle(t, e); tally.Failed != 3 || tally.Merged != 0 || !strings.Contains(tally.Err.Error(), "panicked: no") {
		t.Errorf("%+v", tally)
	}
	_, err := e.Session("a").Reweave(context.Background(), engine.Reweaving{By: "moody", Selector: moody{}, Summarizer: moody{}})
	if !errors.Is(err, engine.ErrController) {
		t.Errorf("asked again: %v", err)
	}
	if diff := cmp.Diff(nodes, stored(t, e, "a")); diff != "" {
		t.Error(diff)
	}
}

// A reason may name its score, as those do that the controller gives by itself, and no other number.
func TestReasonsNameTheirScores(t *testing.T) {
	for _, tt := range []struct{ reason, want string }{
		{"the model scores it 0.37, above chance", "the model scores it 0.37, above chance"},
		{"its vector is near: cosine 0.37", "its vector is near: cosine 0.37"},
		{"it scores 0.37, and 0.42 would be better", "the model chose it"},
	} {
		e := open(t, engine.Options{Deadline: -1, Selector: selector(func(ctx context.Context, q controller.Question) (controller.Answer, error) {
			a, err := oldest(ctx, q)
			a.Choices[0].Score, a.Choices[0].Reason = 0.37, tt.reason
			return a, err
		})})
		appendAll(t, e.Session("a"), did("hm", "true", ""), did("er", "true", ""), did("so", "true", ""))
		settle(t, e)
		if edges := byModel(stored(t, e, "a")[2]); len(edges) != 1 || edges[0].Reason != tt.want {
			t.Errorf("%q became %+v", tt.reason, edges)
		}
	}
}
