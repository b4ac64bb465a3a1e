package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
)

// Embed gives each text's vector, of length 1. A text that does not fit the model's context is ErrTooLong: nothing
// is cut.
func (o *Ollama) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var out [][]float32
	err := o.call(ctx, func(ctx context.Context) error {
		m, err := o.model(ctx)
		if err == nil {
			out, err = o.embed(ctx, m, texts, &Origin{})
		}
		return err
	})
	return out, err
}

// embed has vectors made in one request.
func (o *Ollama) embed(ctx context.Context, m Model, texts []string, origin *Origin) ([][]float32, error) {
	if !m.Embedding {
		return nil, fmt.Errorf("%w: it gives no vectors; choose an embedding model such as all-minilm", ErrUnfit)
	}
	input := slices.Clone(texts)
	for i, text := range input {
		if m.bert {
			input[i] = apart.Replace(text)
		}
	}
	no := false
	r, err := o.client.Embed(ctx, &api.EmbedRequest{
		Model: m.Name, Input: input, Truncate: &no,
		KeepAlive: &api.Duration{Duration: o.opts.KeepAlive},
		Options:   o.options(m),
	})
	origin.Calls++
	if err != nil {
		return nil, o.fault(ctx, err)
	}
	origin.In += r.PromptEvalCount
	if len(r.Embeddings) != len(texts) {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrBabble, len(r.Embeddings), len(texts))
	}
	for i, v := range r.Embeddings {
		if len(v) == 0 || len(v) != len(r.Embeddings[0]) {
			return nil, fmt.Errorf("%w: vectors of %d and %d numbers", ErrBabble, len(r.Embeddings[0]), len(v))
		}
		if err := normalise(v); err != nil {
			return nil, fmt.Errorf("%w: vector %d: %w", ErrBabble, i, err)
		}
	}
	return r.Embeddings, nil
}

// apart sets the marks apart at which BERT's words end. To its own tokenizer that makes no difference; Ollama (0.17.4)
// ends words only at what Unicode calls punctuation, which these are not, and a word that holds one is unknown to it:
// of code little is left.
var apart = strings.NewReplacer("$", " $ ", "+", " + ", "<", " < ", "=", " = ", ">", " > ", "^", " ^ ", "`", " ` ", "|", " | ", "~", " ~ ")

// normalise makes a vector's length 1.
func normalise(v []float32) error {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return errors.New("it points nowhere")
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return nil
}

// byEmbeddings chooses the candidates whose vectors are nearest to the turn's.
func (o *Ollama) byEmbeddings(ctx context.Context, m Model, q Question, a *Answer) error {
	newest, older := shown(q)
	past := append(older, newest...)
	vectors, err := o.vectorsOf(ctx, m, q.Turn, past, &a.Origin)
	if errors.Is(err, ErrTooLong) { // what fits was learned from it
		vectors, err = o.vectorsOf(ctx, m, q.Turn, past, &a.Origin)
	}
	if err != nil {
		return err
	}
	a.Vector = vectors[len(past)]
	for i, p := range past {
		if s := cosine(a.Vector, vectors[i]); s > 0 {
			a.Choices = append(a.Choices, Choice{ID: p.ID, Kind: ModelLink, Score: s, Reason: fmt.Sprintf("its vector is near: cosine %.2f", s)})
		}
	}
	a.Choices = nearest(a.Choices, q.Candidates)
	return nil
}

// nearest takes the best choices of a list, and of those that are worth the same the newest.
func nearest(list []Choice, newest []Past) []Choice {
	age := map[string]int{}
	for i, p := range newest {
		age[p.ID] = i
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Choice) int { return cmp.Or(cmp.Compare(b.Score, a.Score), age[a.ID]-age[b.ID]) })
	return list[:min(len(list), mostChoices)]
}

// vectorsOf gives the vectors of candidates and, last, of the turn. Those that came with the candidates or
// were made lately are not made again.
func (o *Ollama) vectorsOf(ctx context.Context, m Model, t Turn, past []Past, origin *Origin) ([][]float32, error) {
	most := o.context(m) - 16
	most = int(float64(most-most/8) / o.stretching())
	texts := make([]string, 0, len(past)+1)
	for _, p := range past {
		texts = append(texts, o.cut(p.line(), most))
	}
	texts = append(texts, o.cut(o.intent(t, most), most))
	out := make([][]float32, len(texts))
	for i, p := range past {
		if p.Digest == m.Digest && normalised(p.Vector) {
			out[i] = p.Vector
		}
	}
	return out, o.fill(ctx, m, out, texts, origin)
}

// fill gives the texts their vectors that have none.
func (o *Ollama) fill(ctx context.Context, m Model, out [][]float32, texts []string, origin *Origin) error {
	var missing []string
	var at []int
	for i, text := range texts {
		if out[i] == nil {
			out[i] = o.remembered(m, text)
		}
		if out[i] == nil {
			missing, at = append(missing, text), append(at, i)
		}
	}
	// In parts, the newest first, so that a deadline loses no more than one of them.
	for end := len(missing); end > 0; end -= atOnce {
		from := max(0, end-atOnce)
		made, err := o.embed(ctx, m, missing[from:end], origin)
		if err != nil {
			return err
		}
		for i, v := range made {
			out[at[from+i]] = v
			o.remember(m, missing[from+i], v)
		}
	}
	return nil
}

// atOnce is how many texts are embedded in one request: a second's work of one processor.
const atOnce = 8

// normalised reports whether a vector has the length 1, more or less.
func normalised(v []float32) bool {
	n := cosine(v, v)
	return n > 0.98 && n < 1.02
}

// cosine of two vectors of length 1. Of those of different models it is 0.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return min(sum, 1)
}

// vectors remembers what was embedded lately: the texts of one or two generations, by model.
type vectors struct{ young, old map[string][]float32 }

const mostVectors = 2048 // of a generation; 3 MB with vectors of 384 numbers

func (o *Ollama) remembered(m Model, text string) []float32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := m.Digest + " " + text
	if v := o.vectors.young[key]; v != nil {
		return v
	}
	v := o.vectors.old[key]
	if v != nil {
		o.keep(key, v)
	}
	return v
}

func (o *Ollama) remember(m Model, text string, v []float32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(m.Digest+" "+text, v)
}

// keep puts a vector among the young ones. The lock is held.
func (o *Ollama) keep(key string, v []float32) {
	if o.vectors.young == nil || len(o.vectors.young) >= mostVectors {
		o.vectors.old, o.vectors.young = o.vectors.young, make(map[string][]float32)
	}
	o.vectors.young[key] = v
}
