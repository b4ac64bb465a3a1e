package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// An agent keeps each of its turns and asks for the context of the next request.
func Example() {
	ctx := context.Background()
	e, err := engine.Open("", &engine.Options{InMemory: true}) // Open(dir, nil) keeps it on disk
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	s := e.Session("fix-login")

	turn := func(thought, command, output string, before ...engine.Message) {
		_, err := s.Append(ctx, engine.Step{Before: before, Thought: thought, Calls: []engine.Call{
			{Name: "bash", Args: command, Observation: &engine.Observation{Text: output}},
		}})
		if err != nil {
			log.Fatal(err)
		}
	}
	turn("I look around.", "ls auth", "auth/login.go\nauth/token.go", engine.Message{Role: graphstore.User, Text: "login fails, fix it"})
	turn("What tests fail?", "go test ./auth", "--- FAIL: TestLogin (0.00s)\n    login_test.go:9: token expired\nFAIL\tauth\t0.01s")
	turn("I read the code.", "cat auth/token.go", "const maxAge = 3600 // seconds\n")
	turn("Milliseconds, it should be.", "sed -i s/3600/3600000/ auth/token.go", "")

	policy, err := engine.ParsePolicy("paper:3/2")
	if err != nil {
		log.Fatal(err)
	}
	w, err := s.Weave(ctx, engine.Request{Policy: policy})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range w.Items {
		fmt.Printf("step %d: %s, %s\n", item.Seq, item.Fate, item.Reason)
	}
	// Output:
	// step 0: whole, step 3 rests on it: uses auth/token.go from its output
	// step 1: omitted, not among the 2 nearest ancestors of the current step
	// step 2: whole, step 3 rests on it: looked at auth/token.go, which this step edits
	// step 3: whole, the current step
}
