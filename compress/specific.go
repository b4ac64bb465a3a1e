package compress

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A specific word is a path, a long number, or an identifier with an underscore, dot, digit or inner capital: what
// an agent can hardly have said by chance. Parts are the words that text is made of, specific words too.

var specificWord = regexp.MustCompile(`[A-Za-z0-9_.\-/]*[A-Za-z0-9_\-]\.[A-Za-z]{1,5}\b(?:[:\d]*)|/[\w.\-]+(?:/[\w.\-]+)+|[A-Za-z_][A-Za-z0-9]*_[A-Za-z0-9_]+|[a-z]+[a-z0-9]*[A-Z][A-Za-z0-9]+|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|#?[A-Za-z]*\d[A-Za-z0-9\-]{4,}|\d{4,}`)

// Bounds of words, in bytes.
const (
	leastSpecific = 4
	mostSpecific  = 120
	leastPart     = 3
	mostPart      = 64 // what is longer is data
	mostPieces    = 1 << 17
)

// vocabulary numbers the words of a session, from 0, so that runs are lists of small numbers.
type vocabulary struct {
	numbers   map[string]int32
	specifics []specific
	partsOf   lists // of each specific word, repeated as they are in it
	pieces    map[string][]int32
	parts     map[string]int32
	partRuns  []int32 // by part: how many runs have it
	files     map[string]int32
	dirs      map[string]int32
	marked    struct{ specifics, parts marks }
	lower     []byte
}

// specific is what is known of a specific word.
type specific struct {
	text      string
	file, dir int32 // of a path; else -1
	said      bool  // by a message, a thought or an action
	runs      int32 // how many have it
	last      int32 // the newest of them, or -1
}

func newVocabulary() vocabulary {
	return vocabulary{numbers: map[string]int32{}, pieces: map[string][]int32{}, parts: map[string]int32{}, files: map[string]int32{}, dirs: map[string]int32{}}
}

// specificIn lists the specific words of a text, each once. No word spans a character that none of its kinds
// has, so that text is looked at piece by piece, and a piece that was seen before is known.
func (v *vocabulary) specificIn(text string) []int32 {
	var out []int32
	v.marked.specifics.clear()
	for piece := range strings.FieldsFuncSeq(text, apart) {
		if plain(piece) {
			continue
		}
		found, ok := v.pieces[piece]
		if !ok {
			for _, w := range specificWord.FindAllString(piece, -1) {
				if len(w) < leastSpecific || len(w) > mostSpecific {
					continue
				}
				if w = strings.Trim(w, ".-/:"); w != "" {
					found = append(found, v.specific(w))
				}
			}
			if len(v.pieces) >= mostPieces {
				clear(v.pieces)
			}
			if len(piece) <= mostPart {
				v.pieces[strings.Clone(piece)] = found
			}
		}
		for _, w := range found {
			if v.marked.specifics.add(w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// apart reports whether no specific word has the character.
func apart(r rune) bool {
	switch r {
	case '.', '-', '/', ':', '#', '_':
		return false
	}
	return !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// plain reports whether a piece is a plain word, as most are.
func plain(piece string) bool {
	for i := range len(piece) {
		if c := piece[i]; !small(c) && (i > 0 || !capital(c)) {
			return false
		}
	}
	return true
}

// specific numbers a specific word.
func (v *vocabulary) specific(word string) int32 {
	if n, ok := v.numbers[word]; ok {
		return n
	}
	word = strings.Clone(word) // or the whole text would stay for it
	n := number32(v.numbers, word)
	s := specific{text: word, file: -1, dir: -1, last: -1}
	if name := fileName(word); name != "" {
		s.file = number32(v.files, name)
		if slash := strings.LastIndexByte(word, '/'); slash > 0 {
			s.dir = number32(v.dirs, lastTwo(word[:slash]))
		}
	}
	v.specifics = append(v.specifics, s)
	var parts []int32
	v.eachPart(word, func(p int32) { parts = append(parts, p) })
	v.partsOf.add(parts)
	return n
}

// lastTwo is the end of a folder's path, which names it whatever its root is.
func lastTwo(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		if j := strings.LastIndexByte(dir[:i], '/'); j >= 0 {
			return dir[j+1:]
		}
	}
	return dir
}

// partsIn lists the parts of a text, each once.
func (v *vocabulary) partsIn(text string) []int32 {
	var out []int32
	v.marked.parts.clear()
	v.eachPart(text, func(p int32) {
		if v.marked.parts.add(p) {
			out = append(out, p)
		}
	})
	return out
}

// eachPart calls f for the words of a text and of its identifiers, in lower case and without a plural's s, and
// for its numbers.
func (v *vocabulary) eachPart(text string, f func(int32)) {
	for i := 0; i < len(text); {
		j := i + 1
		switch c := text[i]; {
		case alphabetic(c):
			for j < len(text) && alphabetic(text[j]) && !breaks(text, j) {
				j++
			}
		case digit(c):
			for j < len(text) && digit(text[j]) {
				j++
			}
		default:
			i = j
			continue
		}
		if n := j - i; n >= leastPart && n <= mostPart {
			f(v.part(text[i:j]))
		}
		i = j
	}
}

// breaks reports whether a part begins at text[j], which is a letter after a letter: fooBar, HTTPServer.
func breaks(text string, j int) bool {
	if !capital(text[j]) {
		return false
	}
	return !capital(text[j-1]) || j+1 < len(text) && small(text[j+1])
}

func (v *vocabulary) part(word string) int32 {
	b := v.lower[:0]
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			b = append(b[:0], strings.ToLower(word)...)
			break
		}
		if capital(c) {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	v.lower = b
	if n := len(b); n > 4 && b[n-1] == 's' && b[n-2] != 's' {
		b = b[:n-1]
	}
	p, ok := v.parts[string(b)]
	if !ok {
		p = number32(v.parts, string(b))
		v.partRuns = append(v.partRuns, 0)
	}
	return p
}

func capital(c byte) bool    { return c >= 'A' && c <= 'Z' }
func small(c byte) bool      { return c >= 'a' && c <= 'z' }
func digit(c byte) bool      { return c >= '0' && c <= '9' }
func alphabetic(c byte) bool { return capital(c) || small(c) || c >= utf8.RuneSelf }

// number32 gives a word its number, the next one if it is new.
func number32(numbers map[string]int32, word string) int32 {
	n, ok := numbers[word]
	if !ok {
		n = int32(len(numbers))
		numbers[word] = n
	}
	return n
}

// marks is a set of small numbers that is emptied in no time.
type marks struct {
	at  []uint32 // by number: 1 + the times it had been emptied when it was added
	now uint32
}

func (m *marks) clear() { m.now++ }

// add reports whether n was not in the set.
func (m *marks) add(n int32) bool {
	for int(n) >= len(m.at) {
		m.at = append(m.at, 0)
	}
	if m.at[n] == m.now+1 {
		return false
	}
	m.at[n] = m.now + 1
	return true
}

// lists are many short lists, end to end.
type lists struct {
	first int // those before it were dropped, and are empty
	ends  []int
	all   []int32
}

func (l *lists) len() int { return l.first + len(l.ends) }

// drop empties the lists before one, if that halves what there is.
func (l *lists) drop(before int) {
	n := before - l.first
	if n <= len(l.ends)/2 {
		return
	}
	cut := l.ends[n-1]
	l.all = slices.Clone(l.all[cut:])
	l.ends = slices.Clone(l.ends[n:])
	for i := range l.ends {
		l.ends[i] -= cut
	}
	l.first = before
}

func (l *lists) add(list []int32) {
	l.all = append(l.all, list...)
	l.ends = append(l.ends, len(l.all))
}

func (l *lists) of(i int) []int32 {
	i -= l.first
	switch {
	case i < 0:
		return nil
	case i == 0:
		return l.all[:l.ends[0]]
	}
	return l.all[l.ends[i-1]:l.ends[i]]
}

var (
	// failure is how a line begins that tells of one.
	failure = regexp.MustCompile(`(?m)^\s*(?:E  |FAIL|FAILED|ERROR|Error:|error(?:\[E\d+\])?:|Traceback|panic:|[A-Za-z.]*(?:Error|Exception)\b:|--- FAIL|✗|not ok|AssertionError|.*: error:)`)
	// definition is how a line begins that names something new, in most languages.
	definition = regexp.MustCompile(`(?m)^\s*(?:\d+[\t:|→ -]+)?\s*(?:export |pub |public |private |static |async |default |abstract )*(?:def|class|func|function|fn|struct|type|interface|const|enum|trait|impl|let|var)\s+(?:\([^)]*\)\s*)?([A-Za-z_][A-Za-z0-9_]*)`)
)

// unescaped shows what the JSON of a call's arguments hides.
var unescaped = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t")
