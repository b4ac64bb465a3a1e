package controller

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		why, text string
		want      []string
	}{
		{"nothing specific in prose", "The quick brown fox read the file, then failed.", nil},
		{"a path and its line are two words", "see src/http.c:88 there", []string{"src/http.c:88", "src/http.c"}},
		{"a rooted path", "ls /usr/local/bin now", []string{"/usr/local/bin", "usr/local/bin"}},
		{"underscore", "call parse_header now", []string{"parse_header"}},
		{"inner capital", "call parseHeader or HTTPServer", []string{"parseHeader", "HTTPServer"}},
		{"numbers of four digits and more", "12 123 1234 12345", []string{"1234", "12345"}},
		{"ids of shops and airlines", "booked HAT136 as HXDUBJ for M20IZO", []string{"HAT136", "HXDUBJ", "M20IZO"}},
		{"hashes", "at 9f3c2ab and abcdef1", []string{"9f3c2ab", "abcdef1"}},
		{"an issue keeps its mark", "fixes #12345", []string{"#12345"}},
		{"dotted names of any length", "django.db.models and os.environ", []string{"django.db.models", "django.db", "os.environ"}},
		{"JSON escapes end a word", `{"cmd":"cat a_bc\n\td_ef \"g_hi\""}`, []string{"a_bc", "d_ef", "g_hi"}},
		{"a URL whole and in part", "GET https://example.com/v1/users?id=7.", []string{"https://example.com/v1/users?id=7", "example.com"}},
		{"a URL ends where another script begins", "https://a.example/b_c…", []string{"https://a.example/b_c"}},
		{"each word once", "a_bc a_bc a_bc", []string{"a_bc"}},
		{"too long is data", strings.Repeat("x_", 70), nil},
		{"other scripts may stand in a path", "/home/日本/文書 and more", []string{"home/日本/文書"}},
		{"a name ends where another script begins", "foo_bar.py文件", []string{"foo_bar.py", "foo_bar"}},
		{"invalid UTF-8", "\xff\xfea_bc\xff", []string{"a_bc"}},
	} {
		got := Words(test.text)
		for _, w := range test.want {
			if !slices.Contains(got, strings.Trim(w, "/")) {
				t.Errorf("%s: Words(%q) = %q, lacks %q", test.why, test.text, got, w)
			}
		}
		if test.want == nil && len(got) > 0 {
			t.Errorf("%s: Words(%q) = %q, want none", test.why, test.text, got)
		}
	}
}

// pattern is the usual notion of a specific word, as a regular expression. The scanner may find more,
// never less.
var pattern = regexp.MustCompile(`[A-Za-z0-9_.\-/]*[A-Za-z0-9_\-]\.[A-Za-z]{1,5}\b(?:[:\d]*)|/[\w.\-]+(?:/[\w.\-]+)+|[A-Za-z_][A-Za-z0-9]*_[A-Za-z0-9_]+|[a-z]+[a-z0-9]*[A-Z][A-Za-z0-9]+|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|#?[A-Za-z]*\d[A-Za-z0-9\-]{4,}|\d{4,}`)

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`)

// missing lists what the pattern finds in text and the scanner does not.
func missing(text string) []string {
	found := map[string]bool{}
	for _, w := range Words(text) {
		found[w] = true
	}
	var out []string
	for _, w := range pattern.FindAllString(unescape.Replace(text), -1) {
		if n := len(w); n < minWord || n > maxWord {
			continue
		}
		if w = strings.Trim(w, ".-/:"); len(w) > 2 && !found[w] {
			out = append(out, w)
		}
	}
	return out
}

var texts = []string{
	"def parse_header(self, raw: bytes) -> dict[str, HTTPHeader2]:  # src/http.c:88:12\n",
	`{"file_path":"/srv/app/src/main.go","old_string":"a.b\n\tfmt.Println(\"x_y\")","n":20481}`,
	"E   AssertionError: assert 'abc' == 1234 at 0x7f3a, commit 9f3c2ab1d, see #10423-b ../../x.y:1:2",
	"_a __b___c a_ _ 1_a 1abc_def 12345_a ab12-34-56 A1b2C3 aB Ab AbC aBc ABc 9aB9 x.y.z.toolong",
	"http://a.example.org:8080/p/q.html?x=1#frag //a//b/c/ a/b.c.d/e ...a.py -.-.x /-/- /a/b/ #a1-2-3-4",
}

func TestWordsFindWhatThePatternFinds(t *testing.T) {
	for _, text := range texts {
		if m := missing(text); m != nil {
			t.Errorf("%q: missing %q", text, m)
		}
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"a", "b", "Z", "Q", "0", "7", "_", "_", "-", ".", ".", "/", "/", ":", "#", " ", `\n`, `\`, "n", `"`, "py", "go", "foo", "Bar", "1234", "main.c", "x_y"}
	for range 20000 {
		var b strings.Builder
		for range 1 + r.IntN(24) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		if m := missing(b.String()); m != nil {
			t.Fatalf("seed %d: %q: missing %q of %q", seed, b.String(), m, Words(b.String()))
		}
	}
}

// The words of a text are pieces of it, so nothing is ever made up.
func FuzzWords(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, w := range Words(text) {
			if len(w) > maxWord || len(w) < 3 || !strings.Contains(text, w) || seen[w] {
				t.Fatalf("%q in %q", w, text)
			}
			seen[w] = true
		}
		if !strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
			if m := missing(text); m != nil {
				t.Fatalf("%q: missing %q", text, m)
			}
		}
	})
}

// One long run of any kind must cost no more than prose.
func TestWordsAreLinear(t *testing.T) {
	for _, unit := range []string{"a", "A", "aB", "a1", "1", "_", "a_", "-", ".", "/", "a/", "/a", "a.", ".py", "#", "1-", "://", `\`, ":1", "é", "/é"} {
		text := strings.Repeat(unit, (1<<20)/len(unit))
		start := time.Now()
		n := 0
		for range words(text) {
			n++
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("1 MB of %q: %v", unit, took)
		}
	}
}

func TestWordsStopEarly(t *testing.T) {
	var got []string
	for w := range words("a_bc d_ef https://g.hi/jk_l m_no") {
		got = append(got, w)
		if len(got) == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"a_bc", "d_ef"}, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat(strings.Join(texts[:3], "\n")+"The quick brown fox jumps over the lazy dog and reads on to the end of it.\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"open %s: %w\", name, err)\n", 300)
	b.SetBytes(int64(len(text)))
	for range b.N {
		for range words(text) {
		}
	}
}
