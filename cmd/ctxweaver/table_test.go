package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	build := func() *table {
		tab := &table{heads: []column{{head: "N", right: true}, {head: "WHAT", stretch: true}, {head: "K"}}}
		tab.add(plain("7", "short", "a")...)
		tab.add(plain("1234", "a text that is rather long", "b")...)
		return tab
	}
	for _, test := range []struct {
		reason string
		most   int
		want   string
	}{
		{"wide enough: as wide as the cells", 80, `
   N  WHAT                        K
   7  short                       a
1234  a text that is rather long  b`},
		{"too narrow: the column that stretches is cut", 20, `
   N  WHAT         K
   7  short        a
1234  a text tha…  b`},
		{"far too narrow: no column falls below its least", 5, `
   N  WHAT      K
   7  short     a
1234  a text …  b`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := strings.Join(build().lines(test.most, nil), "\n")
			if diff := cmp.Diff(test.want[1:], got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// In a pipe, names and the last column are whole, and what stands between is not padded without end.
func TestTableInPipe(t *testing.T) {
	long := strings.Repeat("word ", 50) + "end"
	tab := &table{heads: []column{{head: "NAME", stretch: true, name: true}, {head: "WHAT", stretch: true}, {head: "WHY", stretch: true}}}
	tab.add(plain(long, long, long)...)
	line := tab.lines(0, nil)[1]
	if got := strings.Count(line, "end"); got != 2 || columns(line) > 2*columns(long)+ample+4 {
		t.Errorf("%d of the two whole, %d columns: %s", got, columns(line), line)
	}
}

// A column that wraps is cut nowhere, and has more room than one that is cut.
func TestTableWraps(t *testing.T) {
	for _, test := range []struct {
		reason, why string
		most        int
		want        string
	}{
		{"wide enough: one line", "older than the rest", 60, `
N  WHAT                      WHY
7  a text that is too long.  older than the rest`},
		{"too narrow: at blanks", "older than the newest 2 observations", 42, `
N  WHAT          WHY
7  a text that…  older than the newest 2
                 observations`},
		{"a long word within it", "src/" + strings.Repeat("long/", 6) + "name.go", 36, `
N  WHAT        WHY
7  a text th…  src/long/long/long/lo
               ng/long/long/name.go`},
		{"a wide rune is not halved", strings.Repeat("日", 9), 24, `
N  WHAT      WHY
7  a text …  日日日日日
             日日日日`},
		{"no bound: one line", strings.Repeat("word ", 40) + "end", 0, `
N  WHAT                      WHY
7  a text that is too long.  ` + strings.Repeat("word ", 40) + "end"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tab := &table{heads: []column{{head: "N"}, {head: "WHAT", stretch: true}, {head: "WHY", stretch: true, wrap: true}}}
			tab.add(plain("7", "a text that is too long.", test.why)...)
			if diff := cmp.Diff(test.want[1:], strings.Join(tab.lines(test.most, nil), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		most         int
		want         string
	}{
		{"what fits stays", "abc", 3, "abc"},
		{"what does not ends in an ellipsis", "abcd", 3, "ab…"},
		{"wide runes count twice", "日本語", 5, "日本…"},
		{"a wide rune is not halved", "日本語", 4, "日…"},
		{"combining marks count nothing", "e\u0301e\u0301e", 3, "e\u0301e\u0301e"},
		{"no room, no text", "abc", 0, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := shorten(test.text, test.most); got != test.want {
				t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
			}
		})
	}
	if got := pad("日本", 6, true); got != "  日本" {
		t.Errorf("pad counts columns, not runes: %q", got)
	}
}

func TestOneLine(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"line ends and tabs become spaces", "a\n\tb \r\n c", "a b c"},
		{"escapes are shown, not obeyed", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"so are NUL, bell and delete", "\x00\a\x7f", "␀␇␡"},
		{"C1 controls steer terminals too", "\u009b31m", "\ufffd31m"},
		{"text that turns the direction could fake a line", "a\u202eb", "a\ufffdb"},
		{"broken UTF-8 does not get through", "a\xffb", "a\ufffdb"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := oneLine(test.text); got != test.want {
				t.Errorf("oneLine(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestShortenName(t *testing.T) {
	for _, test := range []struct {
		reason, name string
		most         int
		want         string
	}{
		{"what fits stays", "run-07", 6, "run-07"},
		{"both ends tell names apart", "experiment-a-run-07", 10, "exper…n-07"},
		{"wide runes are not halved", "日本語日本語", 6, "日…語"},
		{"no room for two ends", "abcdef", 2, "a…"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := shortenName(test.name, test.most)
			if got != test.want || columns(got) > test.most {
				t.Errorf("shortenName(%q, %d) = %q, want %q", test.name, test.most, got, test.want)
			}
		})
	}
}

// Whatever JSON says, it is the same JSON when a terminal can show it, and steers none.
func TestEscaped(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"what steers nothing stays", `{"a":"é😀\u001b"}`, `{"a":"é😀\u001b"}`},
		{"C1 controls and delete", "[\"\u009b31m\u0085\x7f\"]", `["\u009b31m\u0085\u007f"]`},
		{"what turns the direction", "[\"a\u202eb\u2066\u200f\"]", `["a\u202eb\u2066\u200f"]`},
		{"in a name too", "{\"\u009b\":1}", `{"\u009b":1}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := escaped([]byte(test.text))
			if string(got) != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			var before, after any
			if err := errors.Join(json.Unmarshal([]byte(test.text), &before), json.Unmarshal(got, &after)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1.0k", 12_350: "12.3k", 999_949: "999.9k", 999_950: "1.0M", 3_100_000: "3.1M"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 32_768: "32.8 kB", 3_100_000: "3.1 MB", 2_500_000_000: "2.5 GB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		time.Second: "just now", 5 * time.Minute: "5 min ago", 30 * time.Hour: "30 h ago", 72 * time.Hour: "3 days ago", 60 * 24 * time.Hour: "2026-01-13",
	} {
		if got := ago(now.Add(-d), now); got != want {
			t.Errorf("ago(%s) = %s, want %s", d, got, want)
		}
	}
	for text, want := range map[string]time.Duration{"12h": 12 * time.Hour, "30d": 720 * time.Hour, "2w": 336 * time.Hour, "0d": 0} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("parseAge(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "5m", "-1d", "1.5d", "999999999d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("parseAge(%q) = %s, want an error", text, got)
		}
	}
}
