package graphstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Role says who speaks in a Message.
type Role string

const (
	System Role = "system" // the harness: system and developer messages
	User   Role = "user"   // the person, or whoever plays that part
	// Orphan marks a tool result whose call is nowhere in the trace, as happens after a
	// compaction or a resume. It is kept where it stood, and belongs to no step's calls.
	Orphan Role = "orphan"
)

// Message is what came before a turn of the model and is not an answer to one of its calls.
type Message struct {
	Role   Role   `json:"role"`
	Text   string `json:"text"`
	Images int    `json:"images,omitempty"` // pictures left out of Text
	// Compaction marks the summary by which a harness replaced its own history. Nothing was
	// really lost from the trace, so weaving and replay leave such a message out.
	Compaction bool `json:"compaction,omitempty"`
}

// Observation answers one Call.
type Observation struct {
	Text     string `json:"text"`
	Images   int    `json:"images,omitempty"`    // pictures left out of Text
	Failed   bool   `json:"failed,omitempty"`    // the harness itself flagged an error (is_error, status, success: false)
	ExitCode *int   `json:"exit_code,omitempty"` // nil: the trace has none
}

// Call is one tool call of a turn.
type Call struct {
	ID   string `json:"id,omitempty"` // the client's; unique within a turn at best
	Name string `json:"name"`         // the tool; empty where the trace has only free text
	Args string `json:"args"`         // JSON, or free text as the model wrote it
	// Observation is nil while the call is open, and for ever if it was never answered.
	Observation *Observation `json:"observation,omitempty"`
	// Joined marks a call whose answer the harness folded into the observation of the turn's
	// last call. It is answered, though its own Observation is nil.
	Joined bool `json:"joined,omitempty"`
}

// Open reports whether the call still waits for its observation.
func (c Call) Open() bool { return c.Observation == nil && !c.Joined }

// Step is one turn of the model: what came Before it, what it thought and said, and its Calls,
// each with the Observation that answered it. The paper's T, A and O (§3) are Thought, Calls and
// their observations. The zero Step is valid and says nothing; a trace that ends with messages
// no model answered ends in a Step that has only Before.
type Step struct {
	Before   []Message `json:"before,omitempty"`
	Thinking string    `json:"thinking,omitempty"` // hidden reasoning, which clients strip and providers sign
	Thought  string    `json:"thought,omitempty"`  // what the model said in the open
	Calls    []Call    `json:"calls,omitempty"`
	Model    string    `json:"model,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	// Raw is the turn as the client sent it, for replaying it unchanged. It may be nil.
	Raw []byte `json:"raw,omitempty"`
}

// Answered counts the observations of the step, which is what policies count: a turn with three has three.
func (s Step) Answered() int {
	n := 0
	for _, c := range s.Calls {
		if c.Observation != nil {
			n++
		}
	}
	return n
}

// Counted counts the calls of the step, each on its own; those that one joint observation answers
// count once, since the trace cannot tell them apart.
func (s Step) Counted() int {
	n := 0
	for _, c := range s.Calls {
		if !c.Joined {
			n++
		}
	}
	return n
}

// NodeID names a Node: 32 lower-case hexadecimal digits, or "" for none.
type NodeID string

// Root is where a session's first node hangs: the hash of the session's name.
func Root(session string) NodeID {
	h := sha256.New()
	hashParts(h, "session", session)
	return id(h.Sum(nil))
}

// Identify names the step that follows previous. Hashed is what the model and the user said: user
// messages, the thought, and the calls as name and canonical arguments. Not hashed is what clients
// change behind the model's back: observations (shortened later), thinking (stripped), call ids
// (made anew) and system text (it rotates). So a history sent again keeps its names, and an edited
// one becomes a branch.
func Identify(previous NodeID, s Step) NodeID {
	h := sha256.New()
	hashParts(h, "previous", string(previous))
	for _, m := range s.Before {
		if m.Role == User && !m.Compaction {
			hashParts(h, "user", m.Text)
		}
	}
	hashParts(h, "thought", s.Thought)
	for _, c := range s.Calls {
		hashParts(h, "call", c.Name, canonical(c.Args))
	}
	return id(h.Sum(nil))
}

func id(sum []byte) NodeID { return NodeID(hex.EncodeToString(sum[:rawIDSize])) }

// hashParts writes the parts so that no two different lists of parts write the same bytes, whatever bytes
// they hold.
func hashParts(w io.Writer, parts ...string) {
	fmt.Fprintf(w, "%d\n", len(parts)) // a hash never fails to write
	for _, p := range parts {
		fmt.Fprintf(w, "%d:%s\n", len(p), p)
	}
}

// canonical makes equal arguments equal text: JSON with sorted keys and no white space. What is
// not JSON stays as it is, but for white space around it; so does JSON that is not UTF-8, of which
// the decoder would make something else.
func canonical(args string) string {
	args = strings.TrimSpace(args)
	if !utf8.ValidString(args) {
		return args
	}
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	if _, err := d.Token(); err != io.EOF {
		return args
	}
	b, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return string(b)
}

// Clone copies the step so that neither copy's slices or observations are the other's.
func (s Step) Clone() Step {
	s.Before = slices.Clone(s.Before)
	s.Raw = slices.Clone(s.Raw)
	s.Calls = slices.Clone(s.Calls)
	for i, c := range s.Calls {
		if c.Observation != nil {
			o := *c.Observation
			if o.ExitCode != nil {
				e := *o.ExitCode
				o.ExitCode = &e
			}
			s.Calls[i].Observation = &o
		}
	}
	return s
}
