package compress

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCut(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	tests := []struct {
		name, text string
		want       []int // where runs begin
	}{
		{"nothing has no runs", "", nil},
		{"a short text is one", "a\nb\n", []int{0}},
		{"no line break at the end", "a\nb", []int{0}},
		{"three lines of a hundred make a run", strings.Repeat(line, 7), []int{0, 300, 600}},
		{"a run ends before a blank line once it is long enough", line + line + "\n" + line, []int{0, 200}},
		{"and before a definition, numbered or not", line + line + "  12\tfunc f() {\n" + line, []int{0, 200}},
		{"but not when it is short", line + "\n" + line, []int{0}},
		{"a line is not cut for being longer than a run", strings.Repeat("x", 1000) + "\n" + line, []int{0, 1001}},
		{"a very long line is, at a blank", strings.Repeat("word ", 300), []int{0, 300}},
		{"and where there is none, between characters", strings.Repeat("é", 800), []int{0, 300}},
		{"listings are cut finer", strings.Repeat("internal/server/handler.go:17: x\n", 14), []int{0, 198, 396}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, r := range Cut(test.text) {
				got = append(got, r.From)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("runs begin elsewhere (-want +got):\n%s", diff)
			}
			checkRuns(t, test.text)
		})
	}
}

// checkRuns proves that runs hold each byte once, in order, in whole lines, and know where they are.
func checkRuns(t *testing.T, text string) {
	t.Helper()
	at := 0
	for i, r := range Cut(text) {
		if r.From != at || r.To <= r.From {
			t.Fatalf("run %d holds bytes %d to %d, after %d", i, r.From, r.To, at)
		}
		at = r.To
		if want := strings.Count(text[:r.From], "\n"); r.Line != want {
			t.Errorf("run %d begins in line %d, want %d", i, r.Line, want)
		}
		if r.Tokens < 1 || r.Tokens > 2*(r.To-r.From) {
			t.Errorf("run %d of %d bytes has %d tokens", i, r.To-r.From, r.Tokens)
		}
		if r.To < len(text) && text[r.To-1] != '\n' {
			cut := text[1+strings.LastIndexByte(text[:r.To], '\n'):]
			if n := strings.IndexByte(cut, '\n'); n >= 0 && n < longLine {
				t.Errorf("run %d cuts a line of %d bytes", i, n+1)
			}
			if utf8.ValidString(text) && !utf8.RuneStart(text[r.To]) {
				t.Errorf("run %d cuts a character", i)
			}
		}
	}
	if at != len(text) {
		t.Fatalf("the runs hold %d of %d bytes", at, len(text))
	}
}

func TestCutHoldsAll(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	parts := []string{"\n", "\n\n", "func f() {\n", "a/b.go:3: ", "  12\t", "é", "word ", "\xff\xfe", "\x80", strings.Repeat("z", 500), strings.Repeat("\x80", 2000), "{\"a\":1},", "\r\n"}
	for round := range 300 {
		var b strings.Builder
		for range random.IntN(120) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		checkRuns(t, b.String())
		if t.Failed() {
			t.Fatalf("seed %d, round %d: %q", seed, round, b.String())
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a\n\nb")
	f.Add(strings.Repeat("\x80", 3000))
	f.Add(strings.Repeat("a/b.go:1: x\n", 50))
	f.Add(strings.Repeat("x", 1399) + "\n\n" + strings.Repeat("é", 900))
	f.Fuzz(checkRuns)
}

func TestFileName(t *testing.T) {
	tests := []struct{ word, want, why string }{
		{"a/b.go", "b.go", "a path"},
		{"a/b.go:12", "b.go", "with a line"},
		{"/usr/bin", "bin", "no ending is needed after a slash"},
		{"main.py", "main.py", "a usual ending"},
		{"self.name", "", "a member, not a file"},
		{"word", "", "neither"},
		{"a/", "", "a folder has no name here"},
		{"", "", "nothing"},
	}
	for _, test := range tests {
		if got := fileName(test.word); got != test.want {
			t.Errorf("fileName(%q) = %q, want %q: %s", test.word, got, test.want, test.why)
		}
	}
}

func TestUnnumbered(t *testing.T) {
	tests := []struct{ line, want, why string }{
		{"  12\tx = 1", "x = 1", "cat -n"},
		{"12:x", "x", "grep"},
		{"12|x", "x", "a bar"},
		{"   7→x", "x", "an arrow"},
		{"12-x", "x", "grep's context"},
		{"x = 12", "x = 12", "no number before it"},
		{"12 apples", "12 apples", "a number that belongs to the text"},
		{"12", "12", "nothing but a number"},
	}
	for _, test := range tests {
		if got := unnumbered(test.line); got != test.want {
			t.Errorf("unnumbered(%q) = %q, want %q: %s", test.line, got, test.want, test.why)
		}
	}
}

func TestSpecificWords(t *testing.T) {
	tests := []struct {
		text string
		want []string
		why  string
	}{
		{"the quick brown Fox", nil, "plain words could be anyone's"},
		{"see internal/api/server.go:42 now", []string{"internal/api/server.go:42"}, "a path with its line"},
		{"call parse_date and parseDate and ParseDate", []string{"parse_date", "parseDate", "ParseDate"}, "identifiers"},
		{"order #W2378156 of 10428", []string{"#W2378156", "10428"}, "numbers and codes"},
		{"HTTP ok 123 abc", nil, "too short, or no inner capital"},
		{"parse_date parse_date", []string{"parse_date"}, "each once"},
		{strings.Repeat("a_", 200), nil, "no word is that long"},
		{"schön_gut", []string{"schön_gut"[len("schö"):]}, "words are ASCII"},
	}
	for _, test := range tests {
		v := newVocabulary()
		for range 2 { // what was seen before is known
			var got []string
			for _, w := range v.specificIn(test.text) {
				got = append(got, v.specifics[w].text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%.40q: %s (-want +got):\n%s", test.text, test.why, diff)
			}
		}
	}
}

func TestParts(t *testing.T) {
	tests := []struct {
		text string
		want []string
		why  string
	}{
		{"parseDates of HTTPServer2024", []string{"parse", "date", "http", "server", "2024"}, "identifiers fall apart, plurals are one with their word"},
		{"a an class", []string{"class"}, "short ones say nothing, and not every s is a plural"},
		{"Größe Ärger", []string{"größe", "ärger"}, "other letters"},
		{strings.Repeat("q", 500), nil, "data is no word"},
		{"\xff\xfe\xfd abc", []string{"\uFFFD\uFFFD\uFFFD", "abc"}, "bytes that are no text do no harm"},
	}
	for _, test := range tests {
		v := newVocabulary()
		names := map[int32]string{}
		ids := v.partsIn(test.text)
		for name, id := range v.parts {
			names[id] = name
		}
		var got []string
		for _, id := range ids {
			got = append(got, names[id])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%.40q: %s (-want +got):\n%s", test.text, test.why, diff)
		}
	}
}
