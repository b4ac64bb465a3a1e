package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// bags embeds a text as how often each of a few words is in it, and tells what it was asked to embed.
func bags(asked *[]string, vocabulary ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		json.Unmarshal(bodyOf(r), &in)
		*asked = append(*asked, in.Input...)
		var out struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		for _, text := range in.Input {
			v := []float32{0.1}
			for _, word := range vocabulary {
				v = append(v, float32(strings.Count(text, word)))
			}
			out.Embeddings = append(out.Embeddings, v)
		}
		json.NewEncoder(w).Encode(out)
	}
}

func TestVectors(t *testing.T) {
	var asked []string
	f := &fake{t: t, embed: bags(&asked, "header", "README", "src")}
	o := f.client(OllamaOptions{Ask: AskEmbeddings})
	q := three()
	a, err := o.Select(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	checkChoices(t, a, q.Candidates)
	if len(asked) != 4 || a.Choices[0].ID != "b" || !normalised(a.Vector) || a.Origin.Calls != 1 {
		t.Errorf("all in one request, the nearest first: %q, %+v", asked, a)
	}

	asked = nil
	q.Turn.Thought = "And the README."
	if a, err = o.Select(t.Context(), q); err != nil || len(asked) != 1 || a.Choices[0].ID != "a" {
		t.Errorf("only the turn is new: %q, %+v, %v", asked, a, err)
	}

	asked = nil
	q.Candidates[0] = Past{ID: "c", Summary: "has a vector of its own", Vector: a.Vector, Digest: "sha256:d1"}
	q.Candidates[1] = Past{ID: "b", Summary: "has one of another model", Vector: a.Vector, Digest: "sha256:d0"}
	q.Candidates[2] = Past{ID: "a", Summary: "has one that is none", Vector: []float32{0, 0, 0, 0}, Digest: "sha256:d1"}
	if a, err = o.Select(t.Context(), q); err != nil || a.Choices[0].ID != "c" || a.Choices[0].Score < 0.99 {
		t.Errorf("a vector that was kept counts: %+v, %v", a, err)
	}
	if diff := gocmp.Diff([]string{"has one that is none", "has one of another model"}, asked); diff != "" {
		t.Errorf("only those of no use are made:\n%s", diff)
	}
}

// A model of BERT's kind is given each mark apart that the server would take for a part of the word; to another kind
// spaces are words too.
func TestEmbedMarks(t *testing.T) {
	const text = "fn f<T>(a: &T) -> `x+1`|~$HOME"
	for arch, want := range map[string]string{
		"bert":       "fn f < T > (a: &T) - >   ` x + 1 `  |  ~  $ HOME",
		"nomic-bert": "fn f < T > (a: &T) - >   ` x + 1 `  |  ~  $ HOME",
		"gemma3":     text,
	} {
		var asked []string
		f := &fake{t: t, embed: bags(&asked), show: strings.ReplaceAll(fakeShow, "toy", arch)}
		if _, err := f.client(OllamaOptions{}).Embed(t.Context(), []string{text}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff([]string{want}, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arch, diff)
		}
	}
}

func TestEmbed(t *testing.T) {
	var asked []string
	f := &fake{t: t, embed: bags(&asked, "a", "b")}
	o := f.client(OllamaOptions{})
	got, err := o.Embed(t.Context(), []string{"aaa", "b", ""})
	if err != nil || len(got) != 3 || !normalised(got[0]) || !normalised(got[2]) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := o.Embed(t.Context(), nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	f.embed = fails(400, `{"error":"the input length exceeds the context length"}`)
	if _, err := o.Embed(t.Context(), []string{"a"}); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
}

// However many texts are embedded, what is remembered of them is bounded.
func TestVectorsAreForgotten(t *testing.T) {
	o := (&fake{t: t}).client(OllamaOptions{})
	for i := range 5 * mostVectors {
		o.remember(Model{Digest: "d"}, string(rune(i)), []float32{1})
		o.remembered(Model{Digest: "d"}, string(rune(i/2)))
	}
	if n := len(o.vectors.young) + len(o.vectors.old); n > 2*mostVectors {
		t.Errorf("%d vectors", n)
	}
	if o.remembered(Model{Digest: "another"}, string(rune(5*mostVectors-1))) != nil {
		t.Error("a vector of another model")
	}
}

// A deadline that is too short for all of the candidates at first is not for ever.
func TestVectorsMadeInTimeAreKept(t *testing.T) {
	var asked []string
	right := bags(&asked, "ran")
	var requests atomic.Int32 // the one that was given up may end while the next is there
	f := &fake{t: t}
	f.embed = func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			<-r.Context().Done()
			return
		}
		right(w, r)
	}
	o := f.client(OllamaOptions{Ask: AskEmbeddings})
	q := three()
	for i := range 10 {
		q.Candidates = append(q.Candidates, Past{ID: fmt.Sprint("older", i), Summary: fmt.Sprint("ran step ", i)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := o.Select(ctx, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	first := len(asked)
	if _, err := o.Select(t.Context(), q); err != nil {
		t.Error(err)
	}
	if len(asked) != 14 || first != atOnce {
		t.Errorf("%d texts were embedded, then %d more, of 14", first, len(asked)-first)
	}
}
