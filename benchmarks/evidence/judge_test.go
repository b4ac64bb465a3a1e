package evidence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

func seen(text string) *engine.Observation { return &engine.Observation{Text: text} }

func user(text string) []engine.Message { return []engine.Message{{Role: "user", Text: text}} }

func TestReferences(t *testing.T) {
	word := func(texts ...string) (out []Reference) {
		for _, text := range texts {
			out = append(out, Reference{Text: text})
		}
		return out
	}
	for _, test := range []struct {
		reason string
		steps  []engine.Step
		want   [][]Reference
	}{
		{"a specific word from an earlier observation", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("max_rate in fees.go")}}},
			{Calls: []engine.Call{{Args: "grep max_rate fees.go"}}},
		}, [][]Reference{nil, word("fees.go", "max_rate")}},
		{"plain words are not specific", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("hello world")}}},
			{Calls: []engine.Call{{Args: "echo hello world"}}},
		}, [][]Reference{nil, nil}},
		{"what the user said is always in sight, also if it comes later", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Calls: []engine.Call{{Args: "cat fees.go"}}},
			{Before: user("So fees.go it was."), Calls: []engine.Call{{Args: "ls"}}},
		}, [][]Reference{nil, nil, nil}},
		{"a compaction's summary is not: no context has it", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Before: []engine.Message{{Role: "user", Text: "fees.go", Compaction: true}}, Calls: []engine.Call{{Args: "cat fees.go"}}},
		}, [][]Reference{nil, word("fees.go")}},
		{"what a turn without calls said counts as a message", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Calls: []engine.Call{{Args: "cat fees.go"}}},
			{Thought: "It was fees.go."},
		}, [][]Reference{nil, nil}},
		{"what the agent thought or did before is in sight", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go max_rate")}}},
			{Thought: "I see max_rate.", Calls: []engine.Call{{Args: "cat fees.go"}}},
			{Calls: []engine.Call{{Args: "cat fees.go max_rate"}}},
		}, [][]Reference{nil, word("fees.go"), nil}},
		{"what it thinks in the same turn comes from somewhere too", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Thought: "I want fees.go.", Calls: []engine.Call{{Args: "cat fees.go"}}},
		}, [][]Reference{nil, word("fees.go")}},
		{"a whole line counts, wherever it is escaped", []engine.Step{
			{Calls: []engine.Call{{Args: "cat", Observation: seen("  if total < 0 {\n")}}},
			{Calls: []engine.Call{{Args: `{"old": "x\n  if total < 0 {\n"}`}}},
		}, [][]Reference{nil, {{"if total < 0 {", true}}}},
		{"a line may end in a carriage return, and a short one is none", []engine.Step{
			{Calls: []engine.Call{{Args: "cat", Observation: seen("total += fee\rdone\r\nreturn total")}}},
			{Calls: []engine.Call{{Args: "return total\ntotal += fee\ndone"}}},
		}, [][]Reference{nil, {{"return total", true}, {"total += fee", true}}}},
		{"calls that are answered together count once, with the words of all", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go rates.go")}}},
			{Calls: []engine.Call{{Args: "cat fees.go", Joined: true}, {Args: "cat rates.go", Observation: seen("")}}},
		}, [][]Reference{nil, word("fees.go", "rates.go")}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			j := NewJudge(test.steps)
			var got [][]Reference
			for call := range j.Calls() {
				got = append(got, j.References(call))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         []string
	}{
		{"a file, its line, without the full stop behind", "see engine/weave.go:12.", []string{"engine/weave.go:12"}},
		{"an absolute path, without its slash", "in /etc/hosts now", []string{"etc/hosts"}},
		{"identifiers by underscore and inner capital", "max_rate maxRate MaxRate plain Plain", []string{"max_rate", "maxRate", "MaxRate"}},
		{"numbers and ids from four digits on", "12 123 1234 #a1b2c3 x7", []string{"1234", "#a1b2c3"}},
		{"what stands in quotes, brackets and beside letters of any script", `("max_rate")é/a/b`, []string{"max_rate", "a/b"}},
	} {
		want := set{}
		for _, w := range test.want {
			want[w] = true
		}
		if diff := cmp.Diff(want, lexicon{}.words(test.text)); diff != "" {
			t.Errorf("%s: %q: %s", test.reason, test.text, diff)
		}
	}
}

// chain is a run of eight calls; the last takes "max_rate", which the first observation alone has.
func chain() []engine.Step {
	var steps []engine.Step
	for i := range 8 {
		steps = append(steps, engine.Step{Calls: []engine.Call{{Name: "sh", Args: "ls", Observation: seen(strings.Repeat("x", i))}}})
	}
	steps[0].Calls[0].Observation.Text = "max_rate"
	steps[7].Calls[0].Args = "grep max_rate"
	return steps
}

func say(texts ...string) (out []engine.Prompt) {
	for _, text := range texts {
		out = append(out, engine.Prompt{Role: "user", Content: text})
	}
	return out
}

// TestRequest judges contexts so small that each figure is counted by hand. A message of 1 letter has 32
// characters: {"content": "a", "role": "user"}.
func TestRequest(t *testing.T) {
	for _, test := range []struct {
		reason   string
		previous []engine.Prompt
		context  []engine.Prompt
		call     int
		want     Request
	}{
		{"the first request finds nothing in the cache", nil, say("a"), 0, Request{Prompt: 8, Uncached: 8}},
		{"the same again is all cached", say("a"), say("a"), 1, Request{Prompt: 8}},
		{"what is added at the end is not", say("a"), say("a", "b"), 1, Request{Prompt: 16, Uncached: 8}},
		{"a change takes all after it along: 32 + 13 of 96 stay", say("a", "b", "c"), say("a", "d", "c"), 1, Request{Prompt: 24, Uncached: 13}},
		{"a message that grows keeps its beginning: 14 of 34", say("a"), say("abc"), 1, Request{Prompt: 8, Uncached: 5}},
		{"less than before has nothing new", say("a", "b"), say("a"), 1, Request{Prompt: 8}},
		{"a character is one, however many bytes it has", nil, say("é"), 0, Request{Prompt: 8, Uncached: 8}},
		{"é and è begin with one byte, but have no character in common: 13 of 32", say("é"), say("è"), 1, Request{Prompt: 8, Uncached: 5}},
		{"a reference that is in sight", nil, say("max_rate"), 7, Request{Prompt: 9, Uncached: 9, References: 1, Held: 1}},
		{"one that is not, and where the agent would look again", nil, say("a"), 7, Request{Prompt: 8, Uncached: 8, References: 1, Rereads: 1,
			Missing: []Reference{{Text: "max_rate"}}}},
		{"a call that takes nothing", nil, say("a"), 6, Request{Prompt: 8, Uncached: 8}},
		{"a call that the run does not have costs all the same", nil, say("a"), 99, Request{Prompt: 8, Uncached: 8}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			trial := NewJudge(chain()).Trial()
			if test.previous != nil {
				trial.Add(0, test.previous)
			}
			test.want.Call = test.call
			if diff := cmp.Diff(test.want, trial.Add(test.call, test.context)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWarmUp(t *testing.T) {
	steps := chain()
	steps[5].Calls[0].Args = "grep max_rate" // one call before the count begins
	trial := NewJudge(steps).Trial()
	r := trial.Add(5, say("a"))
	if r.References != 0 || len(r.Missing) != 1 {
		t.Errorf("during warm-up: %+v, want what is missing and no count of it", r)
	}
}

func TestRereads(t *testing.T) {
	steps := chain()
	steps[0].Calls[0].Observation.Text = "max_rate min_rate"
	steps[1].Calls[0].Observation.Text = "tax_rate"
	steps[6].Calls[0].Args = "grep max_rate min_rate tax_rate"
	steps[7].Calls[0].Args = "grep 'min_rate' /no/such" // min_rate was just used: in sight for ever
	trial := NewJudge(steps).Trial()
	if r := trial.Add(6, say("a")); r.Rereads != 2 {
		t.Errorf("three words of two observations: %d rereads, want 2", r.Rereads)
	}
	steps = chain()
	steps[6].Calls[0].Args = "grep max_rate"
	steps[7].Calls[0].Args = "max_rate_now max_rate"
	trial = NewJudge(steps).Trial()
	trial.Add(6, say("a"))
	if r := trial.Add(7, say("a")); r.Rereads != 0 {
		t.Errorf("what was got again is got again: %+v", r)
	}
}

// TestArithmetic compares what is counted message by message with what one finds in the whole texts.
func TestArithmetic(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var messages []engine.Prompt
	trial := NewJudge(chain()).Trial()
	previous, first := "", true
	for call := range 300 {
		messages = vary(r, messages)
		whole := ""
		for _, m := range messages {
			whole += dump(m)
		}
		prompt := len([]rune(whole)) / charsPerToken
		uncached := prompt
		if !first {
			uncached -= min(prompt, alike([]rune(previous), []rune(whole))/charsPerToken)
		}
		got := trial.Add(call, messages)
		if got.Prompt != prompt || got.Uncached != uncached {
			t.Fatalf("call %d: prompt %d, uncached %d; want %d, %d\nbefore %s\nnow    %s", call, got.Prompt, got.Uncached, prompt, uncached, previous, whole)
		}
		previous, first = whole, false
	}
}

// vary keeps, changes, drops and adds messages. No text is the beginning of another, so that a message
// that ends differs from one that goes on.
func vary(r *rand.Rand, messages []engine.Prompt) []engine.Prompt {
	next := append([]engine.Prompt{}, messages[:len(messages)-r.IntN(min(3, len(messages)+1))]...)
	for range r.IntN(3) {
		p := engine.Prompt{Role: "tool", Content: fmt.Sprint("é\"\n\u2028", r.IntN(4)), CallID: "c"}
		if r.IntN(2) == 0 {
			p = engine.Prompt{Role: "assistant", Thinking: "hm", Calls: []engine.PromptCall{{ID: "c", Name: "sh", Args: fmt.Sprint(r.IntN(3))}}}
		}
		next = append(next, p)
	}
	if len(next) > 0 && r.IntN(3) == 0 {
		next[r.IntN(len(next))].Content = fmt.Sprint("è", r.IntN(4))
	}
	return next
}

func alike(a, b []rune) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestDump proves that a woven message is counted as its JSON is.
func TestDump(t *testing.T) {
	for _, test := range []struct {
		reason string
		prompt engine.Prompt
		want   string
	}{
		{"keys in order, nothing escaped without need", engine.Prompt{Role: "user", Content: "<é\u2028>"}, `{"content": "<é` + "\u2028" + `>", "role": "user"}`},
		{"what must be escaped", engine.Prompt{Content: "\"\\\n\r\t\b\f\x01\x7f"}, `{"content": "\"\\\n\r\t\b\f\u0001` + "\x7f" + `", "role": ""}`},
		{"thinking and calls", engine.Prompt{Role: "assistant", Thinking: "hm", Calls: []engine.PromptCall{{ID: "1", Name: "sh", Args: `{"a":1}`}, {ID: "2", Name: "ls"}}},
			`{"content": "", "reasoning_content": "hm", "role": "assistant", "tool_calls": [{"function": {"arguments": "{\"a\":1}", "name": "sh"}, "id": "1", "type": "function"}, {"function": {"arguments": "", "name": "ls"}, "id": "2", "type": "function"}]}`},
		{"an answer", engine.Prompt{Role: "tool", CallID: "1"}, `{"content": "", "role": "tool", "tool_call_id": "1"}`},
	} {
		if got := dump(test.prompt); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.reason, got, test.want)
		}
		raw, err := json.Marshal(test.prompt)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := redump(raw); err != nil || got != test.want {
			t.Errorf("%s, from JSON:\ngot  %s, %v\nwant %s", test.reason, got, err, test.want)
		}
	}
}

// TestPaging counts what windows say became of one observation.
func TestPaging(t *testing.T) {
	part := func(seq int) engine.Part { return engine.Part{Seq: seq} }
	type window struct {
		fate engine.Fate
		in   []engine.Part
		want [3]int // shown, paged out, paged in
	}
	trial := NewJudge(chain()).Trial()
	for i, w := range []window{
		{engine.Whole, nil, [3]int{1, 0, 0}}, // new, and so not paged in
		{engine.Omitted, nil, [3]int{0, 1, 0}},
		{engine.Omitted, []engine.Part{part(5), part(5)}, [3]int{0, 0, 1}},
		{engine.Omitted, []engine.Part{part(5), part(5)}, [3]int{0, 0, 0}}, // it stays
		{engine.Omitted, []engine.Part{part(5), part(7)}, [3]int{0, 0, 1}},
		{engine.Omitted, nil, [3]int{0, 0, 0}},
		{engine.Whole, nil, [3]int{1, 0, 1}}, // a page-out taken back
		{engine.Summarised, nil, [3]int{0, 1, 0}},
	} {
		r := trial.AddWindow(i, &engine.Window{Items: []engine.Item{{Handle: "3fa9.1", Fate: w.fate, In: w.in}, {Call: -1, Fate: engine.Said}}})
		if got := [3]int{r.Shown, r.PagedOut, r.PagedIn}; got != w.want {
			t.Errorf("window %d: shown, out, in %v, want %v", i, got, w.want)
		}
	}
}

func TestContexts(t *testing.T) {
	line := func(call int, messages []engine.Prompt) string {
		raw, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"step": %d, "messages": %s}`+"\n", call, raw)
	}
	j := NewJudge(chain())
	// Not in order, and with an empty line.
	got, err := j.Contexts(strings.NewReader(line(7, say("a", "b"))+"\n"+line(6, say("a"))+line(8, []engine.Prompt{})), 8)
	if err != nil {
		t.Fatal(err)
	}
	trial := j.Trial()
	if diff := cmp.Diff([]Request{trial.Add(6, say("a")), trial.Add(7, say("a", "b"))}, got); diff != "" {
		t.Error(diff)
	}
	for _, test := range []struct{ text, want string }{
		{"{", "line 1"},
		{line(1, []engine.Prompt{}) + `{"messages": []}`, `line 2: "step" is missing`},
		{`{"step": -1, "messages": []}`, "negative"},
		{`{"step": 1}`, `line 1: "messages" is missing`},
		{`{"step": 1, "messages": null}`, `line 1: "messages" is missing`},
		{`{"step": "1", "messages": []}`, `line 1: want {"step": k, "messages": […]}: "step" is of the wrong kind: string`},
		{`{"step": 1.5, "messages": []}`, `"step" is of the wrong kind: number 1.5`},
		{`{"step": 1, "messages": {}}`, `"messages" is of the wrong kind: object`},
		{`[1]`, `…]}: found: array`},
		{"", "no context"},
		{"\n \n", "no context"},
		{line(1, []engine.Prompt{}) + line(1, []engine.Prompt{}), "two contexts"},
	} {
		if _, err := j.Contexts(strings.NewReader(test.text), 0); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.text, err, test.want)
		}
	}
}

// Policies are compared on the requests that another program has contexts for.
func TestOnly(t *testing.T) {
	r := Result{Score: Score{Seconds: 8}, Misses: []Miss{{Call: 1}, {Call: 2}}}
	for call := range 4 {
		r.Requests = append(r.Requests, Request{Call: call, Prompt: 1 << call, References: 1})
		r.Score.Add(r.Requests[call])
	}
	r.Only(map[int]bool{2: true, 3: true, 9: true})
	want := Result{Score: Score{Requests: 2, Prompt: 12, References: 2, Steps: 2, Seconds: 4}, Misses: []Miss{{Call: 2}},
		Requests: []Request{{Call: 2, Prompt: 4, References: 1}, {Call: 3, Prompt: 8, References: 1}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func FuzzContexts(f *testing.F) {
	f.Add(`{"step": 7, "messages": [{"role": "user", "content": "max_rate"}]}`)
	f.Add(`{"step": 7, "messages": [1, null, [true, {"a": 1e5}], "x\ud800"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := NewJudge(chain()).Contexts(strings.NewReader(text), 0)
		for _, r := range rs {
			if err != nil || r.Uncached > r.Prompt || r.Held > r.References || r.LinesHeld > r.Lines || r.Lines > r.References {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// BenchmarkAdd judges the contexts of a run of 200 calls of which each drops an observation.
func BenchmarkAdd(b *testing.B) {
	steps := made(9, 20, 200)
	var windows []*engine.Window
	err := plainFit(b).Replay(b.Context(), steps, "window:5", 0, func(_ int, w *engine.Window) error {
		windows = append(windows, w)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	j := NewJudge(steps)
	for b.Loop() {
		t := j.Trial()
		for call, w := range windows {
			t.AddWindow(call, w)
		}
	}
}
