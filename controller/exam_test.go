package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pupil is a server whose model answers as a test wants it. A token is five bytes, and marks take ten.
type pupil struct {
	parents func(past map[string]string, turn string) string // the answer, given candidates by letter
	summary string
	cuts    bool // prompts that are too long, without a word
	dies    int  // after so many answers; 0: never
	breaks  int  // every so many answers end in the middle; 0: none

	answers int
}

func (p *pupil) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, fakeTags)
	case "/api/show":
		io.WriteString(w, fakeShow)
	case "/api/chat":
		p.chat(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p *pupil) chat(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct{ Content string }
		Format   json.RawMessage
		Options  struct {
			Context int `json:"num_ctx"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if p.answers++; p.dies > 0 && p.answers > p.dies {
		http.Error(w, `{"error":"the runner died"}`, http.StatusInternalServerError)
		return
	}
	tokens := 10
	for _, m := range q.Messages {
		tokens += len(m.Content) / 5
	}
	switch {
	case tokens > q.Options.Context && !p.cuts:
		http.Error(w, `{"error":"the input length exceeds the context length"}`, http.StatusBadRequest)
		return
	case p.cuts:
		tokens = min(tokens, q.Options.Context/2)
	}
	text := "tree"
	switch {
	case strings.Contains(string(q.Format), `"parents"`):
		text = p.parents(shownIn(q.Messages[1].Content))
	case strings.Contains(string(q.Format), `"summary"`):
		text = fmt.Sprintf(`{"summary":%q}`, p.summary)
	}
	if strings.Contains(string(q.Format), `"summary"`) {
		text = strings.ReplaceAll(text, "ITS RESULT", result(q.Messages[1].Content))
	}
	if p.breaks > 0 && p.answers%p.breaks == 0 && q.Format != nil {
		fmt.Fprintln(w, piecemeal(text[:len(text)/2]))
		return
	}
	fmt.Fprintln(w, piecemeal(text))
	fmt.Fprintf(w, `{"done":true,"prompt_eval_count":%d,"prompt_eval_duration":1000000000,"eval_count":3,"eval_duration":1000000000}`+"\n", tokens)
}

// result is what a step in a prompt came to, without what would not stand in JSON.
func result(prompt string) string {
	_, text, _ := strings.Cut(prompt, "result: ")
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(strings.NewReplacer(`"`, "", `\`, "").Replace(text)), " ")
}

// shownIn takes a prompt for parents apart.
func shownIn(text string) (past map[string]string, turn string) {
	past = map[string]string{}
	before, turn, _ := strings.Cut(text, "New step:")
	for line := range strings.Lines(before) {
		if label, text, ok := strings.Cut(line, ": "); ok && len(label) == 1 {
			past[label] = text
		}
	}
	return past, turn
}

// literal chooses the one candidate that has a word of the turn, or the last part of a path, which no other has.
func literal(past map[string]string, turn string) string {
	words := Words(turn)
	for _, path := range words {
		words = append(words, path[strings.LastIndexByte(path, '/')+1:])
	}
	for _, word := range words {
		var holders []string
		for label, text := range past {
			if strings.Contains(text, word) {
				holders = append(holders, label)
			}
		}
		if len(holders) == 1 {
			return fmt.Sprintf(`{"parents":[{"id":%q,"confidence":0.9,"reason":"it printed %s"}]}`, holders[0], word)
		}
	}
	return nobody(past, turn)
}

func nobody(map[string]string, string) string { return `{"parents":[]}` }

func first(map[string]string, string) string {
	return `{"parents":[{"id":"A","confidence":1,"reason":"the first"}]}`
}

func TestExam(t *testing.T) {
	const honest = "The result is ITS RESULT"
	exam := Exam{Seed: 3, Chains: 20, Steps: 4, Whole: true}
	for _, test := range []struct {
		why                string
		pupil              pupil
		parents, summaries bool
		parentsWhy         string // parts of what is said
		summariesWhy       string
		check              func(Verdict) bool
	}{
		{"one that finds all and invents nothing is accepted", pupil{parents: literal, summary: honest}, true, true,
			"found 20 of 20 planted chains, 80 % are needed", "invented 0 of the",
			func(v Verdict) bool {
				return v.Planted.AtOnce == 20 && v.Written.Kept == 4 && v.Written.Telling == 4 && v.Context.Honest() && v.Speed.Prompt > 3000 && v.Speed.Output == 3
			}},
		{"one that never finds a parent is refused for parents", pupil{parents: nobody, summary: honest}, false, true,
			"found 0 of 20", "", func(v Verdict) bool { return v.Planted.None == 20 && v.Planted.Valid == 20 }},
		{"so is one that always names the first", pupil{parents: first, summary: honest}, false, true,
			"of 20 planted chains", "", func(v Verdict) bool { return v.Planted.None == 0 && v.Planted.Found < 12 }},
		{"one that makes words up is refused for summaries, and none of them passes the check", pupil{parents: literal, summary: "It repaired made_up_name. It did what was asked."}, true, false,
			"found 20 of 20", "invented 4 of the 4 specific words that it wrote (100 %), at most 2 % may be",
			func(v Verdict) bool {
				return v.Written.Passed == 0 && v.Written.Kept == 4 && v.Written.Example == "made_up_name"
			}},
		{"one that says nothing in particular invents nothing, and is refused all the same", pupil{parents: literal, summary: "It did what was asked."}, true, false,
			"found 20 of 20", "0 of 4 summaries hold the id", func(v Verdict) bool { return v.Written.Words == 0 && v.Written.Kept == 4 }},
		{"one whose answers break off now and then, as of one that repeats itself, goes on without them", pupil{parents: literal, summary: honest, breaks: 10}, true, true,
			"found 18 of 20", "", func(v Verdict) bool { return v.Planted.Valid == 18 && strings.Contains(v.Planted.Invalid, "broke off") }},
		{"one whose server cuts what is too long is refused for all", pupil{parents: literal, summary: "It did what was asked.", cuts: true}, false, false,
			"of a prompt of 3850 tokens the server read 2048", "of a prompt of 3850 tokens the server read 2048", func(v Verdict) bool { return !v.Context.Honest() }},
		{"one that does not keep to the form is refused", pupil{parents: func(map[string]string, string) string { return "Sure!" }, summary: ""}, false, false,
			"it must be one JSON object", "0 of 4 summaries have the wanted form", func(v Verdict) bool { return v.Planted.Of == 20 && v.Planted.Valid == 0 }},
	} {
		t.Run(test.why, func(t *testing.T) {
			server := httptest.NewServer(&test.pupil)
			defer server.Close()
			o, err := NewOllama(OllamaOptions{Host: server.URL, Model: "tiny"})
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			v, err := exam.Examine(context.Background(), o, func(p Progress) {
				if told++; p.Done >= p.Of || p.Part == "" {
					t.Errorf("progress %+v", p)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if v.Parents != test.parents || v.Summaries != test.summaries || !test.check(v) ||
				!strings.Contains(v.ParentsWhy, test.parentsWhy) || !strings.Contains(v.SummariesWhy, test.summariesWhy) {
				t.Errorf("%+v", v)
			}
			if v.Cut() {
				t.Errorf("cut short: %+v", v)
			}
			shortened(t, o, exam, v)
			if told == 0 || v.Digest != "sha256:d1" || v.When.IsZero() || len(v.Prompts) != 3 {
				t.Errorf("%d times told; %+v", told, v)
			}
		})
	}
}

// shortened makes sure that an exam which ends when the outcome is certain has the outcome of the whole one, and says
// what it did not ask.
func shortened(t *testing.T, o *Ollama, exam Exam, whole Verdict) {
	t.Helper()
	exam.Whole = false
	v, err := exam.Examine(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Parents != whole.Parents || v.Summaries != whole.Summaries {
		t.Errorf("%+v, but whole it is %+v", v, whole)
	}
	p, w := v.Planted, v.Written
	switch missed := p.Of - p.Found; {
	case p.Cut != (p.Of < exam.Chains), p.Cut && v.Parents, p.Cut && missed != 5:
		t.Errorf("planted: %+v", p)
	case p.Cut && p.Valid > 0 && v.Context.Honest() && !strings.Contains(v.ParentsWhy, fmt.Sprintf("found %d of %d planted chains, so at most %d of 20, 80 %%", p.Found, p.Of, 20-missed)):
		t.Errorf("parents: %s; %+v", v.ParentsWhy, p)
	}
	if w.Cut != (w.Of < exam.Steps) || w.Cut && v.Summaries || w.Cut && v.Context.Honest() && !strings.Contains(v.SummariesWhy, "so at most") {
		t.Errorf("summaries: %s; %+v", v.SummariesWhy, w)
	}
}

// An exam that is broken off, wherever it is, goes on from there, and comes to what it would have come to.
func TestExamGoesOn(t *testing.T) {
	kept := Verdicts(t.TempDir())
	for _, test := range []struct {
		why   string
		pupil pupil
		exam  Exam
	}{
		{"one that passes", pupil{parents: literal, summary: "The result is ITS RESULT"}, Exam{Chains: 12, Steps: 3}},
		{"one that fails", pupil{parents: first, summary: "It repaired made_up_name."}, Exam{Chains: 12, Steps: 3, Whole: true}},
		{"one that fails soon", pupil{parents: first, summary: "It repaired made_up_name."}, Exam{Chains: 12, Steps: 3}},
	} {
		server := httptest.NewServer(&test.pupil)
		defer server.Close()
		o, err := NewOllama(OllamaOptions{Host: server.URL, Model: "tiny"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := o.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := test.exam.Examine(t.Context(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		once := test.pupil.answers
		test.pupil.answers = 0
		broken := 0
		for {
			// Each run ends after two more pieces of work.
			from, ok, err := kept.Find(test.exam, o, m)
			if ok || err != nil {
				t.Fatalf("%s: what was broken off is a verdict: %v", test.why, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			told := 0
			v, err := test.exam.Resume(ctx, o, from, func(p Progress) {
				if told++; told == 3 && p.Part != "context" {
					cancel()
				}
			})
			cancel()
			if err == nil {
				want.Speed, want.When, want.Planted.Took = v.Speed, v.When, v.Planted.Took
				if d := cmp.Diff(want, v); d != "" {
					t.Errorf("%s, after %d breaks (-at once +resumed):\n%s", test.why, broken, d)
				}
				break
			}
			if broken++; !errors.Is(err, context.Canceled) || !v.Begun || broken > 20 {
				t.Fatalf("%s: %+v, %v", test.why, v, err)
			}
			if err := kept.Keep(v); err != nil {
				t.Fatal(err)
			}
		}
		if broken < 2 || test.pupil.answers > once+broken {
			t.Errorf("%s: %d answers with %d breaks, %d at once", test.why, test.pupil.answers, broken, once)
		}
		other := want
		other.Digest = "sha256:d2"
		test.pupil.answers = 0
		if v, err := test.exam.Resume(t.Context(), o, other, nil); err != nil || test.pupil.answers < once || v.Digest != want.Digest {
			t.Errorf("%s: from another model's verdict: %d answers, %+v, %v", test.why, test.pupil.answers, v, err)
		}
		if err := os.RemoveAll(string(kept)); err != nil {
			t.Fatal(err)
		}
	}
}

// What says nothing of the model is an error, not a verdict.
func TestExamWithoutVerdict(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		why  string
		ctx  context.Context
		dies int
		want error
	}{
		{"the server dies while chains are asked for", context.Background(), 7, ErrServer},
		{"while steps are summed up", context.Background(), 22, ErrServer},
		{"while the context is measured", context.Background(), 20 + 3*3 + 1, ErrServer},
		{"the caller goes away", ended, 0, context.Canceled},
	} {
		server := httptest.NewServer(&pupil{parents: literal, summary: "It did.", dies: test.dies})
		o, err := NewOllama(OllamaOptions{Host: server.URL, Model: "tiny"})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := (Exam{Chains: 20, Steps: 3, Whole: true}).Examine(test.ctx, o, nil); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v; %+v", test.why, err, test.want, v)
		}
		server.Close()
	}
	o, err := NewOllama(OllamaOptions{Host: "127.0.0.1:1", Model: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Exam{}).Examine(context.Background(), o, nil); !errors.Is(err, ErrNoServer) {
		t.Errorf("no server: %v", err)
	}
}

// transport answers a client without any network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A server that hangs is given up within minutes, wherever it hangs, and another model under the name of the one that
// is examined gets no verdict.
func TestExamEnds(t *testing.T) {
	for _, test := range []struct {
		why   string
		hangs int // from this answer on; 0: never
		tags  func(seconds float64) string
		want  error
	}{
		{"it hangs at once", 1, nil, context.DeadlineExceeded},
		{"while chains are asked for", 3, nil, context.DeadlineExceeded},
		{"while steps are summed up", 22, nil, context.DeadlineExceeded},
		{"while the context is measured", 20 + 3*3 + 1, nil, context.DeadlineExceeded},
		{"the model is replaced", 0, func(after float64) string {
			if after > 90 {
				return strings.ReplaceAll(fakeTags, "d1", "d2")
			}
			return fakeTags
		}, ErrUnfit},
		{"the model is deleted", 0, func(after float64) string {
			if after > 90 {
				return `{"models":[]}`
			}
			return fakeTags
		}, ErrNoModel},
	} {
		synctest.Test(t, func(t *testing.T) {
			o, err := NewOllama(OllamaOptions{Host: "127.0.0.1:1", Model: "tiny"})
			if err != nil {
				t.Fatal(err)
			}
			p, start := &pupil{parents: literal, summary: "It did."}, time.Now()
			o.http.Transport = transport(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/api/tags" && test.tags != nil {
					return (&http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(test.tags(time.Since(start).Seconds())))}), nil
				}
				if r.URL.Path == "/api/chat" {
					<-time.After(3 * time.Second) // of the bubble
				}
				if test.hangs > 0 && p.answers+1 >= test.hangs && r.URL.Path == "/api/chat" {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				w := httptest.NewRecorder()
				p.ServeHTTP(w, r)
				return w.Result(), nil
			})
			v, err := (Exam{Chains: 20, Steps: 3, Whole: true}).Examine(t.Context(), o, nil)
			if !errors.Is(err, test.want) || time.Since(start) > 20*time.Minute {
				t.Errorf("%s: %v after %v, want %v; %+v", test.why, err, time.Since(start), test.want, v)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	kept := Verdicts(filepath.Join(t.TempDir(), "new", "verdicts"))
	o, err := NewOllama(OllamaOptions{Model: "tiny"})
	if err != nil {
		t.Fatal(err)
	}
	m := Model{Name: "tiny", Digest: "sha256:d1"}
	if _, ok, err := kept.Find(Exam{}, o, m); ok || err != nil {
		t.Fatalf("in a folder that is not there: %v, %v", ok, err)
	}
	v := Verdict{Model: "tiny", Digest: m.Digest, Ask: AskChat, NumCtx: 4096, Prompts: promptsOf(AskChat), Exam: Exam{}.whole(), Parents: true, When: time.Unix(1, 0).UTC()}
	if err := kept.Keep(v); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := kept.Find(Exam{Whole: true}, o, m); !ok || err != nil {
		t.Errorf("one that was not cut short is a whole one: %v, %v", ok, err)
	}
	v.Planted.Cut = true
	for range 2 { // a second verdict takes the place of the first
		if err := kept.Keep(v); err != nil {
			t.Fatal(err)
		}
		got, ok, err := kept.Find(Exam{Chains: 50}, o, m)
		if d := cmp.Diff(v, got); !ok || err != nil || d != "" {
			t.Fatalf("%v, %v: %s", ok, err, d)
		}
		v.Parents = false
	}
	scores, err := NewOllama(OllamaOptions{Model: "tiny", Ask: AskScores})
	if err != nil {
		t.Fatal(err)
	}
	longer, err := NewOllama(OllamaOptions{Model: "tiny", NumCtx: 8192})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why  string
		exam Exam
		o    *Ollama
		m    Model
	}{
		{"another digest is another model", Exam{}, o, Model{Name: "tiny", Digest: "sha256:d2"}},
		{"it is asked otherwise", Exam{}, scores, m},
		{"its context is another", Exam{}, longer, m},
		{"the exam is another", Exam{Seed: 1}, o, m},
		{"it was cut short, and is to be whole", Exam{Whole: true}, o, m},
	} {
		if _, ok, err := kept.Find(test.exam, test.o, test.m); ok || err != nil {
			t.Errorf("%s: %v, %v", test.why, ok, err)
		}
	}
	for _, text := range []string{"", "{", "null", "{}", "[]", `{"model":"tiny","parents":true}`, `{"parents":"yes"}`, "\x00\x00", strings.Repeat("[", 1<<20)} {
		if err := os.WriteFile(kept.path(v), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, ok, err := kept.Find(Exam{}, o, m); ok || err == nil || !strings.Contains(err.Error(), "is no verdict") {
			t.Errorf("a file of %.40q: %+v, %v", text, v, err)
		}
	}
	left, err := os.ReadDir(string(kept))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want one file", left, err)
	}
}
