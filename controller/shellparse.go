package controller

import "strings"

// shellParser reads enough of the shell's language to tell simple commands apart: quotes, escapes,
// comments, pipes and lists, redirections, here-documents. Expansions stay as written. It accepts
// anything; what no shell would accept gives some commands or none.
type shellParser struct {
	text string
	at   int

	commands []command
	cmd      command
	word     strings.Builder
	inWord   bool
	wordAs   wordUse
	pending  []string // here-documents to read at the next line's start: their end words
}

// wordUse says what the word that is being read is for.
type wordUse int

const (
	argument wordUse = iota
	redirectOut
	redirectIn
	hereDocument
	ignored
)

// parseShell returns the simple commands of a shell text, in order.
func parseShell(text string) []command {
	p := shellParser{text: text}
	for p.at < len(p.text) {
		p.step()
	}
	p.endCommand(false)
	return p.commands
}

// step reads one character, quotation or operator.
func (p *shellParser) step() {
	c := p.text[p.at]
	switch {
	case c == '\\':
		p.escape()
	case c == '\'':
		p.quote(strings.IndexByte(p.text[p.at+1:], '\''))
	case c == '"':
		p.doubleQuote()
	case c == '$' && p.next() == '(' || c == '`':
		p.substitution()
	case c == ' ' || c == '\t' || c == '\r':
		p.endWord()
		p.at++
	case c == '\n':
		p.at++
		p.endCommand(false)
		p.hereDocuments()
	case c == '#' && !p.inWord:
		p.at += lineEnd(p.text[p.at:])
	case c == '>' || c == '<' || c == '&' && p.next() == '>':
		p.redirect()
	case c == '|':
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '|' || p.text[p.at] == '&') {
			p.at++
			p.endCommand(p.text[p.at-1] == '&')
			return
		}
		p.endCommand(true)
	case c == ';' || c == '&' || c == '(' || c == ')':
		p.at++
		p.endCommand(false)
	default:
		p.put(p.text[p.at : p.at+1])
		p.at++
	}
}

func (p *shellParser) next() byte {
	if p.at+1 < len(p.text) {
		return p.text[p.at+1]
	}
	return 0
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func (p *shellParser) put(s string) {
	p.inWord = true
	p.word.WriteString(s)
}

// escape reads a backslash: the character behind it, or nothing at a line's end.
func (p *shellParser) escape() {
	switch p.next() {
	case 0:
		p.at++
		return
	case '\n':
	default:
		p.put(p.text[p.at+1 : p.at+2])
	}
	p.at += 2
}

// quote takes n bytes behind the mark as they are; all of them if there is no second mark.
func (p *shellParser) quote(n int) {
	body := p.text[p.at+1:]
	if n >= 0 {
		body = body[:n]
	}
	p.put(body)
	p.at = min(p.at+1+len(body)+1, len(p.text))
}

func (p *shellParser) doubleQuote() {
	p.put("")
	for p.at++; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' && strings.IndexByte("\"\\$`\n", p.next()) >= 0 && p.next() != 0 {
			p.at++
		}
		p.put(p.text[p.at : p.at+1])
	}
	p.at++
}

// substitution keeps $(…) and `…` as they are, as part of a word.
func (p *shellParser) substitution() {
	from, depth := p.at, 0
	if p.text[p.at] == '`' {
		p.at++
		if i := strings.IndexByte(p.text[p.at:], '`'); i >= 0 {
			p.at += i + 1
		} else {
			p.at = len(p.text)
		}
		p.put(p.text[from:p.at])
		return
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c == '(' {
			depth++
		} else if c == ')' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	p.put(p.text[from:p.at])
}

// redirect reads an operator with < or >, and decides what the next word is.
func (p *shellParser) redirect() {
	stream := p.word.String()
	if numbered := p.inWord && (stream == "1" || stream == "2"); numbered {
		p.word.Reset()
		p.inWord = false
	} else {
		stream = ""
		p.endWord()
	}
	if p.text[p.at] == '&' {
		p.at++
	}
	op := p.at
	for p.at < len(p.text) && strings.IndexByte("<>&|-", p.text[p.at]) >= 0 && p.at-op < 3 {
		p.at++
	}
	switch mark := p.text[op:p.at]; {
	case mark == "<<" || mark == "<<-":
		p.wordAs = hereDocument
	case strings.HasPrefix(mark, "<<") || strings.Contains(mark, "&") || stream == "2":
		p.wordAs = ignored
	case mark[0] == '<':
		p.wordAs = redirectIn
	default:
		p.wordAs = redirectOut
	}
}

func (p *shellParser) endWord() {
	if !p.inWord {
		return
	}
	w := p.word.String()
	p.word.Reset()
	p.inWord = false
	switch p.wordAs {
	case argument:
		p.cmd.argv = append(p.cmd.argv, w)
	case redirectOut:
		if f := clean(w); f != "" {
			p.cmd.out = append(p.cmd.out, f)
		}
	case redirectIn:
		if f := clean(w); f != "" {
			p.cmd.in = append(p.cmd.in, f)
		}
	case hereDocument:
		p.pending = append(p.pending, w)
	}
	p.wordAs = argument
}

// endCommand closes the command that is being read; the next one reads from it if pipe is set.
func (p *shellParser) endCommand(pipe bool) {
	p.endWord()
	p.wordAs = argument
	if len(p.cmd.argv) > 0 || len(p.cmd.out) > 0 {
		p.commands = append(p.commands, p.cmd)
		p.cmd = command{piped: pipe}
		return
	}
	p.cmd = command{piped: p.cmd.piped && pipe}
}

// hereDocuments reads the bodies of the here-documents that the line before began. They belong to the
// last command of that line, which is right but for lines with several.
func (p *shellParser) hereDocuments() {
	for _, end := range p.pending {
		var body strings.Builder
		for p.at < len(p.text) {
			n := lineEnd(p.text[p.at:])
			line := p.text[p.at : p.at+n]
			p.at = min(p.at+n+1, len(p.text))
			if strings.TrimSpace(line) == end {
				break
			}
			body.WriteString(line)
			body.WriteByte('\n')
		}
		if n := len(p.commands); n > 0 {
			p.commands[n-1].body += body.String()
		}
	}
	p.pending = nil
}
