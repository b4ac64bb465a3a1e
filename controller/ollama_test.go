package controller

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// fake is a server that speaks Ollama's protocol, as badly as a test wants it.
type fake struct {
	t             *testing.T
	chat, embed   http.HandlerFunc
	tags, show    string // answers to these; "": a model that can do all but think
	chats, embeds atomic.Int32
	asked         chan map[string]any // the chat requests, if not nil
}

const (
	fakeTags = `{"models":[{"name":"tiny:latest","digest":"sha256:d1","size":1000}]}`
	fakeShow = `{"details":{"parameter_size":"1M"},"model_info":{"general.architecture":"toy","toy.context_length":8192},"capabilities":["completion","embedding"]}`
)

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := bodyOf(r)
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, cmp.Or(f.tags, fakeTags))
	case "/api/show":
		io.WriteString(w, cmp.Or(f.show, fakeShow))
	case "/api/chat":
		f.chats.Add(1)
		if f.asked != nil {
			var m map[string]any
			if err := json.Unmarshal(body, &m); err != nil {
				f.t.Error(err)
			}
			f.asked <- m
		}
		f.chat(w, r)
	case "/api/embed":
		f.embeds.Add(1)
		f.embed(w, r)
	default:
		f.t.Errorf("asked for %s", r.URL.Path)
		http.NotFound(w, r)
	}
}

func bodyOf(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	return body
}

// start serves until the test ends.
func (f *fake) start() *httptest.Server {
	s := httptest.NewServer(f)
	f.t.Cleanup(s.Close)
	return s
}

// client returns a client of the fake.
func (f *fake) client(o OllamaOptions) *Ollama {
	f.t.Helper()
	if o.Host == "" {
		o.Host = f.start().URL
	}
	o.Model = "tiny"
	c, err := NewOllama(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// says answers chats with these texts, one after the other and then always the last, in a stream of small pieces.
func says(texts ...string) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		text := texts[min(int(n.Add(1))-1, len(texts)-1)]
		for piece := range slices.Chunk([]rune(text), 7) {
			fmt.Fprintln(w, piecemeal(string(piece)))
		}
		fmt.Fprintln(w, finished)
	}
}

func piecemeal(text string) string {
	line, _ := json.Marshal(map[string]any{"model": "tiny", "message": map[string]string{"role": "assistant", "content": text}})
	return string(line)
}

const finished = `{"model":"tiny","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":5}`

// sends answers with these lines as they are.
func sends(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Join(lines, "\n")) }
}

func fails(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// three is a question with three candidates; a, the oldest, has the letter A.
func three() Question {
	return Question{
		Turn: Turn{ID: "d", Task: "fix the crash", Thought: "The header it is.", Calls: []Call{{Name: "bash", Args: `{"command":"make"}`}}},
		Candidates: []Past{
			{ID: "c", Summary: "listed ls → src"}, {ID: "b", Summary: "ran make → undefined parse_header"}, {ID: "a", Summary: "viewed README"},
		},
	}
}

// A server may do what it likes: each answer is a valid one or one clear error, in time, with nothing left behind.
func TestMisbehavingServer(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	dribble := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprintln(w, piecemeal(" "))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	cut := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, piecemeal(`{"parents":[{"id":"A",`))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	short := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "9999")
		fmt.Fprintln(w, piecemeal(`{"parents":[]`))
	}
	parent := func(id string, confidence string) string {
		return fmt.Sprintf(`{"parents":[{"id":%q,"confidence":%s,"reason":"it uses parse_header"}]}`, id, confidence)
	}
	logprobs := func(top string) string {
		return `{"message":{"content":"A"},"logprobs":[{"token":"A","logprob":-0.1,"top_logprobs":[` + top + `]}],"done":true}`
	}
	embeddings := func(list string) http.HandlerFunc { return sends(`{"embeddings":[` + list + `]}`) }
	const slow, honest, broken = time.Millisecond * 300, 0, 1

	for _, test := range []struct {
		why    string
		ask    Asking
		answer http.HandlerFunc // of chats and embeddings
		tags   string
		show   string
		want   error
		failed int   // calls that the breaker counts
		calls  int32 // of chats and embeddings, 0: any
	}{
		{why: "status 500", answer: fails(500, `{"error":"llama runner process has terminated"}`), want: ErrServer, failed: broken, calls: 1},
		{why: "status 500 without a body", answer: fails(500, ""), want: ErrServer, failed: broken},
		{why: "a server that is full", answer: fails(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), want: ErrServer, failed: broken},
		{why: "a page of a proxy", answer: fails(200, "<!DOCTYPE html>\n<html><body>Sign in</body></html>"), want: ErrServer, failed: broken},
		{why: "a page of a proxy, as a failure", answer: fails(502, "<html>Bad Gateway</html>"), want: ErrServer, failed: broken},
		{why: "a server that wants a sign-in", answer: fails(401, `{"error":"unauthorized","signin_url":"https://example.com"}`), want: ErrServer, failed: broken},
		{why: "it hangs", answer: hang, want: context.DeadlineExceeded, failed: broken},
		{why: "it dribbles white space for ever", answer: dribble, want: context.DeadlineExceeded, failed: broken},
		{why: "the stream is cut in the middle", answer: cut, want: ErrServer, failed: broken},
		{why: "the stream is shorter than its header says", answer: short, want: ErrServer, failed: broken},
		{why: "the stream ends without its last line, as after a repeated token", answer: sends(piecemeal(`{"parents":`)), want: ErrServer, failed: broken},
		{why: "0 bytes", answer: sends(), want: ErrServer, failed: broken},
		{why: "the model is unloaded in the middle", answer: sends(piecemeal(`{"par`), `{"error":"model runner has unexpectedly stopped"}`), want: ErrServer, failed: broken},
		{why: "the model is gone", answer: fails(404, `{"error":"model 'tiny' not found"}`), want: ErrNoModel, failed: broken},
		{why: "the model is on no list", tags: `{"models":[]}`, answer: says(parent("A", "1")), want: ErrNoModel, failed: broken},
		{why: "a prompt that is too long", answer: fails(400, `{"error":"the input length exceeds the context length"}`), want: ErrTooLong, failed: honest, calls: 1},
		{why: "a prompt that was cut without a word", answer: sends(piecemeal(parent("A", "1")[:20]), `{"message":{"content":""},"done":true,"prompt_eval_count":12}`), want: ErrTooLong, failed: honest},

		{why: "an empty answer", answer: says(""), want: ErrBabble, failed: broken, calls: 2},
		{why: "thoughts only", answer: sends(`{"message":{"content":"","thinking":"Let me see"}}`, finished), want: ErrBabble, failed: broken, calls: 2},
		{why: "the schema itself", answer: says(`{"type":"object","properties":{"parents":{"type":"array"}}}`), want: ErrBabble, failed: broken, calls: 2},
		{why: "a list instead of an object", answer: says(`[{"id":"A","confidence":1,"reason":""}]`), want: ErrBabble, failed: broken},
		{why: "a bare null", answer: says(`null`), want: ErrBabble, failed: broken},
		{why: "null for the list", answer: says(`{"parents":null}`), want: ErrBabble, failed: broken},
		{why: "prose before the JSON", answer: says("Sure! " + parent("A", "1")), want: ErrBabble, failed: broken},
		{why: "a letter of no candidate", answer: says(parent("D", "1")), want: ErrBabble, failed: broken, calls: 2},
		{why: "two letters", answer: says(parent("AB", "1")), want: ErrBabble, failed: broken},
		{why: "no letter", answer: says(parent("", "1")), want: ErrBabble, failed: broken},
		{why: "an id instead of its letter", answer: says(parent("a", "1")), want: ErrBabble, failed: broken},
		{why: "one candidate twice", answer: says(`{"parents":[{"id":"A","confidence":1,"reason":""},{"id":"A","confidence":1,"reason":""}]}`), want: ErrBabble, failed: broken},
		{why: "more than three", answer: says(`{"parents":[` + strings.Repeat(`{"id":"A","confidence":1,"reason":""},`, 3) + `{"id":"B","confidence":1,"reason":""}]}`), want: ErrBabble, failed: broken},
		{why: "a confidence above 1", answer: says(parent("A", "95")), want: ErrBabble, failed: broken},
		{why: "a confidence below 0", answer: says(parent("A", "-0.1")), want: ErrBabble, failed: broken},
		{why: "a confidence that is no number", answer: says(parent("A", `"high"`)), want: ErrBabble, failed: broken},
		{why: "a confidence that no float holds", answer: says(parent("A", "1e999")), want: ErrBabble, failed: broken},
		{why: "no confidence", answer: says(`{"parents":[{"id":"A"}]}`), want: ErrBabble, failed: broken},
		{why: "an answer without an end", answer: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprintln(w, piecemeal(strings.Repeat("x", 4096))); err != nil {
					return
				}
			}
		}, want: ErrBabble, failed: broken, calls: 2},
		{why: "wrong first, right when asked again", answer: says(parent("Z", "1"), parent("B", "0.7")), calls: 2},
		{why: "10 MB of white space after the value", answer: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, piecemeal(parent("B", "0.7")))
			w.(http.Flusher).Flush()
			for range 160 {
				if _, err := fmt.Fprintln(w, piecemeal(strings.Repeat(" ", 64<<10))); err != nil {
					return
				}
			}
		}, calls: 1},
		{why: "a value, and then nothing for ever", answer: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, piecemeal(parent("B", "0.7")))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, calls: 1},
		{why: "no choice is an answer", answer: says(`{"parents":[]}`), calls: 1},

		{why: "a model that only embeds", show: `{"capabilities":["embedding"]}`, answer: says(""), want: ErrUnfit, failed: broken},
		{why: "a thinking model that ignores the schema", show: `{"capabilities":["completion","thinking"]}`, answer: says("The sky is blue."), want: ErrUnfit, failed: broken, calls: 1},
		{why: "a thinking model that keeps to it", show: `{"capabilities":["completion","thinking"]}`, answer: says(`{"colour":"blue"}`, parent("B", "0.7")), calls: 2},
		{why: "details of a model that are none", show: `{"model_info":{"general.architecture":7,"x.context_length":"many"},"capabilities":["completion"]}`, answer: says(parent("B", "0.7"))},

		{why: "scores: no likelihoods", ask: AskScores, answer: says("A"), want: ErrUnfit, failed: broken},
		{why: "scores: a likelihood that is no number", ask: AskScores, answer: sends(logprobs(`{"token":"A","logprob":NaN}`)), want: ErrServer, failed: broken},
		{why: "scores: a likelihood above 1", ask: AskScores, answer: sends(logprobs(`{"token":"A","logprob":3}`)), want: ErrBabble, failed: broken},
		{why: "scores: other tokens only", ask: AskScores, answer: sends(logprobs(`{"token":"The","logprob":-0.1}`)), want: ErrBabble, failed: broken},
		{why: "scores: certain of nothing", ask: AskScores, answer: sends(logprobs(`{"token":"A","logprob":-1e300}`)), want: ErrBabble, failed: broken},

		{why: "vectors: too few", ask: AskEmbeddings, answer: embeddings(`[1,0]`), want: ErrBabble, failed: broken},
		{why: "vectors: none", ask: AskEmbeddings, answer: sends(`{}`), want: ErrBabble, failed: broken},
		{why: "vectors: empty", ask: AskEmbeddings, answer: embeddings(`[],[],[],[]`), want: ErrBabble, failed: broken},
		{why: "vectors: of several sizes", ask: AskEmbeddings, answer: embeddings(`[1,0],[1],[1,0],[1,0]`), want: ErrBabble, failed: broken},
		{why: "vectors: all zero", ask: AskEmbeddings, answer: embeddings(`[1,0],[1,0],[1,0],[0,0]`), want: ErrBabble, failed: broken},
		{why: "vectors: no numbers", ask: AskEmbeddings, answer: embeddings(`[NaN,0],[1,0],[1,0],[1,0]`), want: ErrServer, failed: broken},
		{why: "vectors: beyond any float", ask: AskEmbeddings, answer: embeddings(`[1e39,0],[1,0],[1,0],[1,0]`), want: ErrServer, failed: broken},
		{why: "vectors: so long that their square is beyond", ask: AskEmbeddings, answer: embeddings(`[3e38,3e38],[1,0],[1,0],[1,0]`)},
		{why: "vectors: too long a text, also when cut", ask: AskEmbeddings, answer: fails(400, `{"error":"the input length exceeds the context length"}`), want: ErrTooLong, failed: honest, calls: 2},
		{why: "vectors: of a model that only writes", ask: AskEmbeddings, show: `{"capabilities":["completion"]}`, answer: embeddings(`[1,0]`), want: ErrUnfit, failed: broken},
		{why: "vectors: it hangs", ask: AskEmbeddings, answer: hang, want: context.DeadlineExceeded, failed: broken},
	} {
		t.Run(test.why, func(t *testing.T) {
			before := runtime.NumGoroutine()
			f := &fake{t: t, chat: test.answer, embed: test.answer, tags: test.tags, show: test.show}
			server := httptest.NewServer(f)
			o := f.client(OllamaOptions{Host: server.URL, Ask: test.ask})
			ctx, cancel := context.WithTimeout(t.Context(), slow)
			if test.want != context.DeadlineExceeded {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
			}
			start := time.Now()
			a, err := o.Select(ctx, three())
			took := time.Since(start)
			cancel()
			server.Close()

			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 500) {
				t.Errorf("no clear line: %q", err)
			}
			if test.want == context.DeadlineExceeded && took > slow+time.Second {
				t.Errorf("took %v", took)
			}
			if err == nil {
				checkChoices(t, a, three().Candidates)
			} else if a.Choices != nil {
				t.Errorf("choices with an error: %v", a.Choices)
			}
			if got := o.gate.failed; got != test.failed {
				t.Errorf("the breaker counts %d failures, want %d", got, test.failed)
			}
			if got := f.chats.Load() + f.embeds.Load(); test.calls > 0 && got != test.calls {
				t.Errorf("%d requests, want %d", got, test.calls)
			}
			noneLeft(t, before)
		})
	}
}

// checkChoices checks the promises of Select.
func checkChoices(t *testing.T, a Answer, candidates []Past) {
	t.Helper()
	seen := map[string]bool{}
	last := 1.0
	for _, c := range a.Choices {
		if !slices.ContainsFunc(candidates, func(p Past) bool { return p.ID == c.ID }) || seen[c.ID] || !(c.Score >= 0 && c.Score <= last) || c.Kind != ModelLink || c.Reason == "" {
			t.Errorf("choice %+v of %+v", c, a.Choices)
		}
		seen[c.ID], last = true, c.Score
	}
	if len(a.Choices) > mostChoices || a.By != "tiny" || a.Origin.Model != "tiny" || a.Origin.Digest != "sha256:d1" {
		t.Errorf("answer %+v", a)
	}
}

// noneLeft waits until no more goroutines run than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			return
		}
		<-time.After(time.Millisecond)
	}
}

func TestNoServer(t *testing.T) {
	f := &fake{t: t}
	server := f.start()
	server.Close()
	_, err := f.client(OllamaOptions{Host: server.URL}).Select(t.Context(), three())
	if !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "ollama serve") {
		t.Error(err)
	}
}

func TestChatAnswer(t *testing.T) {
	f := &fake{t: t, asked: make(chan map[string]any, 1), chat: says(
		`{"parents":[{"id":"A","confidence":0.2,"reason":"It names zlib_inflate."},{"id":"B","confidence":0.9,"reason":"parse_header is undefined there. See zlib_inflate."}]}`)}
	a, err := f.client(OllamaOptions{}).Select(t.Context(), three())
	if err != nil {
		t.Fatal(err)
	}
	want := []Choice{
		{ID: "b", Kind: ModelLink, Score: 0.9, Reason: "parse_header is undefined there."},
		{ID: "a", Kind: ModelLink, Score: 0.2, Reason: "the model chose it"},
	}
	if diff := gocmp.Diff(want, a.Choices); diff != "" {
		t.Errorf("surest first, and no word in a reason that the model was not told:\n%s", diff)
	}
	if a.Origin.Prompt != parentsPrompt.hash || a.Origin.Calls != 1 || a.Origin.In == 0 || a.Origin.Out == 0 || a.Origin.Took == 0 {
		t.Errorf("origin %+v", a.Origin)
	}
	asked := <-f.asked
	options := asked["options"].(map[string]any)
	for name, want := range map[string]any{"truncate": false, "shift": false, "think": nil} {
		if asked[name] != want {
			t.Errorf("%s: %v", name, asked[name])
		}
	}
	if options["temperature"] != 0.0 || options["num_ctx"] != 4096.0 || options["seed"] == nil {
		t.Errorf("options %v", options)
	}
}

func TestOllamaOptions(t *testing.T) {
	for _, test := range []struct{ host, environment, want string }{
		{"", "", "http://127.0.0.1:11434"},
		{"", "10.0.0.7", "http://10.0.0.7:11434"},
		{"", "0.0.0.0:11999", "http://127.0.0.1:11999"},
		{"localhost", "10.0.0.7", "http://localhost:11434"},
		{":8080", "", "http://127.0.0.1:8080"},
		{"[::]:8080", "", "http://[::1]:8080"},
		{"[::1]", "", "http://[::1]:11434"},
		{"https://models.example.org/ollama", "", "https://models.example.org/ollama"},
		{"http://127.0.0.1:1/", "", "http://127.0.0.1:1/"},
		{"::1", "", "http://[::1]:11434"},
		{"::", "", "http://[::1]:11434"},
		{"", ` "127.0.0.1:11999" `, "http://127.0.0.1:11999"}, // quotes that a file of settings left
	} {
		t.Setenv("OLLAMA_HOST", test.environment)
		o, err := NewOllama(OllamaOptions{Host: test.host, Model: "tiny"})
		if err != nil || o.opts.Host != test.want {
			t.Errorf("%q, %q: %+v, %v", test.host, test.environment, o, err)
		}
	}
	for why, o := range map[string]OllamaOptions{
		"no model":         {},
		"another scheme":   {Model: "tiny", Host: "ftp://a"},
		"no address":       {Model: "tiny", Host: "http://a b"},
		"a socket's path":  {Model: "tiny", Host: "/run/ollama.sock"},
		"a socket":         {Model: "tiny", Host: "unix:///run/ollama.sock"},
		"no host":          {Model: "tiny", Host: "http:///ollama"},
		"no such port":     {Model: "tiny", Host: "127.0.0.1:99999"},
		"another ask":      {Model: "tiny", Ask: "smoke"},
		"a blank":          {Model: " "},
		"no name":          {Model: "tiny:1b:2b"},
		"two lines":        {Model: "tiny\nother"},
		"hardly a context": {Model: "tiny", NumCtx: 100},
		"less than none":   {Model: "tiny", NumCtx: -1},
	} {
		if _, err := NewOllama(o); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// A model is known by each of its names, and where only the tag is wrong the error names those that there are.
func TestNamesOfAModel(t *testing.T) {
	f := &fake{t: t, tags: `{"models":[{"name":"tiny:latest","digest":"d1"},{"name":"Other:1b","digest":"d2"},{"name":"other:2b","digest":"d3"}]}`}
	host := f.start().URL
	for _, test := range []struct {
		name, digest, wrong string
	}{
		{"tiny:latest", "d1", ""},
		{"tiny", "d1", ""},
		{"Tiny:LATEST", "d1", ""},
		{"library/tiny", "d1", ""},
		{"registry.ollama.ai/library/tiny:latest", "d1", ""},
		{"other:1B", "d2", ""},
		{"other", "", "which has Other:1b, other:2b: get it with `ollama pull other`"},
		{"tin", "", host + ": get it with `ollama pull tin`"},
		{"else/tiny:1b", "", "which has tiny:latest:"},
	} {
		o, err := NewOllama(OllamaOptions{Host: host, Model: test.name})
		if err != nil {
			t.Fatal(err)
		}
		m, err := o.Model(t.Context())
		if m.Digest != test.digest || (err != nil) != (test.wrong != "") || err != nil && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: %+v, %v", test.name, m, err)
		}
		if want := map[string]string{"d1": "tiny", "d2": "Other:1b"}[test.digest]; m.Name != want {
			t.Errorf("%s is called %s, want %s", test.name, m.Name, want)
		}
	}
}

// Calls that differ in an option of loading would make the server load the model anew each time.
func TestOptionsOfLoadingNeverChange(t *testing.T) {
	f := &fake{t: t, asked: make(chan map[string]any, 16), chat: says("nonsense")}
	var seen []any
	for _, o := range []OllamaOptions{{Ask: AskChat}, {Ask: AskScores}} {
		o.Breaker.Failures = 100
		client := f.client(o)
		client.Select(t.Context(), three()) // what comes of it does not matter
		client.Summarize(t.Context(), SummaryQuestion{Turn: three().Turn})
	}
	close(f.asked)
	for asked := range f.asked {
		options := asked["options"].(map[string]any)
		seen = append(seen, []any{options["num_ctx"], options["num_thread"], asked["keep_alive"]})
	}
	if len(slices.CompactFunc(seen, func(a, b any) bool { return gocmp.Equal(a, b) })) != 1 || len(seen) < 6 {
		t.Errorf("%v", seen)
	}
}

// What the server counts is learned from, in one direction.
func TestCountsAreCompared(t *testing.T) {
	o := (&fake{t: t}).client(OllamaOptions{})
	for _, test := range []struct {
		why                  string
		ours, words, servers int
		cut                  bool
		stretch              float64
	}{
		{"prose, of which we count more", 1000, 600, 800, false, 1},
		{"lines of dashes, of which we count far more", 1000, 60, 80, false, 1},
		{"not told", 1000, 600, 0, false, 1},
		{"a short prompt in long marks", 10, 5, 70, false, 1},
		{"numbers, of which we count less", 1000, 600, 1564, false, 1.5},
		{"prose again", 1000, 600, 800, false, 1.5},
		{"half is gone", 1000, 600, 290, true, 2.25},
		{"a server that counts nonsense", 10, 5, 1 << 40, false, 8},
	} {
		err := o.compare(test.ours, test.words, test.servers)
		if errors.Is(err, ErrTooLong) != test.cut || o.stretching() != test.stretch {
			t.Errorf("%s: %v, and now %v tokens for one", test.why, err, o.stretching())
		}
	}
}
