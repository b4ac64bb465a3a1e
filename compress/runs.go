package compress

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Run is a stretch of an observation that is paged in and out as one: whole lines, about a paragraph of them.
// Only a line too long for a run is cut.
type Run struct {
	Observation int // its number, from 0
	From, To    int // its bytes in the observation
	Line        int // where it begins, from 0
	Tokens      int // an estimate: a quarter of the characters it takes in JSON, rounded up
}

// How long runs are, in bytes. Short runs cost less where one line is wanted; long ones keep together what is
// read together.
const (
	textRun    = 300
	listingRun = 200  // where each line stands alone
	longLine   = 1400 // a longer line is cut
)

// Cut cuts an observation into runs, in order. Each byte belongs to exactly one. A run ends, once it is long
// enough, before a blank line or a definition. The empty text has no runs.
func Cut(text string) []Run {
	c := cutter{text: text, aim: textRun, soft: textRun * 3 / 5}
	if listing(text) {
		c.aim, c.soft = listingRun, listingRun
	}
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if end-at > longLine {
			c.long(at, end)
		} else {
			c.short(at, end)
		}
		at = end
	}
	c.end(len(text))
	return c.runs
}

// cutter is the state of Cut.
type cutter struct {
	text      string
	aim, soft int // a run is long enough; may end where the text suggests it
	runs      []Run
	from      int // where the run being built begins
	first     int // its line
	line      int // the line that comes next
}

// end closes the run being built, if there is one.
func (c *cutter) end(at int) {
	if at > c.from {
		c.runs = append(c.runs, Run{From: c.from, To: at, Line: c.first, Tokens: tokens(jsonSize(c.text[c.from:at]))})
		c.from = at
	}
	c.first = c.line
}

func (c *cutter) short(at, end int) {
	if line := c.text[at:end]; at-c.from >= c.soft && (strings.TrimSpace(unnumbered(line)) == "" || defines(line)) {
		c.end(at)
	}
	if at > c.from && end-c.from > c.aim+c.aim/7 {
		c.end(at)
	}
	c.line++
	if end-c.from >= c.aim {
		c.end(end)
	}
}

// long cuts a line, after a blank or a mark if there is one, and never within a character.
func (c *cutter) long(at, end int) {
	c.end(at)
	for end-at > longLine {
		n := 1 + strings.LastIndexAny(c.text[at:at+c.aim], " ,;}")
		if n <= c.aim/2 {
			n = c.aim
			for n < c.aim+utf8.UTFMax && !utf8.RuneStart(c.text[at+n]) {
				n++
			}
		}
		at += n
		c.end(at)
	}
	c.line++
	c.end(end)
}

// tokens estimates them from the characters of JSON.
func tokens(size int) int { return (size + 3) / 4 }

// jsonSize is how many characters the text takes within a JSON string.
func jsonSize(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r >= ' ' && r != '"' && r != '\\':
			n++
		case r >= ' ', strings.ContainsRune("\b\t\n\f\r", r):
			n += 2
		default:
			n += 6
		}
	}
	return n
}

// unnumbered is a line without the number that a viewer put before it: "  12\t", "12:", "12|", "12→", "12-".
func unnumbered(line string) string {
	rest := strings.TrimLeft(line, " \t")
	code := strings.TrimLeft(rest, "0123456789")
	if len(code) == len(rest) {
		return line
	}
	for _, mark := range []string{"\t", ":", "|", "→", "-"} {
		if after, ok := strings.CutPrefix(code, mark); ok {
			return after
		}
	}
	return line
}

// heads are how lines begin that open something new.
var heads = []string{
	"def ", "class ", "func ", "function ", "fn ", "pub ", "export ", "async def ", "async function ", "impl ", "struct ", "type ", "interface ",
	"const ", "static ", "public ", "private ", "protected ", "enum ", "trait ", "mod ", "@@ ", "diff --git",
}

func defines(line string) bool {
	line = strings.TrimLeft(unnumbered(line), " \t+-")
	return slices.ContainsFunc(heads, func(head string) bool { return strings.HasPrefix(line, head) })
}

// listing reports whether lines stand alone (paths, search hits) rather than being read in order: at least
// half of those with text begin with a path.
func listing(text string) bool {
	const enough, most = 4, 400 // lines to tell by
	lines, paths := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if n := strings.IndexAny(line, " :("); n >= 0 {
			line = line[:n]
		}
		if lines++; pathLike(line) {
			paths++
		}
		if lines == most {
			break
		}
	}
	return lines >= enough && paths*2 >= lines
}

func pathLike(word string) bool {
	for _, code := range []string{"//", "/*", "</"} {
		if strings.HasPrefix(word, code) {
			return fileName(word) != ""
		}
	}
	return strings.Contains(word, "/") || fileName(word) != ""
}

// fileName is the last part of a path, or of a name with a file's usual ending; else "". A line number after it
// is dropped.
func fileName(word string) string {
	word = strings.TrimRight(word, "0123456789:")
	slash := strings.LastIndexByte(word, '/')
	name := word[slash+1:]
	if slash < 0 && !endings[path.Ext(name)] {
		return ""
	}
	return name
}

// endings tell a file's name from a member of an object.
var endings = map[string]bool{
	".py": true, ".go": true, ".rs": true, ".ts": true, ".tsx": true, ".js": true, ".jsx": true, ".mjs": true, ".json": true, ".md": true, ".c": true,
	".h": true, ".cpp": true, ".java": true, ".rb": true, ".sh": true, ".txt": true, ".yml": true, ".yaml": true, ".toml": true, ".html": true,
	".css": true, ".sql": true, ".cfg": true, ".cs": true, ".php": true, ".rst": true, ".csv": true, ".xml": true, ".cob": true, ".cbl": true,
	".lock": true, ".swift": true, ".kt": true, ".vue": true,
}
