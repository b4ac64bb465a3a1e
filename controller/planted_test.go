package controller

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const plantedSeed = 7

func TestRulesFindWhatIsPlanted(t *testing.T) {
	for i, c := range Planted(plantedSeed, 1000) {
		answer, err := Rules{}.Select(context.Background(), c.Question)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Found(answer, 1) {
			t.Errorf("seed %d, case %d: rules choose %+v first, not %s, which printed %s", plantedSeed, i, answer.Choices[0], c.Want, c.ID)
		}
	}
}

// What makes a case fair: the id can be seen, in one place, and nothing else gives the step away.
func TestPlanted(t *testing.T) {
	newest, oldest, n := 0, 0, 1000
	for i, c := range Planted(plantedSeed, n) {
		q := c.Question
		var holders, similar []string
		for _, p := range q.Candidates {
			if strings.Contains(p.Summary, c.ID) {
				holders = append(holders, p.ID)
			}
		}
		if !slices.Equal(holders, []string{c.Want}) {
			t.Errorf("seed %d, case %d: %s stands in the summaries of %v, not of %s alone", plantedSeed, i, c.ID, holders, c.Want)
		}
		for at, turn := range c.Turns {
			if o := turn.Calls[0].Observation; strings.Contains(o, c.ID) != (turn.ID == c.Want) || strings.Contains(turn.Thought+turn.Calls[0].Args, c.ID) {
				t.Errorf("seed %d, case %d: turn %d: %q", plantedSeed, i, at, o)
			}
			if turn.Calls[0].Name == c.wanted().Calls[0].Name && turn.Seq > c.wanted().Seq {
				similar = append(similar, turn.ID)
			}
			if placeholder.MatchString(turn.Thought + turn.Calls[0].Args + turn.Calls[0].Observation) {
				t.Errorf("a placeholder is left: %+v", turn)
			}
		}
		if len(similar) < 2 {
			t.Errorf("seed %d, case %d: only %d newer steps do the same", plantedSeed, i, len(similar))
		}
		if !strings.Contains(q.Turn.Calls[0].Args, c.ID) || len(q.Candidates) != len(c.Turns) {
			t.Errorf("seed %d, case %d: %q is asked of %d candidates", plantedSeed, i, q.Turn.Calls[0].Args, len(q.Candidates))
		}
		if q.Candidates[0].ID == c.Want {
			newest++
		}
		if q.Candidates[len(q.Candidates)-1].ID == c.Want {
			oldest++
		}
	}
	if newest > 0 || oldest > n*2/5 {
		t.Errorf("the newest candidate is right %d times, the oldest %d times of %d", newest, oldest, n)
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func (c PlantedCase) wanted() Turn {
	return c.Turns[slices.IndexFunc(c.Turns, func(t Turn) bool { return t.ID == c.Want })]
}

func TestPlantedTwice(t *testing.T) {
	a, b := Planted(plantedSeed, 20), Planted(plantedSeed, 20)
	for i := range a {
		a[i].Question.Trace, b[i].Question.Trace = nil, nil // differ in how they hash
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("the same seed makes other cases:\n%s", d)
	}
	if c := Planted(plantedSeed+1, 1); c[0].Want == a[0].Want {
		t.Error("another seed makes the same case")
	}
}
