package importer

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// Trajectory is one thread of an agent's work, read from a file. A sub-agent, or a branch that was
// abandoned, is a Trajectory of its own and names its Parent.
type Trajectory struct {
	Name   string // the file's own session id, or made from the file's name; unique within a file
	Format string
	Title  string
	Agent  string
	Model  string
	Dir    string // where the agent worked
	Parent string // Name of the trajectory it was spawned or forked from; "" for a main thread
	Start  time.Time
	Steps  []graphstore.Step
	Notes  Notes
}

// Notes counts what a reader should know about how well a file was read.
type Notes struct {
	Orphans     int      `json:"orphans,omitempty"`     // results whose call is nowhere; kept as messages
	Unanswered  int      `json:"unanswered,omitempty"`  // calls without a result
	Images      int      `json:"images,omitempty"`      // pictures left out
	Failed      int      `json:"failed,omitempty"`      // observations that the harness flagged as errors
	Compactions int      `json:"compactions,omitempty"` // times the harness replaced its own history
	Evicted     int      `json:"evicted,omitempty"`     // results that the harness had already thrown away
	Truncated   int      `json:"truncated,omitempty"`   // observations that the writer of the file had cut
	Broken      []string `json:"broken,omitempty"`      // what could not be read and was skipped, each with its place ("line 12: …")
}

// Calls counts the calls of all steps, each on its own. Calls that one joint observation
// answers count as one, since the trace cannot tell them apart.
func (t *Trajectory) Calls() int {
	n := 0
	for _, s := range t.Steps {
		n += s.Counted()
	}
	return n
}

// Task is the first thing a user said, or "".
func (t *Trajectory) Task() string {
	for _, s := range t.Steps {
		for _, m := range s.Before {
			if m.Role == graphstore.User && !m.Compaction && strings.TrimSpace(m.Text) != "" {
				return m.Text
			}
		}
	}
	return ""
}

// thread builds a Trajectory from a format's events in the order in which they happened. Results
// find their calls by id, whenever they come.
type thread struct {
	t      Trajectory
	before []graphstore.Message
	byID   map[string]place
	last   *place // newest call, for formats that pair by position
	open   bool   // the last step may still take more thought and calls
	turnID string // the client's id of the reply being built, for formats that spread one over several records
}

type place struct{ step, call int }

func newThread() *thread { return &thread{byID: map[string]place{}} }

// message records what a system or user said. It ends the model's turn.
func (b *thread) message(m graphstore.Message) {
	if m.Text == "" && m.Images == 0 {
		return
	}
	if m.Compaction {
		b.t.Notes.Compactions++
	}
	b.t.Notes.Images += m.Images
	b.before = append(b.before, m)
	b.open = false
}

// turn begins a turn of the model. What is said until the next message or turn belongs to it.
func (b *thread) turn() *graphstore.Step {
	b.t.Steps = append(b.t.Steps, graphstore.Step{Before: b.before})
	b.before = nil
	b.open = true
	return &b.t.Steps[len(b.t.Steps)-1]
}

// step is the turn that is being built, begun if there is none.
func (b *thread) step() *graphstore.Step {
	if !b.open {
		return b.turn()
	}
	return &b.t.Steps[len(b.t.Steps)-1]
}

// call adds a tool call to the turn. id may be empty; the call is then answered by position.
func (b *thread) call(id, name, args string) {
	s := b.step()
	s.Calls = append(s.Calls, graphstore.Call{ID: id, Name: name, Args: args})
	p := place{len(b.t.Steps) - 1, len(s.Calls) - 1}
	if id != "" {
		b.byID[id] = p
	}
	b.last = &p
}

// result answers the call of that id, or with id "" the newest call. A second result for one
// call is added to the first. A result without a call is kept as an orphan message.
func (b *thread) result(id string, o graphstore.Observation) {
	p, ok := b.byID[id]
	if id == "" && b.last != nil {
		p, ok = *b.last, true
	}
	b.t.Notes.Images += o.Images
	if o.Failed {
		b.t.Notes.Failed++
	}
	if !ok {
		b.t.Notes.Orphans++
		b.before = append(b.before, graphstore.Message{Role: graphstore.Orphan, Text: o.Text, Images: o.Images})
		return
	}
	c := &b.t.Steps[p.step].Calls[p.call]
	if c.Observation == nil {
		c.Observation = &o
		return
	}
	c.Observation.Text += "\n" + o.Text
	c.Observation.Images += o.Images
	c.Observation.Failed = c.Observation.Failed || o.Failed
	if o.ExitCode != nil {
		c.Observation.ExitCode = o.ExitCode
	}
}

// broken records something that was skipped.
func (b *thread) broken(format string, args ...any) {
	b.t.Notes.Broken = append(b.t.Notes.Broken, fmt.Sprintf(format, args...))
}

// done closes the thread: messages that no model answered become a last step of their own.
func (b *thread) done() *Trajectory {
	if len(b.before) > 0 {
		b.turn()
	}
	b.t.Notes.Unanswered = open(b.t.Steps)
	return &b.t
}

// open counts the calls that nothing answered.
func open(steps []graphstore.Step) int {
	n := 0
	for _, s := range steps {
		for _, c := range s.Calls {
			if c.Open() {
				n++
			}
		}
	}
	return n
}
