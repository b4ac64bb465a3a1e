package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxweaver/ctxweaver/engine"
)

// TestContexts writes contexts of which each keeps, changes, loses or gains messages of the one before, and
// compares with what encoding/json makes of each alone.
func TestContexts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var got, want bytes.Buffer
	lines := contexts{out: bufio.NewWriter(&got)}
	plain := json.NewEncoder(&want)
	plain.SetEscapeHTML(false)
	messages := []engine.Prompt{}
	for call := range 50 {
		if err := lines.write(call, messages); err != nil {
			t.Fatal(err)
		}
		line := struct {
			Step     int             `json:"step"`
			Messages []engine.Prompt `json:"messages"`
		}{call, messages}
		if err := plain.Encode(line); err != nil {
			t.Fatal(err)
		}
		next := append([]engine.Prompt{}, messages[:len(messages)-r.IntN(min(2, len(messages)+1))]...)
		for range r.IntN(3) {
			next = append(next, engine.Prompt{Role: "assistant", Content: fmt.Sprint("<", r.IntN(9), "> & \u2028"), Calls: []engine.PromptCall{{ID: "c", Args: fmt.Sprint(r.IntN(3))}}})
		}
		if len(next) > 0 && r.IntN(2) == 0 {
			next[r.IntN(len(next))].Calls = nil
		}
		messages = next
	}
	if err := lines.out.Flush(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Error(diff)
	}
}
