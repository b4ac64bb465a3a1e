package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
)

// spender is a model that answers, or fails, at a price.
type spender struct {
	digest        string
	tokens        int // a question
	err           error
	chosen, wrote int
}

func (m *spender) origin(prompt string) controller.Origin {
	return controller.Origin{Model: "m", Digest: m.digest, Prompt: prompt, Calls: 1, In: m.tokens}
}

func (m *spender) Model(context.Context) (controller.Model, error) {
	return controller.Model{Name: "m", Digest: m.digest}, nil
}

func (m *spender) Select(_ context.Context, q controller.Question) (controller.Answer, error) {
	m.chosen++
	return controller.Answer{By: "m", Origin: m.origin("p1")}, m.err
}

func (m *spender) Summarize(context.Context, controller.SummaryQuestion) (controller.Summary, error) {
	m.wrote++
	return controller.Summary{Step: "it did so", Dependency: "it did so", By: "m", Origin: m.origin("p2")}, m.err
}

// What a model spent on a session counts for the next process too, whether it answered or failed, and whether it was
// asked as steps came or about a stored session; for another controller it does not.
func TestSpendingOutlastsTheProcess(t *testing.T) {
	ctx := context.Background()
	const steps, runs = 40, 4
	var all []engine.Step
	for i := range steps {
		all = append(all, did(fmt.Sprint("hm ", i), "true", fmt.Sprint("so it is ", i)))
	}
	for _, tt := range []struct {
		reason string
		model  spender
		name   string
		share  float64
		most   int // questions
	}{
		{"answers", spender{digest: "sha256:m"}, "m/chat", 0.2, 8},
		{"failures", spender{digest: "sha256:m", err: controller.ErrBabble}, "m/chat", 0.2, 8},
		{"of a cascade without a name", spender{digest: "sha256:m"}, "", 0.2, 8},
		{"of a model without a digest", spender{}, "m/chat", 0.2, 8},
		{"tokens", spender{digest: "sha256:m", tokens: 1 << 20}, "m/chat", 1, 1},
		{"tokens of failures", spender{digest: "sha256:m", tokens: 1 << 20, err: controller.ErrBabble}, "m/chat", 1, 1},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			dir := t.TempDir()
			cascade := func() *controller.Cascade {
				return &controller.Cascade{Chooser: &tt.model, Name: tt.name, Share: tt.share}
			}
			for run := range runs {
				e, err := engine.Open(dir, &engine.Options{Selector: cascade(), NoSync: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range all[run*steps/runs : (run+1)*steps/runs] {
					appendAll(t, e.Session("a"), step)
					settle(t, e)
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if tt.model.chosen > tt.most || tt.model.chosen < tt.most-1 {
				t.Errorf("as steps came: asked %d times, want %d", tt.model.chosen, tt.most)
			}
			e := openAt(t, dir, engine.Options{NoSync: true})
			before := tt.model.chosen
			for range runs {
				_, err := e.Session("a").Reweave(ctx, engine.Reweaving{By: "m/chat", Selector: cascade(), Adopt: true})
				if err != nil {
					t.Fatal(err)
				}
			}
			if tt.model.chosen > max(before, tt.most) {
				t.Errorf("about the stored session: asked %d times more", tt.model.chosen-before)
			}
			other := spender{digest: "sha256:other", tokens: 1}
			got, err := e.Session("a").Reweave(ctx, engine.Reweaving{By: "other", Selector: &controller.Cascade{Chooser: &other, Name: "other", Share: 0.2}})
			if err != nil || other.chosen == 0 || got.Asked != other.chosen {
				t.Errorf("another controller was asked %d times: %+v, %v", other.chosen, got, err)
			}
		})
	}
}

// A model is asked for the part of a step that it has said nothing of, and what it said of the other stays, as does
// what that took.
func TestReweaveAsksForWhatIsMissing(t *testing.T) {
	ctx := context.Background()
	e := open(t, engine.Options{NoSync: true})
	s := e.Session("a")
	appendAll(t, s, did("hm", "true", "1"), did("er", "true", "2"), did("so", "true", "3"))
	m := &spender{digest: "sha256:m", tokens: 5}
	for _, tt := range []struct {
		reason        string
		r             engine.Reweaving
		chosen, wrote int // since the beginning
		asked, there  int
	}{
		{"parents alone", engine.Reweaving{Selector: m}, 2, 0, 2, 0},
		{"summaries too", engine.Reweaving{Selector: m, Summarizer: m}, 2, 3, 3, 0},
		{"all is said", engine.Reweaving{Selector: m, Summarizer: m}, 2, 3, 0, 3},
		{"also for who wants a part of it", engine.Reweaving{Summarizer: m}, 2, 3, 0, 3},
	} {
		tt.r.By = "m/chat"
		got, err := s.Reweave(ctx, tt.r)
		if err != nil || m.chosen != tt.chosen || m.wrote != tt.wrote || got.Asked != tt.asked || got.There != tt.there {
			t.Errorf("%s: asked %d and %d times; %+v, %v", tt.reason, m.chosen, m.wrote, got, err)
		}
	}
	said, err := e.Store().Opinions(ctx, "a", "m/chat")
	if err != nil {
		t.Fatal(err)
	}
	in := 0
	for _, o := range said {
		in += o.Origin.In
		if o.Summary != "it did so" {
			t.Errorf("%+v", o)
		}
	}
	if in != 5*5 {
		t.Errorf("%d tokens are on record, 25 were spent", in)
	}
}

// halting is a model that has no summaries for a while, for a reason.
type halting struct {
	spender
	prompt string // of summaries
	err    error
}

func (m *halting) Select(ctx context.Context, q controller.Question) (controller.Answer, error) {
	m.chosen++
	a, err := oldest(ctx, q)
	a.Origin = m.origin("p1")
	return a, err
}

func (m *halting) Summarize(ctx context.Context, q controller.SummaryQuestion) (controller.Summary, error) {
	s, _ := m.spender.Summarize(ctx, q) // it cannot fail
	s.Origin.Prompt = m.prompt
	if m.err != nil {
		return controller.Summary{By: s.By, Origin: s.Origin}, m.err
	}
	return s, nil
}

// A part of a step that got lost on the way is asked for again, one that the model could not give is not.
func TestReweaveAsksAgainForWhatGotLost(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		reason string
		err    error
		wrote  int // in both runs
	}{
		{"the server fails", controller.ErrServer, 6},
		{"no answer in time", context.DeadlineExceeded, 6},
		{"made-up words", controller.ErrInvented, 3},
		{"nonsense", controller.ErrBabble, 3},
	} {
		o, err := controller.NewOllama(controller.OllamaOptions{Host: "127.0.0.1:1", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		e := open(t, engine.Options{NoSync: true})
		s := e.Session("a")
		appendAll(t, s, did("hm", "true", "1"), did("er", "true", "2"), did("so", "true", "3"))
		m := &halting{spender{digest: "sha256:m", tokens: 5}, o.Prompts()[1], tt.err}
		r := engine.Reweaving{By: "m/chat", Selector: m, Summarizer: m}
		// The first step has no candidates, so it has nothing at all, and is asked about again in any case.
		if got, err := s.Reweave(ctx, r); err != nil || got.Failed != 3 {
			t.Errorf("%s: %+v, %v", tt.reason, got, err)
		}
		m.err = nil
		got, err := s.Reweave(ctx, r)
		want := tt.wrote
		if tt.wrote == 3 {
			want++
		}
		if err != nil || m.chosen != 2 || m.wrote != want || got.Failed != 0 {
			t.Errorf("%s: asked %d and %d times; %+v, %v", tt.reason, m.chosen, m.wrote, got, err)
		}
	}
}
