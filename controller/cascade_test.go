package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ctxweaver/ctxweaver/controller"
)

// counting is a model that is asked, and what it costs.
type counting struct {
	asked  int
	tokens int
	err    error
}

func (c *counting) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	c.asked++
	return controller.Answer{By: "m", Origin: controller.Origin{In: c.tokens}, Choices: []controller.Choice{{ID: q.Candidates[0].ID, Kind: controller.ModelLink, Score: 1}}}, c.err
}

func (c *counting) Summarize(context.Context, controller.SummaryQuestion) (controller.Summary, error) {
	c.asked++
	return controller.Summary{Step: "s", Dependency: "d", By: "m", Origin: controller.Origin{In: c.tokens}}, c.err
}

func TestCascadeAsksWhatRulesLeaveOpen(t *testing.T) {
	link := func(kind controller.LinkKind, score float64) controller.Choice {
		return controller.Choice{ID: fmt.Sprint(kind, score), Kind: kind, Score: score}
	}
	for _, tt := range []struct {
		reason string
		found  []controller.Choice
		low    float64
		want   bool
	}{
		{"nothing was found", nil, 0, true},
		{"only the step before, as a guess", []controller.Choice{link(controller.PreviousLink, 0.01)}, 0, true},
		{"a word flowed: a fact", []controller.Choice{link(controller.LiteralLink, 0.6)}, 0, false},
		{"a weak fact", []controller.Choice{link(controller.LiteralLink, 0.05)}, 0, true},
		{"a weak fact, where none is too weak", []controller.Choice{link(controller.LiteralLink, 0.05)}, -1, false},
		{"a fact below one's own bound", []controller.Choice{link(controller.LiteralLink, 0.6)}, 0.7, true},
		{"a tie at the top", []controller.Choice{link(controller.FileLink, 0.6), link(controller.EditLink, 0.6)}, 0, true},
		{"a tie further down", []controller.Choice{link(controller.FileLink, 0.7), link(controller.EditLink, 0.6), link(controller.TestLink, 0.6)}, 0, false},
	} {
		m := &counting{}
		c := &controller.Cascade{Chooser: m, Low: tt.low, Name: "m/chat"}
		if c.Wants(tt.found) != tt.want {
			t.Errorf("%s: wants %v", tt.reason, !tt.want)
		}
		a, err := c.Select(context.Background(), controller.Question{Found: tt.found, Candidates: []controller.Past{{ID: "x"}}})
		if err != nil || (m.asked == 1) != tt.want || (a.By == "m/chat") != tt.want || (len(a.Choices) == 1) != tt.want {
			t.Errorf("%s: asked %d times, answer %+v, %v", tt.reason, m.asked, a, err)
		}
	}
	m := &counting{}
	c := &controller.Cascade{Chooser: m}
	if a, err := c.Select(context.Background(), controller.Question{}); err != nil || a.By != "" || m.asked > 0 {
		t.Errorf("without candidates: %+v, %v", a, err)
	}
	c = &controller.Cascade{}
	if a, err := c.Select(context.Background(), controller.Question{Candidates: []controller.Past{{ID: "x"}}}); err != nil || a.By != "" {
		t.Errorf("without a model: %+v, %v", a, err)
	}
}

func TestCascadeKeepsItsBounds(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		reason string
		c      *controller.Cascade
		cost   int // tokens a question
		want   int // questions in 100 open steps of 100 tokens
	}{
		{"a quarter of the steps", &controller.Cascade{}, 0, 25},
		{"a share of one's own", &controller.Cascade{Share: 0.1}, 0, 10},
		{"all of them", &controller.Cascade{Share: 1}, 0, 100},
		{"half of the agent's own tokens", &controller.Cascade{Share: 1}, 500, 10},
		{"dear questions, of which the first is always allowed", &controller.Cascade{Share: 1}, 1 << 20, 1},
		{"tokens of one's own", &controller.Cascade{Share: 1, Tokens: 2}, 1000, 20},
	} {
		for _, fails := range []error{nil, errors.New("500")} {
			m := &counting{tokens: tt.cost, err: fails}
			c := &controller.Cascade{Chooser: m, Writer: m, Share: tt.c.Share, Tokens: tt.c.Tokens}
			for _, session := range []string{"a", "b"} {
				m.asked = 0
				for i := range 100 {
					_, err := c.Select(ctx, controller.Question{Session: session, Turn: controller.Turn{Seq: i}, Tokens: 100 * (i + 1), Candidates: []controller.Past{{ID: "x"}}})
					if err != nil && fails == nil {
						t.Fatal(err)
					}
				}
				if m.asked != tt.want {
					t.Errorf("%s, session %s, %v: asked %d times, want %d", tt.reason, session, fails, m.asked, tt.want)
				}
			}
		}
	}
	m := &counting{tokens: 300}
	c := &controller.Cascade{Writer: m}
	by := map[string]int{}
	for i := range 100 {
		s, err := c.Summarize(ctx, controller.SummaryQuestion{Session: "a", Tokens: 100 * (i + 1), Turn: controller.Turn{Thought: "I looked"}})
		if err != nil || s.Step == "" {
			t.Fatalf("%+v, %v", s, err)
		}
		by[s.By]++
	}
	if by["m"] != 17 || by["rules"] != 83 {
		t.Errorf("summaries by %v: want the model until it has had half of the session's tokens, then rules", by)
	}
}

// Summaries, which are asked for at each step, leave half of the tokens to parents.
func TestCascadeLeavesTokensToParents(t *testing.T) {
	m, w := &counting{tokens: 100}, &counting{tokens: 100}
	c := &controller.Cascade{Chooser: m, Writer: w}
	for i := range 100 {
		if _, err := c.Summarize(context.Background(), controller.SummaryQuestion{Session: "a", Tokens: 100 * (i + 1), Turn: controller.Turn{Thought: "I looked"}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		if _, err := c.Select(context.Background(), controller.Question{Session: "a", Turn: controller.Turn{Seq: 99}, Tokens: 100 * 100, Candidates: []controller.Past{{ID: "x"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if w.asked != 25 || m.asked != 25 {
		t.Errorf("asked for %d summaries and for parents %d times, want 25 and 25", w.asked, m.asked)
	}
}

// What was said before counts, by whom it was said, and no more than once.
func TestCascadeRecalls(t *testing.T) {
	said := []controller.Answer{
		{By: "m/chat", Origin: controller.Origin{In: 30, Out: 10, Prompt: "p"}},
		{By: "m/chat", Origin: controller.Origin{In: 30, Out: 10}}, // as of vectors
		{By: "other", Origin: controller.Origin{In: 1000, Prompt: "p"}},
	}
	for _, tt := range []struct {
		reason string
		name   string
		asked  int // of 10 steps, one in two may be
		tokens int // of a session of so many, half may be spent
	}{
		{"its own", "m/chat", 3, 10000},
		{"everybody's, where it has no name", "", 2, 10000},
		{"nothing of another's", "new", 5, 10000},
		{"its own tokens", "m/chat", 0, 160},
		{"its own tokens, and some are left", "m/chat", 3, 200},
	} {
		m := &counting{}
		c := &controller.Cascade{Chooser: m, Name: tt.name, Share: 0.5}
		if c.Knows("a") {
			t.Errorf("%s: it was told before", tt.reason)
		}
		for range 2 {
			c.Recall("a", said)
		}
		for range 10 {
			if _, err := c.Select(context.Background(), controller.Question{Session: "a", Turn: controller.Turn{Seq: 9}, Tokens: tt.tokens, Candidates: []controller.Past{{ID: "x"}}}); err != nil {
				t.Fatal(err)
			}
		}
		if m.asked != tt.asked || !c.Knows("a") || c.Knows("b") {
			t.Errorf("%s: asked %d times, want %d", tt.reason, m.asked, tt.asked)
		}
	}
}
