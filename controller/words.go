package controller

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is kept if it has this many bytes, with the marks around it. Shorter ones are everywhere;
// longer ones are data.
const (
	minWord = 4
	maxWord = 120
)

// Words lists the specific words of a text, each once, in order of first use: paths, URLs, identifiers
// with an underscore, a dot, a digit or an inner capital, ids, hashes, and numbers of four digits and
// more. They are what one step can be seen to have taken from another. The escapes \n, \t and \" of JSON
// strings separate words, so arguments need no decoding. Time is linear in the text.
//
// The words share the text's memory: clone what outlives it.
func Words(text string) []string {
	var out []string
	seen := map[string]struct{}{}
	for w := range words(text) {
		if _, ok := seen[w]; !ok {
			seen[w] = struct{}{}
			out = append(out, w)
		}
	}
	return out
}

// words yields the specific words of text as they come, with repeats.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := scanner{text: text, yield: yield}
		s.scan()
	}
}

// Classes of ASCII bytes.
const (
	lower uint8 = 1 << iota
	upper
	digit
	under
	dash
	dot
	slash

	letter = lower | upper
	alnum  = letter | digit
	ident  = alnum | under
	pathy  = ident | dash | dot | slash
)

var class = func() (t [256]uint8) {
	for c := range 26 {
		t['a'+c], t['A'+c] = lower, upper
	}
	for c := range 10 {
		t['0'+c] = digit
	}
	t['_'], t['-'], t['.'], t['/'] = under, dash, dot, slash
	return t
}()

// scanner reads a text from left to right. At each place it tries the shapes of words in a fixed order
// and goes on behind the first that fits, so that the same text gives the same words wherever it
// stands. The spans remember how far a run of bytes goes, which keeps the whole linear.
type scanner struct {
	text  string
	yield func(string) bool
	done  bool

	path span // of pathy bytes
	name int  // end of the last dotted name in path, or 0
	tail int  // end of name with its :line:column

	// Each is of one class only.
	smalls, lows, letters, digits, alnums, hyphened span
}

// span is a run of bytes of one class.
type span struct{ from, to int }

// end returns where the run of class bytes that i is in ends; i itself if it is in none.
func (s *scanner) end(r *span, i int, of uint8) int {
	if r.from <= i && i < r.to {
		return r.to
	}
	j := i
	for j < len(s.text) && class[s.text[j]]&of != 0 {
		j++
	}
	*r = span{i, j}
	return j
}

// is reports whether the byte at i is there and of the class.
func (s *scanner) is(i int, of uint8) bool { return i < len(s.text) && class[s.text[i]]&of != 0 }

func (s *scanner) scan() {
	for i := 0; i < len(s.text) && !s.done; {
		c := s.text[i]
		switch {
		case class[c]&pathy != 0:
			i = s.run(i)
		case c == '#':
			end := s.id(i+1, i)
			s.word(i, end)
			i = max(end, i+1)
		case c == '\\' && i+1 < len(s.text) && strings.IndexByte(`nt"`, s.text[i+1]) >= 0:
			i += 2
		case c == ':':
			s.url(i)
			i++
		default:
			i++
		}
	}
}

// run reads on at i, which is in a run of pathy bytes, and returns where it got to.
func (s *scanner) run(i int) int {
	if i >= s.path.to {
		s.enter(i)
	}
	if i < s.name {
		s.word(i, s.tail)
		if s.tail > s.name {
			s.word(i, s.name)
		}
		return s.tail
	}
	c := class[s.text[i]]
	switch {
	case c&slash != 0:
		end := s.rooted(i)
		s.word(i, end)
		return max(end, i+1)
	case c&ident == 0:
		return i + 1
	}
	return s.identifier(i)
}

// enter looks over the run of pathy bytes at i for its last dotted name: a dot between a name's byte
// and one to five letters that end there, as in src/http.c, v1.beta or example.com.
func (s *scanner) enter(i int) {
	s.path = span{i, i}
	end := s.end(&s.path, i, pathy)
	s.name, s.tail = 0, 0
	dots, slashes := 0, 0
	for j := i; j < end; j++ {
		switch class[s.text[j]] {
		case slash:
			slashes++
		case dot:
			dots++
			if j == i || class[s.text[j-1]]&(ident|dash) == 0 {
				continue
			}
			k := j + 1
			for k < end && k <= j+6 && class[s.text[k]]&letter != 0 {
				k++
			}
			if k > j+1 && k <= j+6 && !s.goesOn(k) {
				s.name = k
			}
		}
	}
	if s.name > 0 {
		s.tail = s.name
		for s.tail < len(s.text) && (s.text[s.tail] == ':' || class[s.text[s.tail]] == digit) {
			s.tail++
		}
	}
	// The whole run too, where its last part has no short ending: django.db.models, src/app/main.
	if s.name < end && (dots > 0 || slashes > 1) {
		s.whole(i, end)
	}
}

// goesOn reports whether a word of any script goes on at i.
func (s *scanner) goesOn(i int) bool {
	if i >= len(s.text) {
		return false
	}
	if s.text[i] < utf8.RuneSelf {
		return class[s.text[i]]&ident != 0
	}
	r, _ := utf8.DecodeRuneInString(s.text[i:])
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// whole yields a run of pathy bytes that has a letter and a dot or slash inside.
func (s *scanner) whole(i, end int) {
	w := strings.Trim(s.text[i:end], "._-/")
	if strings.ContainsAny(w, "./") && strings.ContainsFunc(w, unicode.IsLetter) {
		s.give(w)
	}
}

// rooted matches a path of two parts and more that begins with a slash, and returns its end, or i. Its
// parts may be of any script.
func (s *scanner) rooted(i int) int {
	parts, end := 0, i
	for j := i; j < len(s.text) && s.text[j] == '/'; {
		j++
		from := j
		for j < len(s.text) {
			if class[s.text[j]]&(ident|dash|dot) != 0 {
				j++
				continue
			}
			if s.text[j] < utf8.RuneSelf || !s.goesOn(j) {
				break
			}
			_, n := utf8.DecodeRuneInString(s.text[j:])
			j += n
		}
		if j == from {
			break
		}
		parts++
		end = j
	}
	if parts < 2 {
		return i
	}
	return end
}

// identifier matches at i, which is a letter, a digit or an underscore, and returns where to go on.
func (s *scanner) identifier(i int) int {
	an := s.end(&s.alnums, i, alnum)
	if an > i && s.plain(i, an) {
		return an
	}
	if i == 0 || class[s.text[i-1]]&ident == 0 {
		s.bare(i, an)
	}
	c := class[s.text[i]]
	if c&(letter|under) != 0 {
		u := an
		if c == under {
			u = s.end(&s.alnums, i+1, alnum)
		}
		if s.is(u, under) && s.is(u+1, ident) {
			end := u + 1
			for s.is(end, ident) {
				end++
			}
			s.word(i, end)
			return end
		}
	}
	if c&letter != 0 {
		from := i
		if c == upper {
			from++
		}
		if hump := s.end(&s.lows, from, lower|digit); hump > from && s.is(hump, upper) && (c == upper || s.is(hump+1, alnum)) {
			s.word(i, an)
			return an
		}
	}
	if end := s.id(i, i); end > i {
		s.word(i, end)
		return end
	}
	if n := s.end(&s.digits, i, digit); n-i >= 4 {
		s.word(i, n)
		return n
	}
	return i + 1
}

// plain reports whether the run of letters and digits is an everyday word: letters only, no capital
// inside, no underscore behind. Most of prose is, and nothing in it can match.
func (s *scanner) plain(i, end int) bool {
	return s.end(&s.smalls, i+1, lower) == end && class[s.text[i]]&letter != 0 && !s.is(end, under)
}

// id matches letters, a digit, and at least four more letters, digits and dashes at i, and returns the
// end, or none.
func (s *scanner) id(i, none int) int {
	d := s.end(&s.letters, i, letter)
	if !s.is(d, digit) {
		return none
	}
	if end := s.end(&s.hyphened, d+1, alnum|dash); end-d-1 >= 4 {
		return end
	}
	return none
}

// bare yields a whole run of letters and digits that the shapes of the pattern see in part or not at
// all: HTTPServer, HAT136, abcdef1, HXDUBJ.
func (s *scanner) bare(i, end int) {
	if end-i < 5 || s.is(end, under) {
		return
	}
	var has uint8
	for j := i; j < end; j++ {
		has |= class[s.text[j]]
	}
	if has == lower|digit || has == upper|digit || has&letter == letter || has == upper && end-i >= 6 {
		s.word(i, end)
	}
}

// url yields the whole address around the colon at i.
func (s *scanner) url(i int) {
	if !strings.HasPrefix(s.text[i:], "://") {
		return
	}
	from := i
	for from > 0 && i-from < 10 && class[s.text[from-1]]&letter != 0 {
		from--
	}
	end := i + 3
	for end < len(s.text) && end-from <= maxWord && s.text[end] > ' ' && s.text[end] < 0x7f && strings.IndexByte("\"'`<>()[]{}\\|,;", s.text[end]) < 0 {
		end++
	}
	if from < i && end > i+3 {
		s.word(from, end)
	}
}

// word yields text[i:end] without the marks around it, if it is neither too short nor too long.
func (s *scanner) word(i, end int) {
	if n := end - i; n >= minWord && n <= maxWord {
		s.give(strings.Trim(s.text[i:end], ".-/:"))
	}
}

func (s *scanner) give(w string) {
	if !s.done && len(w) > 2 && len(w) <= maxWord && !s.yield(w) {
		s.done = true
	}
}
