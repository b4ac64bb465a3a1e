package importer

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// openHandsSDKFormat is the events of OpenHands' agent SDK, in Python or TypeScript: a line or an
// element of a list each.
var openHandsSDKFormat = format{
	name: "openhands-sdk-events",
	detect: func(_ string, head []byte) float64 {
		for _, e := range records(head, 20) {
			switch e.Get("kind").Str {
			case "SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "ConversationStateUpdateEvent":
				return 0.95
			}
		}
		return 0
	},
	parse: parseOpenHandsSDK,
}

func parseOpenHandsSDK(data []byte) ([]*Trajectory, error) {
	rows, broken, err := jsonRows(data)
	if err != nil {
		return nil, err
	}
	e := &sdkEvents{thread: newThread(), calls: map[string]string{}}
	e.t.Agent = "OpenHands"
	e.t.Notes.Broken = broken
	for _, r := range rows {
		e.add(r)
	}
	return []*Trajectory{e.done()}, nil
}

type sdkEvents struct {
	*thread
	response string            // id of the model's answer that the turn is
	calls    map[string]string // from an action event's id to its call's
}

func (e *sdkEvents) add(v gjson.Result) {
	kind := v.Get("kind").Str
	if kind == "" {
		kind = v.Get("type").Str
	}
	switch kind {
	case "SystemPromptEvent":
		e.message(said(graphstore.System, v.Get("system_prompt")))
	case "MessageEvent":
		e.spoke(v)
	case "ActionEvent":
		e.acted(v)
	case "ObservationEvent":
		e.observed(v)
	case "AgentErrorEvent", "UserRejectObservation":
		o := graphstore.Observation{Text: joinText(plain(v.Get("error")), plain(v.Get("rejection_reason"))), Failed: true}
		e.result(e.callID(v), o)
	case "Condensation":
		text := plain(v.Get("summary"))
		if text == "" {
			text = "forgotten: " + plain(v.Get("forgotten_event_ids"))
		}
		e.message(graphstore.Message{Role: graphstore.System, Text: text, Compaction: true})
	}
}

func (e *sdkEvents) spoke(v gjson.Result) {
	m := v.Get("llm_message")
	if v.Get("source").Str != "agent" && m.Get("role").Str != "assistant" {
		e.message(said(graphstore.User, m.Get("content")))
		return
	}
	s := e.turn()
	s.Time = stamp(v.Get("timestamp"))
	s.Thinking, s.Thought = e.spoken(m)
	e.response = ""
}

func (e *sdkEvents) acted(v gjson.Result) {
	answer := plain(v.Get("llm_response_id"))
	if !e.open || answer == "" || answer != e.response {
		s := e.turn()
		s.Time = stamp(v.Get("timestamp"))
		e.response = answer
	}
	s := e.step()
	c := readContent(v.Get("thought"))
	before, thought := cutThinking(c.text)
	for _, more := range []string{hidden(v), readContent(v.Get("thinking_blocks")).thinking, before} {
		if !strings.Contains(s.Thinking, strings.TrimSpace(more)) {
			s.Thinking = joinText(s.Thinking, more)
		}
	}
	if !strings.Contains(s.Thought, thought) {
		s.Thought = joinText(s.Thought, thought)
	}
	id := plain(v.Get("tool_call_id"))
	if id == "" {
		id = plain(v.Get("id"))
	}
	e.calls[plain(v.Get("id"))] = id
	e.call(id, plain(v.Get("tool_name")), sdkArgs(v))
}

// sdkArgs are the arguments as the model wrote them, or as they were understood.
func sdkArgs(v gjson.Result) string {
	for _, path := range []string{"tool_call.function.arguments", "tool_call.arguments", "action"} {
		if args := plain(v.Get(path)); args != "" {
			return args
		}
	}
	return ""
}

// callID is the call that an event answers.
func (e *sdkEvents) callID(v gjson.Result) string {
	id := plain(v.Get("tool_call_id"))
	if _, ok := e.byID[id]; ok {
		return id
	}
	if byAction, ok := e.calls[plain(v.Get("action_id"))]; ok {
		return byAction
	}
	if id == "" { // without an id it answers nothing
		id = "?"
	}
	return id
}

func (e *sdkEvents) observed(v gjson.Result) {
	raw := v.Get("observation")
	o := sdkText(raw)
	o.Failed = raw.Get("is_error").Bool() || raw.Get("timeout").Type == gjson.True
	for _, path := range []string{"exit_code", "metadata.exit_code"} {
		if code := exitCode(raw.Get(path)); code != nil {
			if *code >= 0 { // -1: still running
				o.ExitCode = code
			}
			break
		}
	}
	e.result(e.callID(v), o)
}

// sdkText is what an observation shows: blocks in Python's, streams or the whole object in
// TypeScript's.
func sdkText(v gjson.Result) graphstore.Observation {
	switch {
	case v.Type == gjson.String:
		return graphstore.Observation{Text: v.Str}
	case v.Get("content").Exists() && v.Get("content").Type != gjson.Null:
		return observed(v.Get("content"))
	case v.Get("stdout").Exists() || v.Get("stderr").Exists():
		return graphstore.Observation{Text: plain(v.Get("stdout")) + plain(v.Get("stderr"))}
	case v.Get("output").Type == gjson.String:
		return graphstore.Observation{Text: v.Get("output").Str}
	}
	return graphstore.Observation{Text: plain(v)}
}
