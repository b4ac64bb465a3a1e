//go:build ollama

// These tests ask a real server: CTXWEAVER_OLLAMA is its URL. It has to have smollm2:135m and all-minilm:22m.
package controller

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
)

const (
	realChat   = "smollm2:135m"
	realVector = "all-minilm:22m"
)

func realServer(t *testing.T, o OllamaOptions) *Ollama {
	t.Helper()
	if o.Host = os.Getenv("CTXWEAVER_OLLAMA"); o.Host == "" {
		t.Fatal("CTXWEAVER_OLLAMA is not set: it is the URL of the server that these tests ask")
	}
	c, err := NewOllama(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// realModel is the model as the server tells of it.
func realModel(t *testing.T, o *Ollama) Model {
	t.Helper()
	m, err := o.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// session is a small trace in which each step has one obvious source.
func session() Question {
	q := Question{Turn: Turn{ID: "now", Task: "The web shop shows wrong prices in Japan. Find out why.",
		Thought: "The currency of the Japanese price list is wrong, I correct it to yen.",
		Calls:   []Call{{Name: "edit", Args: `{"path":"prices/japan.yaml","old":"currency: USD","new":"currency: JPY"}`}}}}
	for i, text := range []string{
		"listed files → README.md, prices, templates, mailer", "viewed README.md → how to install the shop",
		"viewed prices/japan.yaml → currency: USD, list of prices in Japan", "ran mailer tests → all passed",
		"viewed templates/footer.html → copyright notice", "searched newsletter → mailer/newsletter.py",
		"ran docker ps → 2 containers", "viewed mailer/newsletter.py → sends mail on Mondays",
	} {
		q.Candidates = append([]Past{{ID: fmt.Sprint("step", i), Summary: text}}, q.Candidates...)
	}
	return q
}

func TestRealModel(t *testing.T) {
	m := realModel(t, realServer(t, OllamaOptions{Model: realChat}))
	if len(m.Digest) != 64 || m.Size < 50<<20 || m.Parameters == "" || m.Context != 8192 || !m.Completion || m.Thinking || m.Embedding {
		t.Errorf("%+v", m)
	}
	m = realModel(t, realServer(t, OllamaOptions{Model: realVector}))
	if m.Context != 512 || m.Completion || !m.Embedding {
		t.Errorf("%+v", m)
	}
	if _, err := realServer(t, OllamaOptions{Model: "no-such-model"}).Model(t.Context()); !errors.Is(err, ErrNoModel) {
		t.Error(err)
	}
}

// A model of this size may choose badly, but what it chooses is a candidate.
func TestRealSchema(t *testing.T) {
	for _, ask := range []Asking{AskChat, AskScores} {
		q := session()
		a, err := realServer(t, OllamaOptions{Model: realChat, Ask: ask}).Select(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", ask, err)
		}
		for _, c := range a.Choices {
			if !strings.HasPrefix(c.ID, "step") || !(c.Score >= 0 && c.Score <= 1) {
				t.Errorf("%s: %+v", ask, c)
			}
		}
		t.Logf("%s: %+v", ask, a)
	}
}

// The second question over the same candidates reads little anew, and does not load the model again.
func TestRealPrefixCache(t *testing.T) {
	o := realServer(t, OllamaOptions{Model: realChat})
	m := realModel(t, o)
	ask := func(task, thought string) reply {
		q := session()
		f, _ := o.offered(q, m)
		f.Task, f.Turn = task, thought
		messages, err := scoresPrompt.messages(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := o.chat(t.Context(), m, request{messages: messages, predict: 1, top: 20})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ask("warm up", "nothing")
	var times []string
	for i := range 5 { // others may use the server or its processors meanwhile
		task := fmt.Sprint("task ", i, " that nobody asked of this server before")
		first, second := ask(task, "It looks at the prices."), ask(task, "It looks at the mailer.")
		for _, r := range []reply{first, second} {
			if r.metrics.LoadDuration.Seconds() > 2 {
				t.Errorf("it took %v to load the model again", r.metrics.LoadDuration)
			}
			if r.metrics.PromptEvalCount < 100 {
				t.Errorf("the server read %d tokens", r.metrics.PromptEvalCount)
			}
		}
		a, b := first.metrics.PromptEvalDuration, second.metrics.PromptEvalDuration
		times = append(times, fmt.Sprint(a, " then ", b))
		if b < a/2 {
			t.Log(times)
			return
		}
	}
	t.Errorf("to read a prompt, and then one with the same beginning, took %v", times)
}

// A prompt that does not fit is refused, not cut, and what comes next is shorter.
func TestRealTooLong(t *testing.T) {
	o := realServer(t, OllamaOptions{Model: realChat, NumCtx: leastContext, Count: func(text string) int { return len(text) / 40 }})
	q := session()
	q.Turn.Thought = strings.Repeat("3.14159 ", 5000)
	q.Turn.Calls[0].Args = strings.Repeat("2.71828 ", 5000)
	for i := range q.Candidates {
		q.Candidates[i].Summary = strings.Repeat("1.41421 ", 1000)
	}
	if _, err := o.Select(t.Context(), q); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
	if o.stretching() < 1.5 {
		t.Errorf("the next prompt is as long: %v", o.stretching())
	}
	m := realModel(t, o)
	r, err := o.chat(t.Context(), m, request{messages: []api.Message{{Role: "user", Content: strings.Repeat("3.14159 ", 2000)}}, predict: 1})
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := realServer(t, OllamaOptions{Model: realVector}).Embed(t.Context(), []string{strings.Repeat("3.14159 ", 2000)}); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

func TestRealVectors(t *testing.T) {
	o := realServer(t, OllamaOptions{Model: realVector, Ask: AskEmbeddings})
	v, err := o.Embed(t.Context(), []string{"The price list of Japan.", "Prices in yen for Japanese customers.", "A newsletter on Mondays."})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range v {
		if len(v) != 384 || !normalised(v) {
			t.Errorf("%d numbers of length² %v", len(v), cosine(v, v))
		}
	}
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < far+0.2 {
		t.Errorf("near %v, far %v", near, far)
	}
	// By itself this server takes a word with one of these marks for one that it does not know.
	v, err = o.Embed(t.Context(), []string{"fn total<T>(price|tax) { price+tax }", "fn total < T >(price | tax) { price + tax }"})
	if err != nil || cosine(v[0], v[1]) < 0.999 {
		t.Errorf("with marks and with marks apart: %v, %v", cosine(v[0], v[1]), err)
	}
	a, err := o.Select(t.Context(), session())
	if err != nil || a.Choices[0].ID != "step2" || len(a.Vector) != 384 {
		t.Errorf("%+v, %v", a.Choices, err)
	}
}

// Whatever a small model writes, no word is made up, or there is an error that says so.
func TestRealSummary(t *testing.T) {
	o := realServer(t, OllamaOptions{Model: realChat})
	turn := Turn{Task: "parse_header crashes on empty input", Thought: "Let us build it.", Calls: []Call{{Name: "bash", Args: `{"command":"make test"}`, Answered: true,
		Observation: "gcc -c src/http.c\nsrc/http.c:88: warning: unused\n./run_tests\ntest_empty FAILED\n1 failed, 12 passed"}}}
	q := SummaryQuestion{Turn: turn, Facts: Extract(turn), Parents: []string{"viewed src/http.c → int parse_header(char *s)"}}
	s, err := o.Summarize(t.Context(), q)
	if err != nil && !errors.Is(err, ErrInvented) && !errors.Is(err, ErrBabble) {
		t.Fatal(err)
	}
	t.Logf("%+v, %v", s, err)
	if made := sources(append(turn.Told(), q.Parents...)...).invented(s.Step + " " + s.Dependency); len(made) > 0 {
		t.Errorf("made up: %q", made)
	}
}
