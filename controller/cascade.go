package controller

import (
	"cmp"
	"context"
	"sync"
)

// Bounds of a Cascade whose fields are zero.
const (
	lowScore   = 0.1
	askedShare = 0.25
	tokenShare = 0.5
)

// Cascade asks a model only for what rules leave open, and no more often than its bounds allow. The zero
// value asks nothing; with Chooser or Writer set it is ready. It is safe for concurrent use.
type Cascade struct {
	// Chooser chooses parents where rules do not decide; nil leaves that to rules.
	Chooser interface {
		Select(context.Context, Question) (Answer, error)
	}
	// Writer sums up steps; nil leaves that to rules.
	Writer interface {
		Summarize(context.Context, SummaryQuestion) (Summary, error)
	}
	// Name signs what the model says, where one model can be asked in several ways; "" leaves its own.
	Name string

	// Low is the score below which what rules found does not decide; 0 is 0.1, negative none.
	Low float64
	// Share bounds for how many of a session's steps parents are asked; 0 is a quarter.
	Share float64
	// Tokens bounds what the model reads and writes for a session, as a share of the tokens of the session's own
	// steps so far; 0 is a half.
	Tokens float64

	mu    sync.Mutex
	spent map[string]spending
}

// spending is what a session has cost.
type spending struct {
	asked, tokens int
	told          bool // also of what was spent before
}

// maxSpending bounds of how many sessions the spending is remembered. The others can be recalled.
const maxSpending = 4096

// Wants reports whether rules left a turn open: they found nothing, or nothing better than Low, or two that are
// worth the same.
func (c *Cascade) Wants(found []Choice) bool {
	if c.Chooser == nil {
		return false
	}
	if len(found) == 0 || found[0].Kind == PreviousLink {
		return true
	}
	tie := len(found) > 1 && found[0].Score == found[1].Score
	return tie || found[0].Score < cmp.Or(c.Low, lowScore)
}

// Select asks the model if Wants and the bounds allow it. Otherwise, or if there is no candidate, the
// Answer is the zero one, signed by nobody. It never says again what rules found.
func (c *Cascade) Select(ctx context.Context, q Question) (Answer, error) {
	if len(q.Candidates) == 0 || !c.Wants(q.Found) || !c.mayAsk(q.Session, q.Turn.Seq+1, q.Tokens) {
		return Answer{}, nil
	}
	a, err := c.Chooser.Select(ctx, q)
	c.spend(q.Session, a.Origin)
	a.By = cmp.Or(c.Name, a.By)
	return a, err
}

// Summarize asks the model as long as its tokens last, and rules afterwards. Where there is a Chooser too it leaves
// half of them to it.
func (c *Cascade) Summarize(ctx context.Context, q SummaryQuestion) (Summary, error) {
	tokens := q.Tokens
	if c.Chooser != nil {
		tokens /= 2
	}
	if c.Writer == nil || !c.affords(q.Session, tokens) {
		return Rules{}.Summarize(ctx, q)
	}
	s, err := c.Writer.Summarize(ctx, q)
	c.spend(q.Session, s.Origin)
	s.By = cmp.Or(c.Name, s.By)
	return s, err
}

// Model is the one that Chooser asks, or else Writer; the zero one if neither says which it is.
func (c *Cascade) Model(ctx context.Context) (Model, error) {
	for _, m := range []any{c.Chooser, c.Writer} {
		if m, ok := m.(interface {
			Model(context.Context) (Model, error)
		}); ok {
			return m.Model(ctx)
		}
	}
	return Model{}, nil
}

// mayAsk counts one more question of a session of so many steps and tokens, if the bounds allow it. The first
// question is always allowed.
func (c *Cascade) mayAsk(session string, steps, tokens int) bool {
	if !c.affords(session, tokens) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spent[session]
	if s.asked > 0 && float64(s.asked+1) > cmp.Or(c.Share, askedShare)*float64(steps) {
		return false
	}
	s.asked++
	c.note(session, s)
	return true
}

// Knows reports whether the cascade was told of a session what was said before.
func (c *Cascade) Knows(session string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent[session].told
}

// Recall tells what models said of a session before, as to another process, one Answer for each step: what was spent
// then counts as if it had been spent now. Of one with a Name only what has that name counts.
func (c *Cascade) Recall(session string, said []Answer) {
	before := spending{told: true}
	for _, a := range said {
		if c.Name != "" && a.By != c.Name {
			continue
		}
		before.tokens += a.Origin.In + a.Origin.Out
		if choosing, summing := a.Origin.Prompts(); len(a.Choices) > 0 || choosing != "" || summing == "" {
			before.asked++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.spent[session] // of which some may be in what was said
	before.asked, before.tokens = max(before.asked, now.asked), max(before.tokens, now.tokens)
	c.note(session, before)
}

// affords reports whether a session of so many tokens has some left for the model.
func (c *Cascade) affords(session string, tokens int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	spent := c.spent[session].tokens
	return spent == 0 || float64(spent) < cmp.Or(c.Tokens, tokenShare)*float64(tokens)
}

func (c *Cascade) spend(session string, o Origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spent[session]
	s.tokens += o.In + o.Out
	c.note(session, s)
}

func (c *Cascade) note(session string, s spending) {
	if c.spent == nil || len(c.spent) > maxSpending {
		c.spent = map[string]spending{}
	}
	c.spent[session] = s
}
