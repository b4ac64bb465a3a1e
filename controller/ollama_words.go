package controller

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary is all the specific words of some texts: what a model may say that was told them.
type vocabulary map[string]struct{}

func sources(texts ...string) vocabulary {
	v := vocabulary{}
	for _, text := range texts {
		for w := range words(text) {
			v[w] = struct{}{}
		}
		for w := range numbered(text) {
			v[w] = struct{}{}
		}
		for w := range marked(text) {
			v[w] = struct{}{}
		}
		for w := range dotted(text) { // 3.11 may be said of 3.11.4
			for w != "" {
				v[w] = struct{}{}
				w = w[:max(0, strings.LastIndexByte(w, '.'))]
			}
		}
	}
	return v
}

// invented lists the specific words of text, and whatever has a digit or is marked, that the vocabulary lacks. They are those
// that a reader sees.
func (v vocabulary) invented(text string) []string {
	text = seen(text)
	var out []string
	had := map[string]bool{}
	check := func(w string) bool {
		if !v.has(w) && !had[w] {
			had[w] = true
			out = append(out, w)
		}
		return true
	}
	words(text)(check)
	numbered(text)(check)
	marked(text)(check)
	dotted(text)(check)
	return out
}

// has reports whether the vocabulary has a word, or one that begins so where it was cut off.
func (v vocabulary) has(w string) bool {
	if _, ok := v[w]; ok {
		return true
	}
	begin, cut := strings.CutSuffix(w, "…")
	if !cut {
		return false
	}
	for known := range v {
		if strings.HasPrefix(known, begin) {
			return true
		}
	}
	return false
}

// seen is text without characters that take no room, such as a space of no width: between them a made-up word is in
// parts, none of which is specific.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// numbered yields the runs of letters, digits and underscores that have a digit: also short ones, which are no
// specific words but are easily made up (3 failed, v2, line 88).
func numbered(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' }) {
			if strings.ContainsFunc(w, unicode.IsNumber) && !yield(w) {
				return
			}
		}
	}
}

// dotted yields the numbers of several parts: 0.35, 3.11.4, 10.0.0.7. Parts that were seen make none that was.
func dotted(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' }) {
			for w := range strings.SplitSeq(w, "..") {
				if w = strings.Trim(w, "."); strings.Contains(w, ".") && !yield(w) {
					return
				}
			}
		}
	}
}

// marked yields what its marks show to be no word of a language, where no specific word is in it: /etc, ~/.ssh, .env,
// $HOME, --force, a::b.
func marked(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;()[]{}<>|=", r) }) {
			w = strings.TrimRight(w, ".:!?*")
			name := strings.TrimLeft(w, "-.~/$")
			marks := w != name || strings.ContainsAny(w, "/\\$") || strings.Contains(w, "::")
			if !marks || !strings.ContainsFunc(name, unicode.IsLetter) || specific(w) {
				continue
			}
			if !yield(w) {
				return
			}
		}
	}
}

// specific reports whether a specific word is in text.
func specific(text string) bool {
	for range words(text) {
		return true
	}
	return false
}

// honest is text without the sentences that hold an invented word. What is left is whole sentences, so that
// none is turned into its opposite.
func (v vocabulary) honest(text string) string {
	if len(v.invented(text)) == 0 {
		return text
	}
	var kept []string
	for _, s := range sentences(text) {
		if len(v.invented(s)) == 0 {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}

// sentences splits text behind a full stop, a mark of question or exclamation, or a semicolon that white
// space follows, and at ends of lines.
func sentences(text string) []string {
	var out []string
	from := 0
	take := func(to int) {
		if s := strings.TrimSpace(text[from:to]); s != "" {
			out = append(out, s)
		}
		from = to
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
		case r == '\n', r == '。':
			take(next)
		case strings.ContainsRune(".!?;", r) && next < len(text) && strings.IndexByte(" \t\r\n", text[next]) >= 0:
			take(next)
		}
	}
	take(len(text))
	return out
}
