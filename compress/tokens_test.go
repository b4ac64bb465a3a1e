package compress_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/ctxweaver/ctxweaver/compress"
)

var names = []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"}

// library is tiktoken itself, with its own patterns, counting a text in one go.
func library(t testing.TB, name string) *tiktoken.Tiktoken {
	t.Helper()
	libraries.Lock()
	defer libraries.Unlock()
	if lib := libraries.byName[name]; lib != nil {
		return lib
	}
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	lib, err := tiktoken.GetEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	libraries.byName[name] = lib
	return lib
}

var libraries = struct {
	sync.Mutex
	byName map[string]*tiktoken.Tiktoken
}{byName: map[string]*tiktoken.Tiktoken{}}

func counter(t testing.TB, name string) *compress.Counter {
	t.Helper()
	c, err := compress.NewCounter(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewCounter(t *testing.T) {
	for _, name := range names {
		if c := counter(t, name); c.Encoding() != name {
			t.Errorf("NewCounter(%q).Encoding() = %q", name, c.Encoding())
		}
	}
	if c := counter(t, ""); c.Encoding() != compress.DefaultEncoding {
		t.Errorf("default encoding is %q", c.Encoding())
	}
	var zero compress.Counter
	if zero.Encoding() != compress.DefaultEncoding || zero.Count("a b") != 2 {
		t.Errorf("the zero Counter counts %d in %q", zero.Count("a b"), zero.Encoding())
	}
	for _, name := range []string{"gpt2", "O200K_BASE", " "} {
		_, err := compress.NewCounter(name)
		if err == nil {
			t.Errorf("NewCounter(%q) succeeded", name)
			continue
		}
		for _, n := range names {
			if !strings.Contains(err.Error(), n) {
				t.Errorf("NewCounter(%q): %v does not offer %s", name, err, n)
			}
		}
	}
}

// Counts that are known from outside, so that a damaged vocabulary or pattern shows.
func TestCountKnown(t *testing.T) {
	for _, row := range []struct {
		text string
		want [4]int // as names
		why  string
	}{
		{"", [4]int{0, 0, 0, 0}, "nothing"},
		{"hello world", [4]int{2, 2, 2, 2}, "two words"},
		{"tiktoken is great!", [4]int{6, 6, 6, 6}, "the cookbook's example"},
		{"antidisestablishmentarianism", [4]int{6, 6, 5, 5}, "the cookbook's long word"},
		{"2 + 2 = 4", [4]int{7, 7, 5, 5}, "the newer patterns keep blanks apart from digits"},
		{"お誕生日おめでとう", [4]int{8, 9, 14, 14}, "the cookbook's Japanese"},
		{"        x", [4]int{2, 2, 2, 8}, "only r50k has no tokens for runs of blanks"},
	} {
		for i, name := range names {
			if got := counter(t, name).Count(row.text); got != row.want[i] {
				t.Errorf("%s: Count(%q) = %d, want %d: %s", name, row.text, got, row.want[i], row.why)
			}
		}
	}
}

// Texts at which the encodings' patterns join or part what others do not.
var corners = []struct{ text, why string }{
	{"<|endoftext|><|fim_prefix|>", "special tokens are plain text"},
	{"don't DON'T we'll x's 1's 'tis ''s o'clock I'm'd", "contractions belong to the word, or stand alone"},
	{"a\n\nb\n\n\n  c\r\n\r\nd\n \n e", "newlines and blanks before a word"},
	{"}\n/\n//\n}//\n/x", "o200k joins newlines and slashes to signs"},
	{"x  \n  y\t\ty \v z \u2028 \u0085 \u00a0 \u3000。", "white space of all kinds"},
	{"abc123def4567ghi 12345678 ½ ⅷ ²x ٣٤", "numbers of all kinds, in groups of three"},
	{"camelCaseHTTPServer ÀÉÎ ǅ ʰx ªº ſ's", "letters of all cases"},
	{"e\u0301e\u0301 \u0301x 1\u0301a \u0301's नमस्ते กำ", "marks: letters to some, signs to others"},
	{"你好，世界。日本語テスト、한국어", "no blanks between words"},
	{"😀👩‍👩‍👧‍👦🇩🇪✊🏽 x😀y", "emoji with joiners and modifiers"},
	{"a\x00b\x00\x00 \x00", "NUL"},
	{"a\xffb \xe4\xbd c\xf0\x9f\x98 \xed\xa0\x80\xc0\x80", "invalid UTF-8, cut runes, surrogates"},
	{"\ufeffpackage x // \ufffd", "byte order mark and replacement character"},
	{"\x1b[31mFAIL\x1b[0m\r\x1b[K", "terminal colours"},
	{"====----====\n+++---***/// ...", "rules"},
	{" ", "one blank"},
	{"word ", "a blank at the end"},
	{"word \n", "a blank and a newline at the end"},
}

func TestCountCorners(t *testing.T) {
	for _, name := range names {
		c, lib := counter(t, name), library(t, name)
		for _, row := range corners {
			if got, want := c.Count(row.text), len(lib.EncodeOrdinary(row.text)); got != want {
				t.Errorf("%s: Count(%q) = %d, library %d: %s", name, row.text, got, want, row.why)
			}
		}
	}
}

// Law: a text whose runs are ordinary has the library's count, to the token.
func TestCountIsExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	atoms := []string{" ", " ", "  ", "\t", "\n", "\n\n", "\r\n", "'", "'s", "'LL", "’", "\"", "/", "//", ".", "(", "})\n", "__", "=", "😀", "\u0301", "\u200d",
		"a", "the", "The", "HTTP", "return", "ſ", "é", "ß", "你", "好", "。", "テ", "한", "0", "42", "2026", "٣", "½", "\u00a0", "\u3000", "\u0085", "\x00", "\xff", "\xe4\xbd", "\ufffd", "ǅ", "ʰ", "ª"}
	for _, row := range corners {
		atoms = append(atoms, row.text)
	}
	for _, name := range names {
		c, lib := counter(t, name), library(t, name)
		for range 1500 {
			var b strings.Builder
			for range 1 + r.IntN(25) {
				b.WriteString(atoms[r.IntN(len(atoms))])
			}
			text := b.String()
			if got, want := c.Count(text), len(lib.EncodeOrdinary(text)); got != want {
				t.Fatalf("%s: Count(%q) = %d, library %d", name, text, got, want)
			}
		}
		for _, file := range sources(t) {
			if got, want := c.Count(file), len(lib.EncodeOrdinary(file)); got != want {
				t.Errorf("%s: a source file has %d tokens, library %d:\n%.200s", name, got, want, file)
			}
		}
	}
}

// Law: what is put behind a text adds what the two have more together than the text alone, runs without a boundary included.
func TestBehind(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	ends := []string{"\n", "\r\n", " ", "\t", "\r", ");", "/", "日", "a", "7", "'", "\u0301", "\xff", ""}
	beginnings := []string{"\n\n--- from earlier steps ---\n", "\n", "'s", "a", "7", "/", " ", "日本", ""}
	for _, name := range names {
		c := counter(t, name)
		for range 500 {
			text := ""
			if r.IntN(10) == 0 {
				text = strings.Repeat(ends[r.IntN(len(ends))], 700)
			}
			for range r.IntN(8) {
				text += ends[r.IntN(len(ends))]
			}
			more := beginnings[r.IntN(len(beginnings))] + beginnings[r.IntN(len(beginnings))]
			if got, want := c.Behind(text, more), c.Count(text+more)-c.Count(text); got != want {
				t.Fatalf("seed %d: %s: Behind(%q, %q) = %d, want %d", seed, name, text, more, got, want)
			}
		}
	}
	if c := counter(t, "cl100k_base"); c.Behind("x);\r\r\r\n", "\n\n-") <= c.Count("\n\n-") {
		t.Error("no text takes more behind another than alone; then Count would do")
	}
}

// sources are this package's own files: ordinary text.
func sources(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source files: %v", err)
	}
	var all []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	return all
}

// runs are texts without a boundary, by how they are made.
var runs = map[string]func(r *rand.Rand) string{
	"one letter":  func(*rand.Rand) string { return "a" },
	"one capital": func(*rand.Rand) string { return "Q" },
	"letters":     func(r *rand.Rand) string { return string(rune('a' + r.IntN(26))) },
	"base64": func(r *rand.Rand) string {
		const set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		return set[r.IntN(64):][:1]
	},
	"one ideogram": func(*rand.Rand) string { return "你" },
	"ideograms":    func(r *rand.Rand) string { return string(rune(0x4e00 + r.IntN(0x5000))) },
	"blanks":       func(*rand.Rand) string { return " " },
	"newlines":     func(*rand.Rand) string { return "\n" },
	"dashes":       func(*rand.Rand) string { return "-" },
	"signs":        func(r *rand.Rand) string { return "!#$%&*+,-./:;<=>?@"[r.IntN(18):][:1] },
	"digits":       func(r *rand.Rand) string { return string(rune('0' + r.IntN(10))) },
	"emoji":        func(r *rand.Rand) string { return string(rune(0x1f600 + r.IntN(64))) },
	"NULs":         func(*rand.Rand) string { return "\x00" },
	"bad bytes":    func(*rand.Rand) string { return "\xff" },
}

func run(make func(*rand.Rand) string, r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(make(r))
	}
	return b.String()
}

// slack is how far the count of a text may be off. A piece ends with a rune, so it may be 509 bytes
// long, and each invalid byte of it counts three.
func slack(text string) int { return 2 * (len(string([]rune(text))) / 509) }

// Law: cutting moves the count by at most two tokens a piece of 512 bytes.
func TestCountOfRunsIsNear(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, name := range names {
		c, lib := counter(t, name), library(t, name)
		for kind, make := range runs {
			text := run(make, r, 6000)
			got, want := c.Count(text), len(lib.EncodeOrdinary(text))
			t.Logf("%s: %s: %d, library %d", name, kind, got, want)
			if d := got - want; max(d, -d) > slack(text) {
				t.Errorf("%s: %s: Count = %d, library %d", name, kind, got, want)
			}
		}
	}
}

// Law: time is linear in the text, whatever it is made of. The bound is far above what it takes (a
// tenth of a second), and far below what the library would (a minute).
func TestCountOfLongRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := counter(t, "")
	c.Count("load")
	for kind, make := range runs {
		text := run(make, r, 256<<10)
		start := time.Now()
		n := c.Count(text)
		took := time.Since(start)
		t.Logf("%s: %d tokens in %v", kind, n, took)
		if n == 0 || n > len(text) {
			t.Errorf("%s: %d tokens in %d bytes", kind, n, len(text))
		}
		if took > 10*time.Second {
			t.Errorf("%s: %d bytes took %v", kind, len(text), took)
		}
	}
}

func TestCountConcurrently(t *testing.T) {
	want := map[string]int{}
	for _, s := range sources(t) {
		want[s] = len(library(t, "cl100k_base").EncodeOrdinary(s))
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			c := counter(t, "cl100k_base")
			for s, n := range want {
				if got := c.Count(s); got != n {
					t.Errorf("Count = %d, library %d", got, n)
				}
			}
		})
	}
	group.Wait()
}

func FuzzCount(f *testing.F) {
	for _, row := range corners {
		f.Add(row.text)
	}
	f.Add(strings.Repeat("x", 600))
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range names {
			got := counter(t, name).Count(text)
			want := got
			if len(text) < 4096 {
				want = len(library(t, name).EncodeOrdinary(text))
			}
			if d := got - want; max(d, -d) > slack(text) {
				t.Errorf("%s: Count(%q) = %d, library %d", name, text, got, want)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := map[string]string{
		"source":    strings.Join(sources(b), "\n"),
		"base64":    run(runs["base64"], r, 64<<10),
		"ideograms": run(runs["ideograms"], r, 64<<10),
		"letters":   run(runs["letters"], r, 64<<10),
	}
	c := counter(b, "")
	c.Count("load")
	for _, name := range []string{"source", "base64", "ideograms", "letters"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			b.ReportAllocs()
			for b.Loop() {
				c.Count(texts[name])
			}
		})
	}
}
