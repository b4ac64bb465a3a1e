package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Window is a woven context: the messages of the next request and an account of what became of
// every step.
type Window struct {
	Session  string   `json:"session"`
	Policy   Policy   `json:"policy"`
	Messages []Prompt `json:"messages"`
	Items    []Item   `json:"items"`
	// Tokens estimates the prompt, in tokens of the engine's encoding: all parts, and a few for the frame
	// of each message. Tool definitions are the client's and not in it.
	Tokens int `json:"tokens"`
	// Full is what Tokens would be if nothing were left out.
	Full int `json:"full"`
	// Epoch tells of the newest page-out; nil under a policy that does not page.
	Epoch *Epoch `json:"epoch,omitempty"`
}

// Epoch is the stretch of requests since the newest page-out, in which the prompt only grows; before the first one,
// since the beginning. Only what is recalled or pinned while there is no new observation to carry it changes a
// message that was sent: that of the newest observation.
type Epoch struct {
	PageOuts     int    `json:"page_outs"`     // that there were, but for those taken back
	After        int    `json:"after"`         // Seq of the step that the newest one followed
	Why          string `json:"why,omitempty"` // it was made; "" before the first
	PagedOut     int    `json:"paged_out"`     // tokens that it freed
	PagedIn      int    `json:"paged_in"`      // tokens paged in since
	Requests     int    `json:"requests"`      // since then, this one included
	Observations int    `json:"observations"`  // since then
	// Strategy is what the newest request went by, and Because says why; "" under a policy that has none.
	Strategy Strategy `json:"strategy,omitempty"`
	Because  string   `json:"because,omitempty"`
}

// parts says what the tokens of a Window are, for people.
func (w *Window) parts() string {
	whole, pinned, marks := 0, 0, 0
	for _, i := range w.Items {
		switch {
		case i.Fate != Whole:
			marks += i.Tokens
		case i.Reason == byPin:
			pinned += i.Tokens
		default:
			whole += i.Tokens
		}
	}
	said := ""
	if pinned > 0 {
		said = fmt.Sprintf("%d in pinned ones, ", pinned)
	}
	return fmt.Sprintf("%d tokens (%d in whole observations, %s%d in what stands for others, %d in messages, thoughts, actions and what is paged in)",
		w.Tokens, whole, said, marks, w.Tokens-whole-pinned-marks)
}

// Prompt is one message of a woven context. As JSON it has the shape of OpenAI's Chat Completions.
type Prompt struct {
	Role     string // "system", "user", "assistant" or "tool"
	Content  string
	Thinking string       // of an assistant; "reasoning_content" in JSON
	Calls    []PromptCall // of an assistant
	CallID   string       // of a tool: the call it answers
	Tokens   int          // what it costs, a few for its frame included; not in the JSON
}

// Equal reports whether the two are the same message to a model, whatever they cost.
func (p Prompt) Equal(q Prompt) bool {
	return p.Role == q.Role && p.Content == q.Content && p.Thinking == q.Thinking && p.CallID == q.CallID && slices.Equal(p.Calls, q.Calls)
}

// PromptCall is a tool call in a Prompt.
type PromptCall struct {
	ID, Name, Args string
}

// MarshalJSON writes the message in the shape of Chat Completions.
func (p Prompt) MarshalJSON() ([]byte, error) {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	out := struct {
		Role     string `json:"role"`
		Content  string `json:"content"`
		Thinking string `json:"reasoning_content,omitempty"`
		Calls    []call `json:"tool_calls,omitempty"`
		CallID   string `json:"tool_call_id,omitempty"`
	}{Role: p.Role, Content: p.Content, Thinking: p.Thinking, CallID: p.CallID}
	for _, c := range p.Calls {
		out.Calls = append(out.Calls, call{c.ID, "function", function{c.Name, c.Args}})
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a model reads "<", not "\u003c"
	if err := e.Encode(out); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// Fate is what became of an observation in a Window.
type Fate string

const (
	Whole   Fate = "whole"   // byte for byte
	Omitted Fate = "omitted" // a placeholder stands for it
	Waiting Fate = "waiting" // the call is not answered yet
	Said    Fate = "said"    // a step without calls: its thought, kept but by a running summary

	Summarised Fate = "summarised" // left out with all that its step said; a running summary stands for it
)

// Item says what became of one observation, and why. A step without calls has one Item.
type Item struct {
	Node   NodeID `json:"node"`
	Seq    int    `json:"seq"`
	Call   int    `json:"call"` // index in the step's calls; -1 for a step without
	Handle Handle `json:"handle,omitempty"`
	Fate   Fate   `json:"fate"`
	Reason string `json:"reason"`
	Tokens int    `json:"tokens"`       // that it costs in this Window
	Full   int    `json:"full"`         // that it would cost whole
	Lines  int    `json:"lines"`        // of the whole observation
	In     []Part `json:"in,omitempty"` // what is paged in of an omitted one
}

// Part is a stretch of an observation that is paged in behind a newer one.
type Part struct {
	Seq      int `json:"seq"`       // of the step whose message carries it
	FromLine int `json:"from_line"` // from 1
	ToLine   int `json:"to_line"`
	Tokens   int `json:"tokens"`
}

// Handle names an observation, so that it can be recalled: the first digits of its node's id, a dot,
// and the call's number in its step, from 1.
type Handle string

const handleDigits = 10

// NewHandle names the observation of a node's call, an index from 0.
func NewHandle(id NodeID, call int) Handle {
	return Handle(string(id[:min(handleDigits, len(id))]) + "." + strconv.Itoa(call+1))
}

// parse gives the digits and the call's index. A handle without a number means the whole step: call
// is -1.
func (h Handle) parse() (prefix string, call int, err error) {
	prefix, number, found := strings.Cut(strings.TrimSpace(string(h)), ".")
	call = -1
	if found {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return "", 0, fmt.Errorf("handle %q: want digits of a step's id and a call's number, such as 3fa9c2d1b0.1", h)
		}
		call = n - 1
	}
	if len(prefix) < 4 || strings.Trim(prefix, "0123456789abcdef") != "" {
		return "", 0, fmt.Errorf("handle %q: want at least 4 digits (0-9, a-f) of a step's id, such as 3fa9c2d1b0.1", h)
	}
	return prefix, call, nil
}
