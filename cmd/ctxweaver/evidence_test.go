package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

func seen(text string) *engine.Observation { return &engine.Observation{Text: text} }

func user(text string) []engine.Message { return []engine.Message{{Role: "user", Text: text}} }

func TestDemands(t *testing.T) {
	for _, test := range []struct {
		reason string
		steps  []engine.Step
		want   [][]string
	}{
		{"a specific word from an earlier observation", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("max_rate in fees.go")}}},
			{Calls: []engine.Call{{Args: "grep max_rate fees.go"}}},
		}, [][]string{nil, {"fees.go", "max_rate"}}},
		{"plain words are not specific", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("hello world")}}},
			{Calls: []engine.Call{{Args: "echo hello world"}}},
		}, [][]string{nil, nil}},
		{"what the user said is always in sight, also if it comes later", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Calls: []engine.Call{{Args: "cat fees.go"}}},
			{Before: user("So fees.go it was."), Calls: []engine.Call{{Args: "ls"}}},
		}, [][]string{nil, nil, nil}},
		{"so is what the agent thought or did before", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go max_rate")}}},
			{Thought: "I see max_rate.", Calls: []engine.Call{{Args: "cat fees.go"}}},
			{Calls: []engine.Call{{Args: "cat fees.go max_rate"}}},
		}, [][]string{nil, {"fees.go"}, nil}},
		{"what it thinks in the same turn comes from somewhere too", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go")}}},
			{Thought: "I want fees.go.", Calls: []engine.Call{{Args: "cat fees.go"}}},
		}, [][]string{nil, {"fees.go"}}},
		{"a whole line counts, wherever it is escaped", []engine.Step{
			{Calls: []engine.Call{{Args: "cat", Observation: seen("  if total < 0 {\n")}}},
			{Calls: []engine.Call{{Args: `{"old": "x\n  if total < 0 {\n"}`}}},
		}, [][]string{nil, {"if total < 0 {"}}},
		{"calls that are answered together count once, with the words of all", []engine.Step{
			{Calls: []engine.Call{{Args: "ls", Observation: seen("fees.go rates.go")}}},
			{Calls: []engine.Call{{Args: "cat fees.go", Joined: true}, {Args: "cat rates.go", Observation: seen("")}}},
		}, [][]string{nil, {"fees.go", "rates.go"}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if diff := cmp.Diff(test.want, demands(test.steps)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	context := []engine.Prompt{{Content: "fees.go"}, {Calls: []engine.PromptCall{{Args: `"a\nmax_rate"`}}}}
	if diff := cmp.Diff([]string{"rates.go"}, missing([]string{"fees.go", "max_rate", "rates.go"}, context)); diff != "" {
		t.Error(diff)
	}
}
