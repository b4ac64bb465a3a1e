// Package controller decides what a step rests on, and says in few words what it did.
//
// A Turn is a step as the controller sees it. Facts are what can be read off it without a model. A Trace
// gathers the turns of one session and answers where a word was last seen. A Question asks for the
// parents of one turn among the candidates of a Trace, and an Answer gives Choices with reasons.
package controller

import (
	"strings"
	"time"
)

// Turn is one step, as text.
type Turn struct {
	ID      string   // unique in the session
	Seq     int      // its place, from 0
	Task    string   // the session's first user message
	User    []string // user messages that came before the turn
	Thought string
	Calls   []Call
}

// Told is all the text of a turn that a summary of it, or a reason, may take words from.
func (t Turn) Told() []string {
	out := append([]string{t.Task, t.Thought}, t.User...)
	for _, c := range t.Calls {
		out = append(out, c.Name, c.Args, c.Observation)
	}
	return out
}

// Call is one tool call of a turn with what answered it.
type Call struct {
	Name        string
	Args        string // JSON or free text
	Observation string
	Answered    bool
	Failed      bool // flagged by the harness, or a non-zero exit code
}

// Kind is what an action does, by the tool's name and its arguments.
type Kind string

const (
	View   Kind = "view"   // reads a file or page
	List   Kind = "list"   // lists a folder
	Search Kind = "search" // looks for a pattern
	Edit   Kind = "edit"   // changes a file
	Test   Kind = "test"   // runs tests
	Run    Kind = "run"    // runs something else
	Ask    Kind = "ask"    // asks or tells a person, or plans
	Other  Kind = "other"
)

// LinkKind says what sort of link a Choice is.
type LinkKind string

const (
	LiteralLink  LinkKind = "literal"
	FileLink     LinkKind = "file"
	EditLink     LinkKind = "edit"
	TestLink     LinkKind = "test"
	ModelLink    LinkKind = "model"
	PreviousLink LinkKind = "previous"
)

// Choice is one parent.
type Choice struct {
	ID     string
	Kind   LinkKind
	Score  float64 // 0 to 1
	Reason string
	Words  []string // the specific words that flowed, rarest first
}

// Question asks what Turn depends on. Its observations may not be there yet, and are not looked at.
type Question struct {
	Turn    Turn
	Session string // whose turn it is, for one that keeps account
	Tokens  int    // of the session's steps up to the turn
	// Trace is what Rules choose from. A model does not get it: a Trace goes on changing.
	Trace *Trace
	// Candidates, newest first, are what a model chooses from.
	Candidates []Past
	// Found is what rules chose already, by falling score, for one that only adds to it.
	Found []Choice
}

// Answer holds all choices, by falling score, then newest first.
type Answer struct {
	Choices []Choice
	By      string
	Origin  Origin
	// Vector is the turn's own embedding, of a model that makes one; it is kept beside the node.
	Vector []float32
}

// Origin says what it took a model to answer. The zero value is of rules.
type Origin struct {
	Model  string        `json:"model,omitempty"`  // its name
	Digest string        `json:"digest,omitempty"` // of its weights, as the server tells it
	Prompt string        `json:"prompt,omitempty"` // hash of the prompt that it was given, without the question
	Calls  int           `json:"calls,omitempty"`  // of the server
	In     int           `json:"in,omitempty"`     // tokens read, cached ones included
	Out    int           `json:"out,omitempty"`    // tokens written
	Took   time.Duration `json:"took,omitempty"`   // nanoseconds, waiting included
}

// Add adds what another answer took. The model is that of the first; prompts are each named once.
func (o *Origin) Add(p Origin) {
	if o.Model == "" && o.Digest == "" {
		o.Model, o.Digest = p.Model, p.Digest
	}
	for hash := range strings.FieldsSeq(p.Prompt) {
		if !strings.Contains(o.Prompt, hash) {
			o.Prompt = strings.TrimSpace(o.Prompt + " " + hash)
		}
	}
	o.Calls, o.In, o.Out, o.Took = o.Calls+p.Calls, o.In+p.In, o.Out+p.Out, o.Took+p.Took
}

// SummaryQuestion asks for a step's summary, given the task (§3.1), and for the summary of the step with
// what it rests on: from the parents' dependency summaries and the step's own, never from the
// history.
type SummaryQuestion struct {
	Turn    Turn
	Session string // as in Question
	Tokens  int    // likewise
	Facts   Facts
	Parents []string // dependency summaries of the chosen parents, best first
}

// Summary is the answer.
type Summary struct {
	Step       string // at most Rules.StepWords words
	Dependency string // at most Rules.DependencyWords words
	By         string
	Origin     Origin
}

// Rules is the controller that needs no model: literal information flow, file, edit and test links.
// The zero value is ready.
type Rules struct {
	StepWords       int // 0: 60
	DependencyWords int // 0: 70
}
