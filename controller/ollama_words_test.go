package controller

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestInvented(t *testing.T) {
	for _, test := range []struct {
		why, source, text string
		want              []string
	}{
		{"everyday words are free", "make failed", "The build was run and it did not work.", nil},
		{"an identifier", "parse_header", "It calls parse_body.", []string{"parse_body"}},
		{"a path", "src/http.c", "It views src/https.c.", []string{"src/https.c"}},
		{"a path with its line, told without", "at src/http.c:88:3", "It is in src/http.c.", nil},
		{"a path with a line that nobody named", "at src/http.c", "It is in src/http.c:88.", []string{"src/http.c:88", "88"}},
		{"an inner capital", "HttpServer", "It starts HttpsServer.", []string{"HttpsServer"}},
		{"an order's number", "#W5744371", "Order #W5744372 is sent.", []string{"#W5744372", "W5744372"}},
		{"a short number counts too", "3 failed, 4 passed", "2 tests failed.", []string{"2"}},
		{"so does one with letters", "python3", "It uses python2.", []string{"python2"}},
		{"and one in other digits", "3 failed", "٣ tests failed.", []string{"٣"}},
		{"an address", "https://a.example.org/x", "It reads https://a.example.org/y.", []string{"a.example.org/y", "https://a.example.org/y"}},
		{"letters that only look the same", "parse_header", "It calls p\u0430rse_header.", []string{"rse_header"}},
		{"a folder", "ls /usr", "It reads /etc.", []string{"/etc"}},
		{"a folder that was named", "ls /usr", "It lists (/usr).", nil},
		{"a hidden file", "cat .env", "It reads .envrc, .env.", []string{".envrc"}},
		{"a flag", "git push --force", "It pushes with --force-all, not --force.", []string{"--force-all"}},
		{"a variable", "echo $PATH", "It prints $HOME.", []string{"$HOME"}},
		{"a qualified name", "foo::Bar", "It calls foo::Baz and foo::Bar.", []string{"foo::Baz"}},
		{"a home", "cd ~/src", "It enters ~/.ssh and ~/src.", []string{"~/.ssh"}},
		{"a path cut off", "cd x/pkgs", "It enters x/pkg… and y/pkg…", []string{"y/pkg…"}},
		{"a dash is no mark by itself", "make", "It fails - the build - again.", nil},
		{"a number made of parts that were seen", "1 of 7 took 3.1 s", "Version 1.7 took 3.1 s.", []string{"1.7"}},
		{"a version, of which the end is left out", "Python 3.11.4", "It uses Python 3.11, a Python 3.", nil},
		{"a version, of which the beginning is", "Python 3.11.4", "It uses 11.4.", []string{"11.4"}},
		{"a loop", "1 failed", "1.1.1.1.", []string{"1.1.1.1"}},
		{"a decimal with its unit", "in 0.03s", "It took 0.03s.", nil},
		{"dots between numbers", "1 and 2", "It counts 1...2.", nil},
		{"dots at the end are none either", "make", "It waits... then fails.", nil},
		{"escapes of arguments separate words", `{"cmd":"a\nfoo_bar"}`, "It runs foo_bar.", nil},
	} {
		got := sources(test.source).invented(test.text)
		slices.Sort(got)
		slices.Sort(test.want)
		if diff := gocmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.why, diff)
		}
	}
}

// A word is not hidden by what takes no room, wherever that stands in it; and no such thing is in what is returned.
func TestHiddenWords(t *testing.T) {
	const made = "zlib_inflate"
	known := sources("make fails in parse_header, in zlib, on inflate")
	for _, hidden := range []string{"\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\U000e0061"} {
		for i := 1; i < len(made); i++ {
			text := "It calls " + made[:i] + hidden + made[i:] + "."
			if got := known.invented(text); !slices.Equal(got, []string{made}) {
				t.Errorf("%+q: invented %q", text, got)
			}
		}
		answer, err := json.Marshal(map[string]string{"summary": "It fails in parse_" + hidden + "header."})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := summaryIn(string(answer), stepWords); got != "It fails in parse_header." || err != nil {
			t.Errorf("%+q became %+q, %v", hidden, got, err)
		}
		if got := reason("It fails in parse_"+hidden+"header.", known); got != "It fails in parse_header." {
			t.Errorf("the reason with %+q became %+q", hidden, got)
		}
	}
}

func TestHonest(t *testing.T) {
	known := sources("make fails in parse_header at src/http.c:88")
	for _, test := range []struct{ why, text, want string }{
		{"nothing to drop", "It runs make. It fails.", "It runs make. It fails."},
		{"a sentence goes whole", "It fails in parse_header, not in parse_body. It runs make.", "It runs make."},
		{"a path is no end of a sentence", "It fails at src/http.c:88 again! See zlib_x.", "It fails at src/http.c:88 again!"},
		{"a semicolon separates too", "It runs make; zlib_x is missing; it fails", "It runs make; it fails"},
		{"nothing is left", "It is zlib_x", ""},
	} {
		if got := known.honest(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// Whatever a model writes, no specific word comes out that is not in its sources.
func FuzzHonest(f *testing.F) {
	f.Add("make fails in parse_header", "It fails in parse_header. See zlib_x; or 88.")
	f.Add("a.b/c", "a.b/c. d.e/f! g_h? i")
	f.Add("é/é x_y", "\xff;\n é/é\u2028 x_y… \\n1234")
	f.Fuzz(func(t *testing.T, source, text string) {
		known := sources(source)
		answer, err := json.Marshal(map[string]string{"summary": text})
		if err != nil {
			t.Fatal(err)
		}
		written, err := summaryIn(string(answer), stepWords)
		if err != nil {
			return
		}
		for _, out := range []string{salvaged(written, known), reason(text, known)} {
			for _, w := range Words(out) {
				if _, ok := known[w]; !ok && out != unexplained {
					t.Errorf("%q is in %q, but not in %q", w, out, source)
				}
			}
			if len(strings.Fields(out)) > stepWords || strings.ContainsAny(out, "\n\r\x1b") {
				t.Errorf("not one short line: %q", out)
			}
		}
	})
}

// Whatever a model answers, what is taken from it are candidates, each once, with scores from 0 to 1.
func FuzzChoices(f *testing.F) {
	f.Add(`{"parents":[{"id":"A","confidence":0.5,"reason":"x"}]}`)
	f.Add(`{"parents":[{"id":"AB","confidence":-1}]} x`)
	f.Add(`[null]`)
	f.Add(`{"parents":[],"parents":[{"id":"C","confidence":1e-999,"reason":""}]}`)
	f.Add(strings.Repeat(`{"parents":[`, 100))
	past := []Past{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := choices(answer, past)
		if err != nil && got != nil || len(got) > mostChoices {
			t.Fatalf("%v, %v", got, err)
		}
		seen, last := map[string]bool{}, 1.0
		for _, c := range got {
			if !slices.Contains([]string{"a", "b", "c"}, c.ID) || seen[c.ID] || !(c.Score >= 0 && c.Score <= last) {
				t.Fatalf("%q gives %+v", answer, got)
			}
			seen[c.ID], last = true, c.Score
		}
		if _, err := summaryIn(answer, stepWords); err == nil && got != nil {
			t.Fatalf("%q is two things", answer)
		}
	})
}
