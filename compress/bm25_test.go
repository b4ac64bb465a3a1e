package compress

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Texts of 2, 4 and 3 words, 3 on average. "apple" is in two of them: idf = ln(1 + 1.5/2.5) = ln 1.6. In the first,
// once of 2 words: 2.2 / (1 + 1.2·(0.25 + 0.75·2/3)) = 2.2/1.9. In the second, twice of 4: 4.4 / (2 + 1.2·1.25) =
// 4.4/3.5. "plum" is in the third only: ln(1 + 2.5/1.5) = ln(8/3), times 2.2/2.2.
func TestBM25ByHand(t *testing.T) {
	b := NewBM25()
	for _, text := range []string{"apple pear", "apple apple fig fig", "plum pear fig"} {
		b.Add(text)
	}
	scores := make([]float64, 3)
	for _, word := range []string{"apple", "plum"} {
		b.score(scores, 0, b.words.part(word))
	}
	want := []float64{math.Log(1.6) * 2.2 / 1.9, math.Log(1.6) * 4.4 / 3.5, math.Log(8. / 3)}
	for i := range want {
		if math.Abs(scores[i]-want[i]) > 1e-12 {
			t.Errorf("text %d: %v, want %v", i, scores[i], want[i])
		}
	}
}

func TestBM25Best(t *testing.T) {
	b := NewBM25()
	texts := []string{
		0: "def parse_header(line): return split_fields(line)",
		1: "class Session: token = make_token(4096)",
		2: "def split_fields(line): return line.strip()",
		3: "the weather is fine",
		4: "class Session: token = make_token(4096)",
		5: "Fields and lines: nothing of interest, the weather, a class, a session",
	}
	for _, text := range texts {
		b.Add(text)
	}
	for _, tt := range []struct {
		reason, query string
		n, k          int
		chase         bool
		want          []int
	}{
		{"a specific word", "see parse_header", 6, 1, false, []int{0}},
		{"of two alike the newer", "make_token", 6, 2, false, []int{4, 1}},
		{"only the first texts count", "make_token", 4, 2, false, []int{1}},
		{"what shares no word is not found", "xyzzy", 6, 3, true, nil},
		{"no text, no find", "weather", 0, 3, true, nil},
		{"letters of either size", "WEATHER", 4, 9, false, []int{3}},
		{"without chasing, only what the query names", "parse_header", 3, 3, false, []int{0}},
		{"the find's identifier leads on", "parse_header", 3, 3, true, []int{0, 2}},
	} {
		got := b.Best(tt.query, tt.n, tt.k, tt.chase)
		if diff := cmp.Diff(tt.want, got); diff != "" && len(tt.want)+len(got) > 0 {
			t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
		}
	}
}

// A text that has all words of a query, each rarer than any other's, is found; what comes later never makes what was
// there be found twice.
func TestBM25FindsNeedles(t *testing.T) {
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	for range 50 {
		b := NewBM25()
		n := 1 + rnd.Intn(60)
		needle := rnd.Intn(n)
		for i := range n {
			text := strings.Repeat("common words of every text ", 1+rnd.Intn(9))
			if i == needle {
				text += "needle_in_hay"
			}
			b.Add(text)
		}
		got := b.Best("common needle_in_hay", n, n, true)
		if len(got) != n || got[0] != needle {
			t.Fatalf("seed %d: of %d texts %v, want %d first", seed, n, got, needle)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != n {
			t.Fatalf("seed %d: one text twice: %v", seed, got)
		}
	}
}

func BenchmarkBM25(b *testing.B) {
	rnd := rand.New(rand.NewSource(1))
	x := NewBM25()
	for i := range 5000 {
		var text strings.Builder
		for range 60 {
			fmt.Fprintf(&text, "value_%d = scale%dBy(%d)\n", rnd.Intn(5000), rnd.Intn(90), i)
		}
		x.Add(text.String())
	}
	for b.Loop() {
		x.Best("where is value_17 scaled, and value_4000? scale17By", 4995, 5, true)
	}
}
