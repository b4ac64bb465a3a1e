package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestModelSummary(t *testing.T) {
	turn := Turn{Task: "parse_header crashes", Thought: "Build it.", Calls: []Call{{Name: "bash", Args: `{"command":"make"}`, Answered: true, Observation: "src/http.c:88: error\n2 errors"}}}
	said := func(text string) string {
		b, err := json.Marshal(map[string]string{"summary": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	parents := []string{"viewed README ← listed ls", "edited src/http.c"}
	long := strings.Repeat("word ", 100)
	for _, test := range []struct {
		why              string
		parents          []string
		answers          []string
		step, dependency string
		want             error
		failed           int
		calls            int
	}{
		{why: "what is in the step may be said", answers: []string{said("It ran make: src/http.c:88 has an error.")},
			step: "It ran make: src/http.c:88 has an error.", dependency: "It ran make: src/http.c:88 has an error.", calls: 1},
		{why: "with parents, what is in them too", parents: parents, answers: []string{said("It ran make."), said("It ran make after README and src/http.c.")},
			step: "It ran make.", dependency: "It ran make after README and src/http.c.", calls: 2},
		{why: "an invented word is repaired", answers: []string{said("It ran cmake_x."), said("It ran make.")}, step: "It ran make.", dependency: "It ran make.", calls: 2},
		{why: "or its sentence is dropped", answers: []string{said("It ran make in src/http.c now. Then zlib_x failed.")},
			step: "It ran make in src/http.c now.", dependency: "It ran make in src/http.c now.", calls: 2},
		{why: "or all of it, which tells nothing of the server", answers: []string{said("It ran zlib_x.")}, want: ErrInvented, calls: 2},
		{why: "a number is invented as easily", answers: []string{said("It ran make with 3 errors.")}, want: ErrInvented, calls: 2},
		{why: "an invented word in the second summary", parents: parents, answers: []string{said("It ran make."), said("It edited lib/z.c.")}, want: ErrInvented, calls: 3},
		{why: "a long one is cut", answers: []string{said(long)}, step: strings.TrimSpace(strings.Repeat("word ", stepWords)) + "…", dependency: strings.TrimSpace(strings.Repeat("word ", stepWords)) + "…", calls: 1},
		{why: "a loop is run through once", answers: []string{said("It ran make. It fails. " + strings.Repeat("It fails. ", 9) + "It f")}, step: "It ran make. It fails.", dependency: "It ran make. It fails.", calls: 1},
		{why: "one line", answers: []string{said("It\nran \x1b[31mmake\x1b[0m ← now.")}, step: "It ran make now.", dependency: "It ran make now.", calls: 1},
		{why: "nothing", answers: []string{said("")}, want: ErrBabble, failed: 1, calls: 2},
		{why: "dots", answers: []string{said(" ... ")}, want: ErrBabble, failed: 1, calls: 2},
		{why: "another key", answers: []string{`{"result":"It ran make."}`}, want: ErrBabble, failed: 1, calls: 2},
		{why: "the schema", answers: []string{string(summarySchema)}, want: ErrBabble, failed: 1, calls: 2},
		{why: "no text", answers: []string{`{"summary":["It ran make."]}`}, want: ErrBabble, failed: 1, calls: 2},
	} {
		f := &fake{t: t, chat: says(test.answers...)}
		o := f.client(OllamaOptions{})
		s, err := o.Summarize(t.Context(), SummaryQuestion{Turn: turn, Facts: Extract(turn), Parents: test.parents})
		if !errors.Is(err, test.want) || s.Step != test.step || s.Dependency != test.dependency || s.Origin.Calls != test.calls || o.gate.failed != test.failed {
			t.Errorf("%s: %+v, failures %d, error %v", test.why, s, o.gate.failed, err)
		}
		if err == nil && (s.By != "tiny" || s.Origin.Digest == "" || !strings.HasPrefix(s.Origin.Prompt, stepPrompt.hash)) {
			t.Errorf("%s: origin %+v", test.why, s)
		}
	}
}

// However long the turn, a prompt fits the context by our own count, with room for the answer. Text that the
// server counts higher is cut shorter from then on.
func TestPromptsFit(t *testing.T) {
	for _, text := range []string{strings.Repeat("a_long word of prose, and more; ", 1_500), strings.Repeat("日本語", 1_500), strings.Repeat("x", 40_000), strings.Repeat("1\n", 1_500), strings.Repeat("\xff", 1_500)} {
		for _, context := range []int{leastContext, 4096} {
			const double = 2 // tokens of the server for one of ours
			f := &fake{t: t, asked: make(chan map[string]any, 16)}
			f.chat = func(w http.ResponseWriter, r *http.Request) {
				w.Write([]byte(piecemeal(`{"parents":[],"summary":"x"}`)))
			}
			o := f.client(OllamaOptions{NumCtx: context, Breaker: Breaker{Failures: 1000}})
			count := func() int {
				n := 0
				for _, m := range (<-f.asked)["messages"].([]any) {
					n += o.opts.Count(m.(map[string]any)["content"].(string))
				}
				return n
			}
			turn := Turn{ID: "x", Task: text, Thought: text, Calls: []Call{{Name: "bash", Args: text, Answered: true, Observation: text}, {Name: text, Answered: true}}}
			q := Question{Turn: turn}
			for i := range 50 {
				q.Candidates = append(q.Candidates, Past{ID: fmt.Sprint(i), Summary: text})
			}
			for _, stretch := range []float64{1, double} {
				o.stretchTo(stretch)
				for _, ask := range []func() error{
					func() error { _, err := o.Select(t.Context(), q); return err },
					func() error {
						_, err := o.Summarize(t.Context(), SummaryQuestion{Turn: turn, Parents: []string{text, text}})
						return err
					},
				} {
					ask() // the answer does not matter
					if n := float64(count()) * stretch; n > float64(context)*7/8 {
						t.Errorf("%q…: %.0f tokens for a context of %d", text[:9], n, context)
					}
					for len(f.asked) > 0 {
						<-f.asked
					}
				}
			}
		}
	}
}

// Appending a candidate leaves the prompt's beginning as it was, nearly always also when the list is full, and however
// many candidates have failed. What is shown are the newest, and the best of the older ones that rules have found.
func TestPromptsShareTheirBeginning(t *testing.T) {
	o := (&fake{t: t}).client(OllamaOptions{})
	for _, apart := range []int{1, 3} {
		prompt := func(n int) (q Question, before string) {
			q = three()
			q.Candidates = nil
			for i := n - 1; i >= max(0, n-50); i-- {
				q.Candidates = append(q.Candidates, Past{ID: fmt.Sprint("node", i), Seq: i * apart, Summary: fmt.Sprint("ran step ", i, ".")})
			}
			f, past := o.offered(q, Model{})
			if len(past) != len(q.Candidates) && (len(past) < mostNewest-block+1 || len(past) > mostNewest) {
				t.Errorf("%d of %d candidates are shown", len(past), len(q.Candidates))
			}
			messages, err := parentsPrompt.messages(f)
			if err != nil {
				t.Fatal(err)
			}
			before, _, _ = strings.Cut(messages[1].Content, "\nNew step:")
			return q, before
		}
		fresh := 0
		for n := 1; n < 200; n++ {
			_, before := prompt(n)
			q, now := prompt(n + 1)
			if !strings.HasPrefix(now, before) {
				fresh++
			}
			for i := range q.Candidates[:min(10, len(q.Candidates))] {
				if !strings.Contains(now, q.Candidates[i].Summary) {
					t.Errorf("the newest candidate but %d of %d is not shown", i, n+1)
				}
			}
		}
		if most := 200 / block * apart; fresh > most {
			t.Errorf("%d of 199 prompts begin afresh, want %d", fresh, most)
		}
	}
}

func TestShownAreFoundOnes(t *testing.T) {
	q := three()
	q.Candidates = nil
	for i := 49; i >= 0; i-- {
		q.Candidates = append(q.Candidates, Past{ID: fmt.Sprint(i), Seq: i, Summary: fmt.Sprint("ran step ", i, ".")})
	}
	o := (&fake{t: t}).client(OllamaOptions{})
	for _, test := range []struct {
		why   string
		found []string // by falling score
		want  string   // after the newest
	}{
		{"nothing was found", nil, ""},
		{"what is among the newest is not shown twice", []string{"49", "45"}, ""},
		{"the best three of the older ones, the oldest first", []string{"48", "5", "20", "47", "3", "4"}, "3 5 20"},
		{"what is no candidate is not shown", []string{"gone", "7"}, "7"},
	} {
		q.Found = nil
		for i, id := range test.found {
			q.Found = append(q.Found, Choice{ID: id, Score: 1 - float64(i)/10})
		}
		newest, older := shown(q)
		var got []string
		for _, p := range older {
			got = append(got, p.ID)
		}
		if strings.Join(got, " ") != test.want || newest[len(newest)-1].ID != "49" {
			t.Errorf("%s: %v after %d of the newest", test.why, got, len(newest))
		}
		f, past := o.offered(q, Model{})
		messages, err := scoresPrompt.messages(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range past {
			if line := labels[i:i+1] + ": ran step " + p.ID + "."; !strings.Contains(messages[1].Content, line) {
				t.Errorf("%s: %q is not in %s", test.why, line, messages[1].Content)
			}
		}
		if strings.Contains(messages[1].Content, "before those") != (test.want != "") || len(past) > mostShown {
			t.Errorf("%s: %s", test.why, messages[1].Content)
		}
	}
}
