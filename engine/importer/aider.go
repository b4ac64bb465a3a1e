package importer

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// aiderFormat is .aider.chat.history.md: "#### " lines are the user's, "> " lines the tool's, all
// else is the model's. A file holds a session for each start of aider.
var aiderFormat = format{
	name: "aider-history",
	detect: func(name string, head []byte) float64 {
		switch {
		case bytes.HasPrefix(bytes.TrimSpace(head), []byte("# aider chat started at ")):
			return 0.98
		case strings.HasSuffix(name, ".aider.chat.history.md"):
			return 0.9
		}
		return 0
	},
	parse: parseAider,
}

var aiderStart = regexp.MustCompile(`(?m)^# aider chat started at (.*)$`)

func parseAider(data []byte) ([]*Trajectory, error) {
	text := string(data)
	starts := aiderStart.FindAllStringSubmatchIndex(text, -1)
	if starts == nil {
		return []*Trajectory{aiderSession("", text)}, nil
	}
	var out []*Trajectory
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out = append(out, aiderSession(strings.TrimSpace(text[at[2]:at[3]]), text[at[1]:end]))
	}
	return out, nil
}

func aiderSession(started, text string) *Trajectory {
	b := newThread()
	b.t.Agent = "aider"
	b.t.Name = started
	if t, err := time.Parse(time.DateTime, started); err == nil {
		b.t.Start = t
	}
	blocks := aiderBlocks(text)
	last := len(blocks) - 1
	for last >= 0 && blocks[last].kind != aiderModel {
		last--
	}
	for i, block := range blocks {
		switch block.kind {
		case aiderModel:
			answered := i < last || i+1 < len(blocks) && blocks[i+1].kind == aiderTool
			aiderTurn(b, block.text, answered)
		case aiderUser:
			b.message(graphstore.Message{Role: graphstore.User, Text: block.text})
		case aiderTool:
			if b.last == nil {
				b.message(graphstore.Message{Role: graphstore.System, Text: block.text})
			} else {
				b.result("", graphstore.Observation{Text: block.text})
			}
		}
	}
	return b.done()
}

func aiderTurn(b *thread, text string, answered bool) {
	s := b.turn()
	thought, edits, ok := splitEdits(text)
	switch {
	case ok:
		s.Thought = thought
		b.call("", "edit", edits)
	case answered:
		b.call("", "", text)
	default:
		s.Thought = text
	}
}

var editBlocks = regexp.MustCompile("(?ms)(?:^[^\\n]*\\n)?(?:^`{3,}[^\\n]*\\n)?^<{5,9} SEARCH.*^>{5,9} REPLACE[^\\n]*(?:\\n`{3,}[^\\n]*)?")

// splitEdits takes the stretch from the first SEARCH/REPLACE block, with the file's name above it, to the
// end of the last.
func splitEdits(text string) (thought, edits string, ok bool) {
	at := editBlocks.FindStringIndex(text)
	if at == nil {
		return text, "", false
	}
	return around(text, at[0], at[1]), text[at[0]:at[1]], true
}

const (
	aiderModel = 'a'
	aiderTool  = '>'
	aiderUser  = '#'
)

type aiderBlock struct {
	kind rune
	text string
}

// aiderBlocks joins neighbouring lines of one kind. Blank lines belong to the block around them.
func aiderBlocks(text string) []aiderBlock {
	var out []aiderBlock
	var lines []string
	kind := rune(0)
	flush := func() {
		if t := strings.TrimSpace(strings.Join(lines, "\n")); t != "" {
			out = append(out, aiderBlock{kind, t})
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			lines = append(lines, "")
			continue
		}
		k, line := aiderLine(line)
		if k != kind {
			flush()
			kind = k
		}
		lines = append(lines, line)
	}
	flush()
	return out
}

// aiderLine tells whose a line is, without its mark and the two spaces by which Markdown ends
// lines.
func aiderLine(line string) (rune, string) {
	for _, mark := range []string{"####", ">"} {
		if rest, ok := strings.CutPrefix(line, mark+" "); ok || line == mark {
			if !ok {
				rest = ""
			}
			return rune(mark[0]), strings.TrimSuffix(rest, "  ")
		}
	}
	return aiderModel, line
}
