package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// writer is "writer [finds] [copies]": from now on OLLAMA_HOST is a server whose one model, scribe:2m, writes. One that
// finds chooses the step that has a word of the new one with digits in it, any other none. One that copies sums a step up
// by the beginning of what came of it, any other makes a word up. A token is four bytes. long.json is calc.json with so
// much before it that a controller may ask about all of its steps.
func writer(ts *testscript.TestScript, _ bool, args []string) {
	can := map[string]bool{}
	for _, arg := range args {
		can[arg] = true
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			fmt.Fprint(w, `{"models":[{"name":"scribe:2m","digest":"fedcba9876543210","size":2000}]}`)
		case "/api/show":
			fmt.Fprint(w, `{"details":{"parameter_size":"2M"},"model_info":{"general.architecture":"s","s.context_length":8192},"capabilities":["completion"]}`)
		case "/api/chat":
			var q chatRequest
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			q.answer(w, can["finds"], can["copies"])
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(s.Close)
	long := strings.Replace(ts.ReadFile("calc.json"), "engineer.", "engineer."+strings.Repeat(" Take care.", 8000), 1)
	ts.Check(os.WriteFile(ts.MkAbs("long.json"), []byte(long), 0o644))
	ts.Setenv("OLLAMA_HOST", s.URL)
}

// chatRequest is what is asked of a writer.
type chatRequest struct {
	Messages []struct{ Content string }
	Format   json.RawMessage
	Options  struct {
		Context int `json:"num_ctx"`
	}
}

func (q chatRequest) answer(w http.ResponseWriter, finds, copies bool) {
	tokens, text := 0, "tree"
	for _, m := range q.Messages {
		tokens += len(m.Content) / 4
	}
	if tokens > q.Options.Context {
		http.Error(w, `{"error":"the input length exceeds the context length"}`, http.StatusBadRequest)
		return
	}
	prompt := q.Messages[len(q.Messages)-1].Content
	switch format := string(q.Format); {
	case strings.Contains(format, `"parents"`) && finds:
		text = found(prompt)
	case strings.Contains(format, `"parents"`):
		text = `{"parents":[]}`
	case strings.Contains(format, `"summary"`) && copies:
		text = copied(prompt)
	case strings.Contains(format, `"summary"`):
		text = `{"summary":"It repaired made_up_name."}`
	}
	enc := json.NewEncoder(w)
	enc.Encode(map[string]any{"message": map[string]string{"content": text}})
	enc.Encode(map[string]any{"done": true, "prompt_eval_count": tokens, "eval_count": 9})
}

var withDigits = regexp.MustCompile(`[\w.-]*\d[\w.-]*\w`)

// found is the answer that names the one candidate which has a word of the new step with digits in it, or the first.
func found(prompt string) string {
	past, turn, _ := strings.Cut(prompt, "New step:")
	letter := "A"
	for _, word := range withDigits.FindAllString(turn, -1) {
		var holders []string
		for line := range strings.Lines(past) {
			if label, text, ok := strings.Cut(line, ": "); ok && len(label) == 1 && strings.Contains(text, word) {
				holders = append(holders, label)
			}
		}
		if len(holders) == 1 {
			letter = holders[0]
		}
	}
	return fmt.Sprintf(`{"parents":[{"id":%q,"confidence":0.9,"reason":"it was before"}]}`, letter)
}

// copied is the answer that sums up by what stands after the first mark of a result, or of a step.
func copied(prompt string) string {
	_, text, ok := strings.Cut(prompt, "result: ")
	if !ok {
		_, text, _ = strings.Cut(prompt, "The step:")
	}
	text, _, _ = strings.Cut(text, "\n\n")
	text = "It said: " + strings.Join(strings.Fields(strings.NewReplacer(`"`, "", `\`, "").Replace(text)), " ")
	answer, _ := json.Marshal(map[string]string{"summary": text}) // a map of strings always can be
	return string(answer)
}
