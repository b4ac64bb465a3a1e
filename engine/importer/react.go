package importer

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// reactTextFormat is a log of ReAct prompts: a Question, then Thought, Action and Observation lines
// with numbers.
var reactTextFormat = format{
	name: "react-text",
	detect: func(_ string, head []byte) float64 {
		first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n")) // a text about such logs begins otherwise
		if question.Match(first) && label.Match(head) {
			return 0.95
		}
		return 0
	},
	parse: parseReactText,
}

var (
	question = regexp.MustCompile(`(?m)^Question: |^-{5,} .* -{5,}\r?$`)
	label    = regexp.MustCompile(`(?m)^(Thought|Action|Observation) (\d+):`)
	bracket  = regexp.MustCompile(`(?s)^(\w+)\[(.*)\]$`)
)

func parseReactText(data []byte) ([]*Trajectory, error) {
	text := string(data)
	var out []*Trajectory
	starts := question.FindAllStringIndex(text, -1)
	for i, at := range starts {
		if !strings.HasPrefix(text[at[0]:], "Question: ") { // a headline between groups of runs
			continue
		}
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out = append(out, reactTextRun(text[at[1]:end]))
	}
	return out, nil
}

func reactTextRun(text string) *Trajectory {
	b := newThread()
	marks := label.FindAllStringSubmatchIndex(text, -1)
	first := len(text)
	if len(marks) > 0 {
		first = marks[0][0]
	}
	b.message(graphstore.Message{Role: graphstore.User, Text: strings.TrimSpace(text[:first])})
	acted := true // the turn is complete: a thought or an action begins the next
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		body := strings.TrimSpace(text[m[1]:end])
		switch text[m[2]:m[3]] {
		case "Thought":
			b.turn().Thought = body
			acted = false
		case "Action":
			if acted {
				b.turn()
			}
			name, args := "", body
			if p := bracket.FindStringSubmatch(body); p != nil {
				name, args = p[1], p[2]
			}
			b.call("", name, args)
			acted = true
		case "Observation":
			if !acted { // the action was not printed
				b.call("", "", "")
				acted = true
			}
			b.result("", graphstore.Observation{Text: body})
		}
	}
	return b.done()
}
