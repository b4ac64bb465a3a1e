package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/engine"
)

// keeper is an engine on disk that can die and come back.
type keeper struct {
	t   *testing.T
	dir string
	*engine.Session
	engine *engine.Engine
}

func newKeeper(t *testing.T) *keeper {
	k := &keeper{t: t, dir: t.TempDir()}
	k.restart()
	return k
}

func (k *keeper) restart() {
	if k.engine != nil {
		if err := k.engine.Close(); err != nil {
			k.t.Fatal(err)
		}
	}
	k.engine = openAt(k.t, k.dir, engine.Options{NoSync: true})
	k.Session = k.engine.Session("a")
}

func (k *keeper) ask(r engine.Request) *engine.Window {
	k.t.Helper()
	w, err := k.Weave(context.Background(), r)
	if err != nil {
		k.t.Fatal(err)
	}
	return w
}

// live appends steps and asks after each.
func (k *keeper) live(steps []engine.Step, r engine.Request) (w *engine.Window) {
	k.t.Helper()
	for _, step := range steps {
		appendAll(k.t, k.Session, step)
		w = k.ask(r)
	}
	return w
}

// item is what became of a step's first call.
func item(w *engine.Window, seq int) engine.Item {
	i := slices.IndexFunc(w.Items, func(i engine.Item) bool { return i.Seq == seq })
	return w.Items[i]
}

// carries is how many messages have the text.
func carries(w *engine.Window, text string) (n int) {
	for _, m := range w.Messages {
		n += strings.Count(m.Content, text)
	}
	return n
}

func text(s engine.Step) string { return s.Calls[0].Observation.Text }

var byWorkingSet = engine.Request{Policy: engine.WorkingSet}

// Calls that are answered late, in any order, change nothing that was decided: the same request is woven the same way
// before and after a restart, and what comes late is to be seen.
func TestPagingWithLateAnswers(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	k := newKeeper(t)
	type open struct {
		id   engine.NodeID
		seq  int
		text string
	}
	var late []open
	for i, step := range work(rnd, 80) {
		if rnd.Intn(5) == 0 {
			step.Calls = append([]engine.Call{{ID: fmt.Sprint("late_", i), Name: "wait", Args: fmt.Sprint(i)}}, step.Calls...)
		}
		n := appendAll(t, k.Session, step)[0]
		if step.Calls[0].Observation == nil {
			late = append(late, open{n.ID, n.Seq, fmt.Sprintf("late %d\n%s", i, strings.Repeat("it took its time\n", 60))})
		}
		w := k.ask(byWorkingSet)
		if len(late) > 0 && rnd.Intn(4) == 0 {
			o := late[0]
			late = late[1:]
			if _, err := k.Answer(context.Background(), o.id, 0, engine.Observation{Text: o.text}); err != nil {
				t.Fatal(err)
			}
			w = k.ask(byWorkingSet)
			if it := item(w, o.seq); it.Fate != engine.Whole {
				t.Errorf("seed %d: step %d: what answers step %d late is %s: %s", seed, i, o.seq, it.Fate, it.Reason)
			}
		}
		if rnd.Intn(6) == 0 {
			k.restart()
		}
		if again := k.ask(byWorkingSet); !cmp.Equal(w, again, cmp.AllowUnexported(engine.Policy{})) {
			t.Fatalf("seed %d: step %d: the same request was woven in two ways: %s", seed, i, cmp.Diff(w.Items, again.Items))
		}
	}
}

// A budget holds wherever what must stay fits: messages, thoughts, actions, and the newest three observations.
func TestPagingHoldsItsBudget(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	for _, p := range []string{"workingset", "workingset:lean", "workingset:rich", "paper-tail:3/5"} {
		e := open(t, engine.Options{NoSync: true})
		s := e.Session("a")
		policy, err := engine.ParsePolicy(p)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range work(rnd, 50) {
			if rnd.Intn(3) == 0 { // short ones, and open failures, must give way
				step.Calls = append(step.Calls, engine.Call{Name: "go", Args: fmt.Sprintf("test ./p%d", i), Observation: &engine.Observation{
					Text: fmt.Sprintf("--- FAIL: TestX%d (0.00s)\n%sFAIL", i, strings.Repeat("    x_test.go:3: no\n", 40))}})
			}
			appendAll(t, s, step)
			full := weave(t, s, "full")
			pending := user(strings.Repeat("word ", rnd.Intn(300)))
			must, newest := 0, 3
			observed := map[string]engine.Item{}
			for _, it := range full.Items {
				observed[fmt.Sprint(it.Seq, it.Call)] = it
				must += min(it.Full, 20) - it.Full
			}
			for i := len(full.Items) - 1; i >= 0 && newest > 0; i-- {
				must += full.Items[i].Full - min(full.Items[i].Full, 20)
				newest--
			}
			must += full.Tokens + len(pending[0].Text)/5 + 10
			budget := must + rnd.Intn(3000)
			w, err := s.Weave(context.Background(), engine.Request{Policy: policy, Budget: budget, Pending: pending})
			if err != nil || w.Tokens > budget {
				t.Fatalf("seed %d: %s: step %d: %d tokens, %v, though about %d must stay", seed, p, i, w.Tokens, err, must)
			}
		}
	}
}

// No message takes more tokens than it is said to, whatever an observation ends with that something is paged in behind.
func TestTokensOfTails(t *testing.T) {
	for _, seed := range []int64{
		1796066562996596065, // ");\r\r\r\n" and the blank line of the heading make one run, of three tokens more
		time.Now().UnixNano(),
	} {
		for _, policy := range []engine.Policy{engine.WorkingSet, engine.Paper(3, 5)} { // which adds the state of the tests
			rnd := rand.New(rand.NewSource(seed))
			for _, encoding := range []string{"o200k_base", "cl100k_base", "p50k_base"} {
				if tails := tokensOfTails(t, rnd, encoding, policy, seed); tails == 0 {
					t.Errorf("seed %d: %s: nothing was put behind an observation", seed, policy)
				}
			}
		}
	}
}

// tokensOfTails counts the observations that something was put behind.
func tokensOfTails(t *testing.T, rnd *rand.Rand, encoding string, policy engine.Policy, seed int64) (tails int) {
	t.Helper()
	const frame = 4
	counter, err := compress.NewCounter(encoding)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, engine.Options{NoSync: true, Encoding: encoding}).Session("a")
	for i, step := range work(rnd, 60) {
		if policy != engine.WorkingSet && i%10 == 0 {
			step.Calls[0].Args = "go test -v ./login"
			step.Calls[0].Observation.Text += "--- PASS: TestLogin (0.00s)\n"
		}
		for range rnd.Intn(6) {
			step.Calls[0].Observation.Text += []string{"\r\n", "\n", "\r", " ", "\t", ");", "/", "日"}[rnd.Intn(8)]
		}
		appendAll(t, s, step)
		w, err := s.Weave(context.Background(), engine.Request{Policy: policy, Budget: 12000})
		if err != nil && policy == engine.WorkingSet {
			t.Fatal(err)
		}
		for _, m := range w.Messages {
			if n := counter.Count(m.Content); m.Role == "tool" && n+frame > m.Tokens {
				t.Fatalf("seed %d: %s: %s: %d tokens and a frame are said to be %d: …%q", seed, encoding, policy, n, m.Tokens, m.Content[max(0, len(m.Content)-80):])
			}
			if strings.Contains(m.Content, "--- from earlier steps ---") || strings.Contains(m.Content, "\n\nTEST STATUS: ") {
				tails++
			}
		}
	}
	return tails
}

// A request that is made again, with more to say or on a smaller budget, keeps it too, and so does what a budget leaves
// nothing of: the window is the smallest there is.
func TestBudgetOfARepeatedRequest(t *testing.T) {
	steps := work(rand.New(rand.NewSource(21)), 14)
	for _, tt := range []struct {
		why     string
		again   engine.Request
		pending int // words
		fits    bool
	}{
		{why: "the budget is smaller", again: engine.Request{Budget: 5000}, fits: true},
		{why: "the user said more meanwhile", again: engine.Request{Budget: 9000}, pending: 3000, fits: true},
		{why: "nothing fits", again: engine.Request{Budget: 1}},
		{why: "tools took more than there is", again: engine.Request{Budget: -100}},
	} {
		k := newKeeper(t)
		first := k.live(steps, engine.Request{Policy: engine.WorkingSet, Budget: 40000})
		tt.again.Policy = engine.WorkingSet
		if tt.pending > 0 {
			tt.again.Pending = user(strings.Repeat("word ", tt.pending))
		}
		if first.Tokens <= tt.again.Budget-tt.pending {
			t.Fatalf("%s: %d tokens are too few to tell", tt.why, first.Tokens)
		}
		w, err := k.Weave(context.Background(), tt.again)
		switch {
		case tt.fits && (err != nil || w.Tokens > tt.again.Budget):
			t.Errorf("%s: %d tokens of %d: %v", tt.why, w.Tokens, tt.again.Budget, err)
		case !tt.fits && (!errors.Is(err, engine.ErrBudget) || w.Tokens >= first.Tokens):
			t.Errorf("%s: %d tokens after %d: %v", tt.why, w.Tokens, first.Tokens, err)
		}
		same, err2 := k.Weave(context.Background(), tt.again)
		k.restart()
		after, err3 := k.Weave(context.Background(), tt.again)
		if fmt.Sprint(err, err) != fmt.Sprint(err2, err3) || !cmp.Equal(w, same, cmp.AllowUnexported(engine.Policy{})) || !cmp.Equal(w, after, cmp.AllowUnexported(engine.Policy{})) {
			t.Errorf("%s: asked once more, or after a restart, the same request is woven otherwise: %v, %v, %v", tt.why, err, err2, err3)
		}
	}
}

// A client that goes back to a branch which the store has, and has shortened old answers meanwhile, finds all as it was: what
// was observed, and the window to the byte, also after a restart. Answers that have come since are filled in.
func TestBackToABranch(t *testing.T) {
	steps := work(rand.New(rand.NewSource(24)), 50)
	steps[44].Calls[0].Observation = nil
	k := newKeeper(t)
	before := k.live(steps, byWorkingSet)
	if before.Epoch.PageOuts == 0 || carries(before, "--- from earlier steps ---") == 0 {
		t.Fatal("nothing was paged out and in")
	}
	other := append(slices.Clone(steps[:12]), did("Another way.", "ls", "README.md"))
	shortened := slices.Clone(steps)
	for i := range shortened[:40] {
		shortened[i] = steps[i].Clone()
		shortened[i].Calls[0].Observation.Text = "[old output cleared]"
	}
	answered := slices.Clone(shortened)
	answered[44] = steps[44].Clone()
	answered[44].Calls[0].Observation = &engine.Observation{Text: "late"}
	for _, back := range []struct {
		why     string
		history []engine.Step
		late    int
	}{
		{"shortened", shortened, 0},
		{"answered", answered, 1},
		{"longer by a step that is new", append(slices.Clone(answered), did("On.", "cat b", "late too")), 2},
	} {
		if _, err := k.Sync(t.Context(), other, nil); err != nil {
			t.Fatal(err)
		}
		added, err := k.Sync(t.Context(), back.history, nil)
		if err != nil || added != len(back.history)-12 {
			t.Errorf("%s: %d appended, %v", back.why, added, err)
		}
		for _, when := range []string{"at once", "after a restart"} {
			w := k.ask(engine.Request{Policy: engine.WorkingSet})
			if n, all := prefix(t, before.Messages, w.Messages); !all && (back.late == 0 || before.Messages[n].Content != "(no result was recorded)") {
				t.Errorf("%s, %s: message %d of %d is another", back.why, when, n, len(before.Messages))
			}
			if full := k.ask(engine.Request{}); carries(full, "[old output cleared]") > 0 || carries(full, "late") != back.late {
				t.Errorf("%s, %s: what was observed is not what was observed first", back.why, when)
			}
			k.restart()
		}
	}
}

// What is kept of decisions is looked at before it is believed: a session is never lost to them.
func TestDecisionsThatDoNotFit(t *testing.T) {
	k := newKeeper(t)
	nodes := appendAll(t, k.Session, work(rand.New(rand.NewSource(25)), 8)...)
	for _, kept := range []string{
		`[{"in":[{"s":3,"f":0,"t":99999999}],"behind":{"s":7}}]`,
		`[{"in":[{"s":3,"f":20,"t":10},{"s":3,"f":-5,"t":10}],"behind":{"s":7}}]`,
		`[{"in":[{"s":77,"f":0,"t":10},{"s":3,"c":9,"f":0,"t":10}],"behind":{"s":99}}]`,
		`[{"out":{"before":{"s":99},"why":"so","stay":[{"s":88,"why":"so"}]},"behind":{"s":99,"c":4}},{"kind":"undone"},{"kind":"undone","behind":{"s":-1}}]`,
		`[{"kind":"no such kind"}]`,
		`[]`,
		`null`,
	} {
		if err := k.engine.Store().Decide(t.Context(), "a", "workingset", nodes[7].ID, []byte(kept)); err != nil {
			t.Fatal(err)
		}
		k.restart()
		w := k.ask(byWorkingSet)
		if got := carries(w, "--- from earlier steps ---"); got != 0 {
			t.Errorf("%s: %d tails", kept, got)
		}
	}
}

// A window is of one moment, whoever pages out or takes a page-out back meanwhile: under a budget that needs them the older
// observations are away and the newer ones whole, and without a page-out all are.
func TestWindowsAreOfOneMoment(t *testing.T) {
	k := newKeeper(t)
	k.live(work(rand.New(rand.NewSource(23)), 60), engine.Request{Policy: engine.WorkingSet, Budget: 100000})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 40 {
				w, err := k.Weave(t.Context(), engine.Request{Policy: engine.WorkingSet, Budget: 20000})
				if err != nil {
					t.Error(err)
					return
				}
				var fates []engine.Fate
				for _, it := range w.Items {
					fates = append(fates, it.Fate)
				}
				away := slices.Index(fates, engine.Whole)
				if slices.Contains(fates[away:], engine.Omitted) || (away > 0) != (w.Epoch.PageOuts > 0) {
					t.Errorf("%d page-outs: %q", w.Epoch.PageOuts, fates)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range 40 {
			if err := k.Undo(t.Context(), engine.WorkingSet); err != nil && !errors.Is(err, engine.ErrNotFound) {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// Where pins alone are over the budget, the error tells it: it is the user who can take them back.
func TestPinsOverTheBudget(t *testing.T) {
	k := newKeeper(t)
	for _, n := range appendAll(t, k.Session, work(rand.New(rand.NewSource(22)), 12)...)[:8] {
		if err := k.Pin(t.Context(), engine.NewHandle(n.ID, 0)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := k.Weave(t.Context(), engine.Request{Policy: engine.WorkingSet, Budget: 4000})
	if !errors.Is(err, engine.ErrBudget) {
		t.Fatal(err)
	}
	pinned := 0
	for _, it := range w.Items {
		if it.Reason == "pinned" {
			pinned += it.Tokens
		}
	}
	if want := fmt.Sprintf("%d in pinned ones", pinned); pinned == 0 || !strings.Contains(err.Error(), want) {
		t.Errorf("want %q in: %v", want, err)
	}
}

func TestPin(t *testing.T) {
	ctx := context.Background()
	steps := work(rand.New(rand.NewSource(11)), 120)
	k := newKeeper(t)
	w := k.live(steps[:10], byWorkingSet)
	pin := func(seq int) engine.Handle {
		t.Helper()
		h := item(w, seq).Handle
		if err := k.Pin(ctx, h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	early := pin(2)
	w = k.live(steps[10:40], byWorkingSet)
	if got := item(w, 2); got.Fate != engine.Whole || got.Reason != "pinned" || item(w, 3).Fate != engine.Omitted {
		t.Fatalf("pinned: %s (%s); the next one: %s", got.Fate, got.Reason, item(w, 3).Fate)
	}
	away := pin(5)
	k.restart()
	if got, err := k.Pins(ctx); err != nil || !cmp.Equal(got, []engine.Handle{early, away}) {
		t.Errorf("pins %v, %v", got, err)
	}
	w = k.ask(byWorkingSet)
	if got := item(w, 5); got.Fate != engine.Omitted || len(got.In) == 0 || got.In[len(got.In)-1].ToLine < got.Lines-1 {
		t.Errorf("pinned when it was away: %+v", got)
	}
	if n := carries(w, strings.TrimSpace(text(steps[5]))); n != 1 {
		t.Errorf("it is %d times in the next request, want once", n)
	}
	out := w.Epoch.PageOuts
	for i := 40; w.Epoch.PageOuts == out; i++ {
		if n := carries(w, strings.TrimSpace(text(steps[5]))); n != 1 {
			t.Errorf("step %d: it is %d times in the request, want once", i, n)
		}
		w = k.live(steps[i:i+1], byWorkingSet)
	}
	if got := item(w, 5); got.Fate != engine.Whole || got.Reason != "pinned" {
		t.Errorf("after the next page-out it is %s: %s", got.Fate, got.Reason)
	}
	for _, h := range []engine.Handle{early, away} {
		if err := k.Unpin(ctx, h); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := k.Pins(ctx); err != nil || len(got) > 0 {
		t.Errorf("pins %v, %v", got, err)
	}
	k.restart()
	w = k.live(steps[70:], byWorkingSet)
	if got := item(w, 2).Fate; got != engine.Omitted {
		t.Errorf("no longer pinned, and still %s", got)
	}
	for _, h := range []engine.Handle{"0000000000.1", "nonsense", early + "9"} {
		if err := k.Pin(ctx, h); err == nil {
			t.Errorf("%q was pinned", h)
		}
	}
}

func TestUndo(t *testing.T) {
	ctx := context.Background()
	steps := work(rand.New(rand.NewSource(12)), 120)
	k := newKeeper(t)
	k.live(steps[:8], byWorkingSet)
	if err := k.Undo(ctx, engine.WorkingSet); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("nothing is paged out, and undo says %v", err)
	}
	if err := k.Undo(ctx, engine.LatestN(5)); err == nil {
		t.Error("a window took something back")
	}
	var w *engine.Window
	next := 8
	for {
		if w = k.live(steps[next:next+1], byWorkingSet); w.Epoch.PageOuts == 2 {
			break
		}
		next++
	}
	next++
	before := fated(w)
	if err := k.Undo(ctx, engine.WorkingSet); err != nil {
		t.Fatal(err)
	}
	k.restart()
	w = k.ask(byWorkingSet)
	if w.Epoch.PageOuts != 1 || len(before[engine.Omitted]) <= len(fated(w)[engine.Omitted]) {
		t.Fatalf("%d page-outs stand; away were %v, and are %v", w.Epoch.PageOuts, before[engine.Omitted], fated(w)[engine.Omitted])
	}
	var back []int
	for _, seq := range before[engine.Omitted] {
		if it := item(w, seq); it.Fate == engine.Whole {
			back = append(back, seq)
			if it.Reason != "its page-out was taken back" {
				t.Errorf("step %d is back: %s", seq, it.Reason)
			}
		}
	}
	for i := range 19 {
		w = k.live(steps[next:next+1], byWorkingSet)
		next++
		for _, seq := range back {
			if it := item(w, seq); it.Fate != engine.Whole {
				t.Fatalf("step %d was paged out again after %d observations", seq, i+1)
			}
		}
	}
	w = k.live(steps[next:next+30], byWorkingSet)
	if it := item(w, back[0]); it.Fate != engine.Omitted {
		t.Errorf("step %d is %s for ever", back[0], it.Fate)
	}
	for range w.Epoch.PageOuts {
		if err := k.Undo(ctx, engine.WorkingSet); err != nil {
			t.Fatal(err)
		}
	}
	if w = k.ask(byWorkingSet); w.Tokens != w.Full {
		t.Errorf("all page-outs are taken back, and %d tokens of %d are left", w.Tokens, w.Full)
	}
}

// fated lists steps by what became of their first call.
func fated(w *engine.Window) map[engine.Fate][]int {
	out := map[engine.Fate][]int{}
	for _, i := range w.Items {
		out[i.Fate] = append(out[i.Fate], i.Seq)
	}
	return out
}

func TestRecallIntoARequest(t *testing.T) {
	ctx := context.Background()
	steps := work(rand.New(rand.NewSource(13)), 60)
	for _, policy := range []engine.Policy{engine.WorkingSet, engine.PaperTail(3, 5)} {
		k := newKeeper(t)
		plain := engine.Request{Policy: policy}
		w := k.live(steps[:40], plain)
		h := item(w, 3).Handle
		r := plain
		r.Recall = []engine.Handle{h, h}
		recalled := k.ask(r)
		if n := carries(recalled, strings.TrimSpace(text(steps[3]))); n != 1 || !strings.Contains(recalled.Messages[len(recalled.Messages)-1].Content, string(h)) {
			t.Errorf("%s: what was recalled is there %d times", policy, n)
		}
		k.restart()
		if again := k.ask(plain); !cmp.Equal(recalled.Messages, again.Messages) {
			t.Errorf("%s: it is gone when the same request is made again", policy)
		}
		if again := k.ask(r); !cmp.Equal(recalled.Messages, again.Messages) {
			t.Errorf("%s: recalled again it changes what is there", policy)
		}
		w = k.live(steps[40:42], plain)
		if _, all := prefix(t, recalled.Messages, w.Messages); !all && w.Epoch.Requests > 2 {
			t.Errorf("%s: what was recalled does not stay", policy)
		}
		newest := item(w, 41).Handle
		if again := k.ask(engine.Request{Policy: policy, Recall: []engine.Handle{newest}}); !cmp.Equal(w.Messages, again.Messages) {
			t.Errorf("%s: what is whole was recalled", policy)
		}
		if _, err := k.Weave(ctx, engine.Request{Policy: policy, Recall: []engine.Handle{"0000000000.1"}}); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: recalled what is not there: %v", policy, err)
		}
		dry := k.ask(engine.Request{Policy: policy, Recall: []engine.Handle{item(w, 4).Handle}, Dry: true})
		if again := k.ask(plain); carries(dry, strings.TrimSpace(text(steps[4]))) != 1 || !cmp.Equal(w.Messages, again.Messages) {
			t.Errorf("%s: a dry request was kept, or did not recall", policy)
		}
	}
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	appendAll(t, s, steps[0])
	if _, err := s.Weave(ctx, engine.Request{Policy: engine.Full, Recall: []engine.Handle{"3fa9c2d1b0.1"}}); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a policy that pages nothing in: %v", err)
	}
}

// What a recall has no room for comes from its beginning, in whole lines.
func TestRecallWithinTheBudget(t *testing.T) {
	steps := work(rand.New(rand.NewSource(14)), 60)
	k := newKeeper(t)
	w := k.live(steps[:40], byWorkingSet)
	r := engine.Request{Policy: engine.WorkingSet, Budget: w.Tokens + 400, Recall: []engine.Handle{item(w, 3).Handle}}
	w = k.ask(r)
	got := item(w, 3)
	if len(got.In) == 0 {
		t.Fatal("nothing was recalled")
	}
	part := got.In[len(got.In)-1]
	if w.Tokens > r.Budget || part.FromLine != 1 || part.ToLine >= got.Lines-1 || part.ToLine < 3 {
		t.Errorf("%d tokens of %d; lines %d to %d of %d", w.Tokens, r.Budget, part.FromLine, part.ToLine, got.Lines)
	}
	lines := strings.Join(strings.SplitAfter(text(steps[3]), "\n")[:part.ToLine], "")
	if carries(w, strings.TrimSuffix(lines, "\n")) != 1 || carries(w, lines) != 0 {
		t.Errorf("lines 1 to %d are not what is there", part.ToLine)
	}
}

// The paper's ancestry, paged in at the tail: the newest step's ancestors that are away are in sight, the prompt only
// grows in between, and all is the same after a restart.
func TestPaperTail(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	k := newKeeper(t)
	r := engine.Request{Policy: engine.PaperTail(3, 5)}
	var before *engine.Window
	in := 0
	for i, step := range work(rnd, 70) {
		if rnd.Intn(10) == 0 {
			k.restart()
		}
		w := k.live([]engine.Step{step}, r)
		paged := w.Epoch.PagedIn
		if before != nil && before.Epoch.PageOuts == w.Epoch.PageOuts {
			paged -= before.Epoch.PagedIn
			if n, all := prefix(t, before.Messages, w.Messages); !all {
				t.Fatalf("seed %d: step %d: message %d changed within an epoch", seed, i, n)
			}
		}
		before = w
		paper := weave(t, k.Session, "paper:3/5")
		for j, it := range w.Items {
			if paper.Items[j].Fate != engine.Whole || it.Fate == engine.Whole || paged > 2500 { // the cap may be in the way
				continue
			}
			if len(it.In) == 0 {
				t.Errorf("seed %d: step %d rests on step %d, which is away", seed, i, it.Seq)
			}
			in++
		}
	}
	if in == 0 {
		t.Errorf("seed %d: no ancestor was ever away", seed)
	}
}

// A look at a session that no working set has woven shows what it would have done, request by request, as a replay does.
func TestDryIsAsReplayed(t *testing.T) {
	ctx := context.Background()
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	steps := work(rnd, 60)
	steps[20].Before = user("do that too")
	steps[30].Calls = nil
	for _, r := range []engine.Request{{Policy: engine.WorkingSet}, {Policy: engine.WorkingSetLean, Budget: 16000}, {Policy: engine.PaperTail(2, 3)}} {
		e := open(t, engine.Options{NoSync: true})
		s := e.Session("replay") // handles hold the name
		nodes := appendAll(t, s, steps...)
		at := map[int]engine.NodeID{25: nodes[24].ID, 40: nodes[40].ID, 58: nodes[58].ID} // by call: step 30 has none
		err := engine.Replay(ctx, steps, r.Policy, engine.ReplayOptions{Budget: r.Budget}, func(call int, want *engine.Window) error {
			id, ok := at[call]
			if !ok {
				return nil
			}
			dry := r
			dry.At, dry.Dry = id, true
			got, err := s.Weave(ctx, dry)
			if diff := cmp.Diff(want.Messages, got.Messages); err != nil || diff != "" {
				t.Errorf("seed %d: %s: before call %d: %v\n%s", seed, r.Policy, call, err, diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A budget with some room in it is no reason to page out at every request: what is paged in leaves room for what comes.
func TestBudgetLeavesEpochs(t *testing.T) {
	for _, p := range []engine.Policy{engine.WorkingSet, engine.WorkingSetLean, engine.WorkingSetRich} {
		k := newKeeper(t)
		w := k.live(work(rand.New(rand.NewSource(15)), 60), engine.Request{Policy: p, Budget: 20000})
		if w.Epoch.PageOuts < 3 || w.Epoch.PageOuts > 15 {
			t.Errorf("%s: %d page-outs in 60 requests of 20000 tokens", p, w.Epoch.PageOuts)
		}
	}
}

// Within an epoch the prompt only grows, also where the agent only talks, the user speaks, or calls stay open.
func TestEpochsOnlyGrow(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	for _, policy := range []string{"workingset", "workingset:lean", "workingset:rich", "paper-tail:3/5"} {
		p, err := engine.ParsePolicy(policy)
		if err != nil {
			t.Fatal(err)
		}
		k := newKeeper(t)
		var before *engine.Window
		for i, step := range work(rnd, 90) {
			switch rnd.Intn(8) {
			case 0:
				step.Calls = nil
			case 1:
				step.Calls[0].Observation = nil
			case 2:
				step.Before = user(fmt.Sprint("go on ", i))
			case 3:
				k.restart()
			}
			w := k.live([]engine.Step{step}, engine.Request{Policy: p})
			if before != nil && before.Epoch.PageOuts == w.Epoch.PageOuts {
				if n, all := prefix(t, before.Messages, w.Messages); !all {
					t.Fatalf("seed %d: %s: step %d: message %d of %d changed within an epoch", seed, policy, i, n, len(before.Messages))
				}
			}
			before = w
		}
		if before.Epoch.PageOuts == 0 {
			t.Errorf("seed %d: %s: nothing was paged out", seed, policy)
		}
	}
}
