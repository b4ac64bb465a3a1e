package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostChoices is m, the most parents that a model chooses (§3.2).
const mostChoices = 3

// byChat has the model write its choices.
func (o *Ollama) byChat(ctx context.Context, m Model, q Question, a *Answer) error {
	if err := o.fit(ctx, m); err != nil {
		return err
	}
	f, past := o.offered(q, m)
	messages, err := parentsPrompt.messages(f)
	if err != nil {
		return err
	}
	a.Origin.Prompt = parentsPrompt.hash
	return o.ask(ctx, m, request{messages: messages, schema: choiceSchema(len(past)), predict: mostWritten}, &a.Origin, func(answer string) (err error) {
		a.Choices, err = choices(answer, past)
		known := sources(q.told()...)
		for i := range a.Choices {
			a.Choices[i].Reason = reason(a.Choices[i].Reason, known)
		}
		return err
	})
}

// choiceSchema allows the letters of n candidates and nothing else.
func choiceSchema(n int) json.RawMessage {
	ids, _ := json.Marshal(strings.Split(labels[:n], "")) // strings always can
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"parents":{"type":"array","maxItems":%d,"items":{"type":"object","properties":{"id":{"type":"string","enum":%s},"confidence":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string","maxLength":160}},"required":["id","confidence","reason"]}}},"required":["parents"]}`, mostChoices, ids))
}

// choices reads a model's answer: of the candidates only, each once, at most mostChoices, by falling score.
// The error says what is wrong, to the model.
func choices(answer string, past []Past) ([]Choice, error) {
	var written struct {
		Parents *[]struct {
			ID         string   `json:"id"`
			Confidence *float64 `json:"confidence"`
			Reason     string   `json:"reason"`
		} `json:"parents"`
	}
	if err := decode(answer, &written); err != nil {
		return nil, err
	}
	if written.Parents == nil {
		return nil, errors.New("parents are missing")
	}
	if n := len(*written.Parents); n > mostChoices {
		return nil, fmt.Errorf("%d parents are given, at most %d are wanted", n, mostChoices)
	}
	var out []Choice
	for _, p := range *written.Parents {
		at := strings.Index(labels[:len(past)], p.ID)
		switch {
		case len(p.ID) != 1 || at < 0:
			return nil, fmt.Errorf("%q is none of the letters %s", clipped(p.ID, 20), labels[:len(past)])
		case slices.ContainsFunc(out, func(c Choice) bool { return c.ID == past[at].ID }):
			return nil, fmt.Errorf("%s is chosen twice", p.ID)
		case p.Confidence == nil || !(*p.Confidence >= 0 && *p.Confidence <= 1):
			return nil, fmt.Errorf("the confidence of %s is not from 0 to 1", p.ID)
		}
		out = append(out, Choice{ID: past[at].ID, Kind: ModelLink, Score: *p.Confidence, Reason: p.Reason})
	}
	return best(out), nil
}

// best sorts choices, given with the newest last, by falling score, then newest first.
func best(list []Choice) []Choice {
	slices.SortStableFunc(list, func(a, b Choice) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return list
}

// reason is a model's reason, as far as it says nothing that it was not told.
func reason(text string, known vocabulary) string {
	text = clip(plainText(known.honest(seen(text))), reasonWords)
	if text == "" || len(known.invented(text)) > 0 {
		return unexplained
	}
	return text
}

const (
	reasonWords = 24
	unexplained = "the model chose it"
)

// told is all the text that a reason may take words from: not what the prompt was filled with, where words may
// have been cut.
func (q Question) told() []string {
	out := append([]string{q.Turn.Task, q.Turn.Thought}, q.Turn.User...)
	for _, c := range q.Turn.Calls {
		out = append(out, c.Name, c.Args)
	}
	for _, p := range q.Candidates {
		out = append(out, p.Summary)
	}
	return out
}
