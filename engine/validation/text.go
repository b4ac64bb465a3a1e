package validation

import (
	"strconv"
	"strings"
)

// clean takes terminal escapes out and makes every carriage return a line break: what a progress bar
// overwrites stood at the start of a line too.
func clean(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexAny(s, "\x1b\r")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		if s[i] == '\x1b' {
			s = s[i+escape(s[i:]):]
			continue
		}
		if s = s[i+1:]; !strings.HasPrefix(s, "\n") {
			b.WriteByte('\n')
		}
	}
}

// escape gives the length of the terminal escape at the start of s. An unfinished one ends with its line, so
// that a stray byte hides no more than that.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if c := s[i]; c >= '@' && c <= '~' {
				return i + 1
			} else if c < ' ' || c > '~' {
				return i
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			switch s[i] {
			case '\a':
				return i + 1
			case '\x1b', '\n', '\r':
				if strings.HasPrefix(s[i:], "\x1b\\") {
					return i + 2
				}
				return i
			}
		}
		return len(s)
	case '(', ')':
		return min(3, len(s))
	}
	return 2
}

// wrappers are put by agents' harnesses before an output, on its first line.
var wrappers = []string{"Output: ", "Error: ", "<output>", "<output_head>", "<output_tail>", "<stdout>", "<stderr>", "<bash-stdout>"}

func unwrap(line string) string {
	if line == "" || line[0] != '<' && line[0] != 'O' && line[0] != 'E' {
		return line
	}
	for _, w := range wrappers {
		if strings.HasPrefix(line, w) {
			return line[len(w):]
		}
	}
	return line
}

// longestLine is how many bytes of a line are read: no verdict is longer, but a line may be a megabyte. Events
// of go test -json hold a test's own output and are read whole.
const longestLine = 4096

// split cuts a text into lines without trailing blanks and without a harness's wrapper.
func split(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		line = unwrap(strings.TrimRight(line, " \t\n"))
		if len(line) > longestLine && line[0] != '{' {
			line = line[:longestLine]
		}
		lines = append(lines, line)
	}
	return lines
}

// indent counts leading blanks and gives what follows them.
func indent(line string) (int, string) {
	body := strings.TrimLeft(line, " \t")
	return len(line) - len(body), body
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // more digits than an int holds: no count that a runner prints
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
