package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// ErrNothing is returned for a session without steps, since ATIF asks for at least one.
var ErrNothing = errors.New("the session has no steps to export")

// Export writes a stored session as ATIF v1.7. nodes are the steps of one line of it, from the first to the
// one that the line ends with.
//
// Every node is one step of source "agent", after a step for each message that came before it. What
// ATIF has no field for is in "extra" under "ctxweaver": of a step its node in the graph, of a call its exit code
// and whether it failed, of a message its role and whether it is a compaction. The file reads
// back as the same steps. Bytes that are not UTF-8 become U+FFFD, one for one, because JSON
// cannot hold them; Step.Raw is left out.
func Export(w io.Writer, info graphstore.SessionInfo, nodes []graphstore.Node) error {
	if len(nodes) == 0 {
		return fmt.Errorf("export %s: %w", info.Name, ErrNothing)
	}
	doc := atifDocument{
		Schema:  "ATIF-v1.7",
		Session: info.Name,
		Agent:   atifAgent{Name: info.Agent, Version: unknown, Model: info.Model},
		Extra: own[atifSession]{atifSession{
			Title: info.Title, Task: info.Task, Format: info.Format, Source: info.Source,
			Dir: info.Dir, Parent: info.Parent, Created: info.Created, Updated: info.Updated,
		}},
	}
	if info.Agent == "" {
		doc.Agent.Name = unknown
	}
	for _, n := range nodes {
		for _, m := range n.Step.Before {
			doc.add(messageStep(m))
		}
		doc.add(nodeStep(n))
	}
	doc.Metrics.Steps = len(doc.Steps)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("export %s: %w", info.Name, err)
	}
	return nil
}

// unknown stands where ATIF requires a text and the store has none.
const unknown = "unknown"

type atifDocument struct {
	Schema  string           `json:"schema_version"`
	Session string           `json:"session_id"`
	Agent   atifAgent        `json:"agent"`
	Steps   []atifStep       `json:"steps"`
	Metrics atifMetrics      `json:"final_metrics"`
	Extra   own[atifSession] `json:"extra"`
}

func (d *atifDocument) add(s atifStep) {
	s.ID = len(d.Steps) + 1
	d.Steps = append(d.Steps, s)
}

type atifAgent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

type atifMetrics struct {
	Steps int `json:"total_steps"`
}

// own is what the product keeps in a field "extra".
type own[T any] struct {
	Value T `json:"ctxweaver"`
}

type atifSession struct {
	Title   string    `json:"title,omitempty"`
	Task    string    `json:"task,omitempty"`
	Format  string    `json:"format,omitempty"`
	Source  string    `json:"source,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"created,omitzero"`
	Updated time.Time `json:"updated,omitzero"`
}

type atifStep struct {
	ID          int              `json:"step_id"`
	Time        string           `json:"timestamp,omitempty"`
	Source      string           `json:"source"`
	Model       string           `json:"model_name,omitempty"`
	Message     string           `json:"message"`
	Reasoning   string           `json:"reasoning_content,omitempty"`
	Calls       []atifCall       `json:"tool_calls,omitempty"`
	Observation *atifObservation `json:"observation,omitempty"`
	Extra       any              `json:"extra,omitempty"`
}

type atifCall struct {
	ID   string `json:"tool_call_id"`
	Name string `json:"function_name"`
	Args any    `json:"arguments"`
}

type atifObservation struct {
	Results []atifResult `json:"results"`
}

type atifResult struct {
	Call string `json:"source_call_id"`
	Text string `json:"content"`
}

type messageMark struct {
	Role       graphstore.Role `json:"role"`
	Images     int             `json:"images,omitempty"`
	Compaction bool            `json:"compaction,omitempty"`
}

// messageStep is a message as a step. All but plain words of a user are marked, so that no reader has
// to guess what they were.
func messageStep(m graphstore.Message) atifStep {
	s := atifStep{Source: "system", Message: m.Text}
	if m.Role == graphstore.User {
		s.Source = "user"
	}
	if m.Text == "" || m != (graphstore.Message{Role: graphstore.User, Text: m.Text}) {
		s.Extra = own[messageMark]{messageMark{m.Role, m.Images, m.Compaction}}
	}
	return s
}

type nodeMark struct {
	Calls []callMark `json:"calls,omitempty"`
	Node  graphNode  `json:"node"`
}

// graphNode is a node without its step, which the ATIF step says.
type graphNode struct {
	graphstore.Node
	Step *struct{} `json:"step,omitempty"` // hides the Node's own
}

type callMark struct {
	ID       *string `json:"id,omitempty"`   // where ATIF's is made up
	Args     *string `json:"args,omitempty"` // where ATIF's object does not say them letter by letter
	Images   int     `json:"images,omitempty"`
	Failed   bool    `json:"failed,omitempty"`
	ExitCode *int    `json:"exit_code,omitempty"`
	Joined   bool    `json:"joined,omitempty"`
}

func nodeStep(n graphstore.Node) atifStep {
	s := atifStep{Source: "agent", Model: n.Step.Model, Message: n.Step.Thought, Reasoning: n.Step.Thinking}
	if !n.Step.Time.IsZero() {
		s.Time = n.Step.Time.Format(time.RFC3339Nano)
	}
	mark := nodeMark{Node: graphNode{Node: n}}
	taken := map[string]bool{}
	for i, c := range n.Step.Calls {
		call, m := exportCall(i, c, taken)
		s.Calls = append(s.Calls, call)
		mark.Calls = append(mark.Calls, m)
		if c.Observation == nil {
			continue
		}
		if s.Observation == nil {
			s.Observation = &atifObservation{}
		}
		s.Observation.Results = append(s.Observation.Results, atifResult{call.ID, c.Observation.Text})
	}
	s.Extra = own[nodeMark]{mark}
	return s
}

// exportCall gives a call what ATIF requires: an id that no other call of the step has, and an
// object for arguments.
func exportCall(i int, c graphstore.Call, taken map[string]bool) (atifCall, callMark) {
	id, args := wellFormed(c.ID), wellFormed(c.Args)
	m := callMark{Joined: c.Joined}
	call := atifCall{ID: id, Name: c.Name, Args: map[string]string{"input": args}}
	if id == "" || taken[id] {
		m.ID = &id
		for n := i; call.ID == "" || taken[call.ID]; n++ {
			call.ID = fmt.Sprintf("call_%d", n)
		}
	}
	taken[call.ID] = true
	if strings.HasPrefix(strings.TrimSpace(args), "{") && json.Valid([]byte(args)) {
		call.Args = json.RawMessage(args)
	}
	if _, object := call.Args.(json.RawMessage); !object || compact(args) != args {
		m.Args = &args
	}
	if o := c.Observation; o != nil {
		m.Images, m.Failed, m.ExitCode = o.Images, o.Failed, o.ExitCode
	}
	return call, m
}

// wellFormed is s as JSON will hold it.
func wellFormed(s string) string { return string([]rune(s)) }
