package controller

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
)

// likes answers with one token, likelier or less by what is asked.
func likes(of func(prompt string) map[string]float64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		json.Unmarshal(bodyOf(r), &in)
		var top []string
		for token, p := range of(in.Messages[1].Content) {
			top = append(top, fmt.Sprintf(`{"token":%q,"logprob":%v}`, token, math.Log(p)))
		}
		fmt.Fprintf(w, `{"message":{"content":"x"},"logprobs":[{"token":"x","logprob":-1,"top_logprobs":[%s]}],"done":true}`, strings.Join(top, ","))
	}
}

func TestLetters(t *testing.T) {
	f := &fake{t: t, chat: likes(func(prompt string) map[string]float64 {
		if strings.Contains(prompt, "\nN/A\n") {
			return map[string]float64{"A": 0.4, " A": 0.2, "B": 0.1, "C": 0.1, "the": 0.01} // it likes the first
		}
		return map[string]float64{"A": 0.4, "B": 0.2, " B": 0.1, "C": 0.1, "b": 0.1, "the": 0.01}
	})}
	o := f.client(OllamaOptions{Ask: AskScores})
	q := three()
	q.Candidates = append([]Past{{ID: "d", Summary: "ran ls"}}, q.Candidates...)
	for range 2 {
		a, err := o.Select(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		checkChoices(t, a, q.Candidates)
		// A 0.4/0.6, B 0.3/0.1, C 0.1/0.1 and D, which is not among them, 0.01/0.01
		sum := 0.4/0.6 + 0.3/0.1 + 1 + 1
		if len(a.Choices) != 1 || a.Choices[0].ID != "b" || math.Abs(a.Choices[0].Score-3/sum) > 1e-9 {
			t.Errorf("what the question makes likelier, and nothing that is likely anyway: %+v", a.Choices)
		}
	}
	if n := f.chats.Load(); n != 3 {
		t.Errorf("%d requests: what the model likes by itself is asked once", n)
	}
}

func TestPairs(t *testing.T) {
	f := &fake{t: t, chat: likes(func(prompt string) map[string]float64 {
		switch {
		case strings.Contains(prompt, "\nN/A\n"):
			return map[string]float64{"Yes": 0.5, "yes": 0.3, "No": 0.1, "no": 0.1}
		case strings.Contains(prompt, "parse_header"):
			return map[string]float64{"Yes": 0.9, "No": 0.1}
		}
		return map[string]float64{"Yes": 0.6, "No": 0.4}
	})}
	q := three()
	a, err := f.client(OllamaOptions{Ask: AskScores}).Select(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	checkChoices(t, a, q.Candidates)
	yes, no := 0.9/0.8, 0.1/0.2
	if len(a.Choices) != 1 || a.Choices[0].ID != "b" || math.Abs(a.Choices[0].Score-yes/(yes+no)) > 1e-9 || a.Origin.Prompt != yesNoPrompt.hash {
		t.Errorf("a model that likes to say yes has said so of one only: %+v", a)
	}
}
