package controller

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"slices"
	"strings"
	"text/template"

	"github.com/ollama/ollama/api"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// prompt is one of the files in prompts: a system message that never changes and a user message that
// begins with what changes least, so that the server's prefix cache serves most of it. Its hash is kept with
// all that is made by it.
type prompt struct {
	template *template.Template
	hash     string // sha256 of the file
}

var (
	parentsPrompt    = readPrompt("parents")
	scoresPrompt     = readPrompt("scores")
	yesNoPrompt      = readPrompt("yesno")
	stepPrompt       = readPrompt("step")
	dependencyPrompt = readPrompt("dependency")
)

func readPrompt(name string) prompt {
	text, err := promptFiles.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		return prompt{template: template.New(name)} // cannot be: the file is in the program
	}
	sum := sha256.Sum256(text)
	return prompt{template.Must(template.New(name).Parse(string(text))), hex.EncodeToString(sum[:])}
}

// filling is what a prompt is filled with.
type filling struct {
	Task string
	Past []labelled // oldest first
	// Older ones than these, oldest first. They change with each turn, so they stand behind.
	Older []labelled
	Turn  string
}

type labelled struct{ Label, Text string }

// messages fills the prompt in.
func (p prompt) messages(f filling) ([]api.Message, error) {
	var system, user strings.Builder
	if err := p.template.ExecuteTemplate(&system, "system", nil); err != nil {
		return nil, err
	}
	if err := p.template.ExecuteTemplate(&user, "user", f); err != nil {
		return nil, err
	}
	return []api.Message{{Role: "system", Content: system.String()}, {Role: "user", Content: user.String()}}, nil
}

// mostShown is how many candidates a model is shown. Scores need a token each among the 20 likeliest.
const mostShown = 20

// labels name the candidates: one letter is one token in every vocabulary.
const labels = "ABCDEFGHIJKLMNOPQRST"

// room is how many tokens of our own count each part of a prompt may have. It depends on nothing but the
// context, so that a text is cut at the same place in each prompt.
type room struct{ task, past, turn int }

// roomIn shares out a context, less what the answer and a repair of it need.
func (o *Ollama) roomIn(m Model) room {
	n := o.context(m)
	n -= n/16 + min(n/4, mostWritten+mostRepair)
	n = int(float64(n)/o.stretching()) - instructions
	n = max(n, mostShown*leastPast*2)
	return room{task: min(n/8, mostTask), past: min(n/2/mostShown, mostPast), turn: min(n*3/8, mostTurn)}
}

const (
	instructions = 64 + 220 // tokens of a model's own marks, and of the longest system message and questions
	mostWritten  = 240      // of an answer
	mostRepair   = 260      // of what is said to have it repaired
	leastPast    = 4        // of a candidate, whatever comes of it

	// More of them makes no answer better, and on a processor each token takes milliseconds.
	mostTask, mostPast, mostTurn = 200, 90, 400
)

// shown are the candidates that a model is shown: the newest, at least ten of them, oldest first; and the best of older
// ones that rules have found, likewise. A list that moved on by one with each turn would begin differently each time,
// and no prompt would share a prefix with the one before. So where not all candidates fit it begins with a block of
// turns, and goes on from there until the block is too old.
func shown(q Question) (newest, older []Past) {
	past := q.Candidates
	if len(past) > mostShown {
		from := mostNewest - 1
		begin := (past[from].Seq + block - 1) / block * block
		for from > mostNewest-block && past[from].Seq < begin {
			from--
		}
		past = past[:from+1]
	}
	rest := q.Candidates[len(past):]
	for _, c := range q.Found {
		i := slices.IndexFunc(rest, func(p Past) bool { return p.ID == c.ID })
		if i >= 0 && len(older) < mostOlder {
			older = append(older, rest[i])
		}
	}
	slices.SortStableFunc(older, func(a, b Past) int { return a.Seq - b.Seq })
	return oldestFirst(past), older
}

// How many of the candidates a model is shown where not all fit.
const (
	mostOlder  = 3                     // that rules have found
	mostNewest = mostShown - mostOlder // and at least mostNewest-block+1
	block      = 8                     // turns, by their places
)

func oldestFirst(newest []Past) []Past {
	out := slices.Clone(newest)
	slices.Reverse(out)
	return out
}

// offered is a prompt for parents, filled in, and its candidates in the order of their labels.
func (o *Ollama) offered(q Question, m Model) (f filling, past []Past) {
	r := o.roomIn(m)
	newest, older := shown(q)
	past = append(newest, older...)
	list := o.listed(past, r)
	return filling{
		Task: o.cut(plainText(q.Turn.Task), r.task), Turn: o.intent(q.Turn, r.turn),
		Past: list[:len(newest)], Older: list[len(newest):],
	}, past
}

// listed puts candidates into a prompt.
func (o *Ollama) listed(past []Past, r room) []labelled {
	out := make([]labelled, len(past))
	for i, p := range past {
		out[i] = labelled{labels[i : i+1], o.cut(p.line(), r.past)}
	}
	return out
}

// line is what is known of a candidate, on one line and never empty.
func (p Past) line() string { return cmp.Or(plainText(p.Summary), string(p.Kind), string(Other)) }

// intent is what a turn says and does, without what came of it, in at most n tokens and never empty.
func (o *Ollama) intent(t Turn, n int) string {
	var lines []string
	if thought := plainText(t.Thought); thought != "" {
		lines = append(lines, "thought: "+o.cut(thought, n/2))
	}
	for _, c := range t.Calls {
		lines = append(lines, "action: "+o.cut(plainText(c.Name+" "+c.Args), max(n/2/len(t.Calls), 8)))
	}
	return cmp.Or(o.cut(strings.Join(lines, "\n"), n), "nothing")
}

// cut is the beginning of text that has at most n tokens, ended between words where that loses little.
func (o *Ollama) cut(text string, n int) string {
	const mostBytes = 12 // of a token, in text that is worth reading
	part := text[:min(len(text), n*mostBytes)]
	for have := o.opts.Count(part); have > n && part != ""; have = o.opts.Count(part) {
		part = part[:min(len(part)*n/have, len(part)-1)]
		if i := strings.LastIndexAny(part, " \n"); i > len(part)*3/4 {
			part = part[:i]
		}
	}
	if len(part) == len(text) {
		return text
	}
	return strings.ToValidUTF8(strings.TrimSpace(part), "") + "…"
}
