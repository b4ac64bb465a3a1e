package compress

import (
	"cmp"
	"math"
	"slices"
)

// BM25 ranks texts by the words that they share with a query (Robertson and Zaragoza, 2009; k1 1.2, b 0.75), each
// word of the query counting once. Words are those that text is made of, in lower case and also as pieces of
// identifiers, and beside them specific words whole: paths, identifiers, long numbers. The zero value is not ready; it is not
// safe for concurrent use.
type BM25 struct {
	words    vocabulary
	postings [2][][]posting // by part, and by specific word
	texts    []indexed
	length   int // of all texts, in words
}

type posting struct{ text, count int32 }

type indexed struct {
	length    int
	specifics []int32
}

// NewBM25 is an index of no texts.
func NewBM25() *BM25 { return &BM25{words: newVocabulary()} }

// Add takes in the next text. Texts are numbered from 0.
func (b *BM25) Add(text string) {
	t := indexed{specifics: b.words.specificIn(text)}
	count := map[int32]int32{}
	b.words.eachPart(text, func(p int32) { count[p]++ })
	n := int32(len(b.texts))
	for p, c := range count {
		t.length += int(c)
		b.post(0, p, posting{n, c})
	}
	for _, w := range t.specifics {
		t.length++
		b.post(1, w, posting{n, 1})
	}
	b.length += t.length
	b.texts = append(b.texts, t)
}

func (b *BM25) post(kind int, word int32, p posting) {
	for int(word) >= len(b.postings[kind]) {
		b.postings[kind] = append(b.postings[kind], nil)
	}
	b.postings[kind][word] = append(b.postings[kind][word], p)
}

// Len counts the texts.
func (b *BM25) Len() int { return len(b.texts) }

const (
	// rare is how many texts may have a specific word that is worth following.
	rare = 3
	// mostChased bounds the words that join a query.
	mostChased = 30
)

// Best gives the numbers of the k best of the first n texts, the best first and of two alike the newer. A text that
// shares no word with the query is none of them. With chase, rare specific words of what was found join the query
// for a second round: an identifier leads to where else it is.
func (b *BM25) Best(query string, n, k int, chase bool) []int {
	parts, specifics := b.words.partsIn(query), b.words.specificIn(query)
	found := b.best(parts, specifics, n, k)
	if !chase {
		return found
	}
	chased := 0
	for _, i := range found {
		for _, w := range b.texts[i].specifics {
			if chased < mostChased && b.spread(1, w) <= rare && !slices.Contains(specifics, w) {
				specifics = append(specifics, w)
				chased++
			}
		}
	}
	return b.best(parts, specifics, n, k)
}

// spread is how many texts have a word.
func (b *BM25) spread(kind int, word int32) int {
	if int(word) >= len(b.postings[kind]) {
		return 0
	}
	return len(b.postings[kind][word])
}

func (b *BM25) best(parts, specifics []int32, n, k int) []int {
	scores := make([]float64, min(n, len(b.texts)))
	for _, w := range parts {
		b.score(scores, 0, w)
	}
	for _, w := range specifics {
		b.score(scores, 1, w)
	}
	var out []int
	for i, s := range scores {
		if s > 0 {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(i, j int) int {
		return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(j, i))
	})
	return out[:min(k, len(out))]
}

// score adds to each text's score what a word of the query is worth in it.
func (b *BM25) score(scores []float64, kind int, word int32) {
	const k1, lengths = 1.2, 0.75
	n := float64(b.spread(kind, word))
	if n == 0 {
		return
	}
	rarity := math.Log(1 + (float64(len(b.texts))-n+0.5)/(n+0.5))
	mean := float64(b.length) / float64(len(b.texts))
	for _, p := range b.postings[kind][word] {
		if int(p.text) >= len(scores) {
			break
		}
		c := float64(p.count)
		scores[p.text] += rarity * c * (k1 + 1) / (c + k1*(1-lengths+lengths*float64(b.texts[p.text].length)/mean))
	}
}
