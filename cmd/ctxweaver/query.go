package main

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
	"github.com/ctxweaver/ctxweaver/graphstore/query"
)

func newQuery(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask about the graph",
		Example: `  ctxweaver query ancestors 31
  ctxweaver query failed
  ctxweaver query using MaxDiscountBps`,
		Args:                       unknownCommand,
		RunE:                       help,
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newAncestors(a), newDescendants(a), newPath(a), newFailed(a), newTouching(a), newUsing(a))
	return cmd
}

// hit is a step that answers a question, and why.
type hit struct {
	node  engine.Node
	Seq   int                   `json:"seq"`
	ID    engine.NodeID         `json:"id"`
	Label graphstore.Validation `json:"validation,omitempty"`
	Did   string                `json:"summary"`
	Depth int                   `json:"depth,omitempty"` // edges from the step that was asked about
	Why   string                `json:"why,omitempty"`
	Fixes []fix                 `json:"fixes,omitempty"`
}

// fix is a test that failed and the step, if any, that fixed it.
type fix struct {
	Test string         `json:"test"`
	By   *int           `json:"by,omitempty"`
	ID   *engine.NodeID `json:"by_id,omitempty"`
}

func (t thread) hit(id engine.NodeID, why string) hit {
	n := t.node(id)
	return hit{node: n, Seq: n.Seq, ID: n.ID, Label: n.Validation, Did: n.Summary, Why: why}
}

// answer prints what a question found; nothing is an answer too.
func (a *app) answer(t thread, hits []hit, none string) error {
	if a.json {
		if hits == nil {
			hits = []hit{}
		}
		return a.printJSON(hits)
	}
	if len(hits) == 0 {
		a.print("%s", oneLine(none))
		return nil
	}
	v := logView{style: a.style(), ascii: ascii()}
	tab := table{heads: []column{{head: ""}, {head: "STEP", right: true}, {head: "ID"}, {head: "ACTION"}, {head: "WHAT", stretch: true}, {head: "WHY", stretch: true, wrap: true}}}
	for _, h := range hits {
		row := plain("", fmt.Sprint(h.Seq), string(h.ID[:7]), h.node.Action, v.plain(done(h.node, t.info.Dir)), v.plain(oneLine(h.Why)))
		row[0] = cell{glyphOf(h.Label, v.ascii), func(text string) string { return v.label(h.Label, text) }}
		row[2].paint = v.style.yellow
		tab.add(row...)
	}
	a.printTable(&tab)
	return nil
}

func newAncestors(a *app) *cobra.Command {
	var w graphstore.Walk
	cmd := &cobra.Command{
		Use:     "ancestors [SESSION] STEP",
		Short:   "What a step rests on, near and far",
		Example: "  ctxweaver query ancestors head\n  ctxweaver query ancestors fix-discounts 31 --width 5 --parents 3",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.walk(cmd.Context(), args, w, query.Ancestors, "used by", "Step %d rests on no other.")
		},
	}
	walkFlags(cmd.Flags(), &w)
	cmd.Flags().IntVarP(&w.M, "parents", "m", 0, "edges followed from each step at most, the best first (0: all)")
	return cmd
}

func newDescendants(a *app) *cobra.Command {
	var w graphstore.Walk
	cmd := &cobra.Command{
		Use:     "descendants [SESSION] STEP",
		Short:   "What rests on a step, near and far",
		Example: "  ctxweaver query descendants 3\n  ctxweaver query descendants fix-discounts 3 --depth 1",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.walk(cmd.Context(), args, w, query.Descendants, "rests on", "No other step rests on step %d.")
		},
	}
	walkFlags(cmd.Flags(), &w)
	return cmd
}

// walkFlags say how far edges are followed.
func walkFlags(f *pflag.FlagSet, w *graphstore.Walk) {
	f.IntVarP(&w.W, "width", "w", 0, "steps at most (0: all)")
	f.IntVar(&w.Depth, "depth", 0, "edges from the step at most (0: any)")
	f.BoolVar(&w.Facts, "facts", false, "follow also edges to steps that had failed")
}

// relatives asks for the steps that edges lead to.
type relatives func(ctx context.Context, s *graphstore.Store, session string, id engine.NodeID, w graphstore.Walk) ([]query.Relative, error)

// walk follows edges from the step that the arguments name. word says how what is found relates to the step before
// it on the way; none, with the step's number, that there is nothing.
func (a *app) walk(ctx context.Context, args []string, w graphstore.Walk, ask relatives, word, none string) error {
	if w.W < 0 || w.M < 0 || w.Depth < 0 {
		return usage("--width, --parents and --depth: want 0 (no bound) or more")
	}
	name, step := sessionAndStep(args)
	return a.question(ctx, name, func(e *engine.Engine, t thread) error {
		n, err := pickStep(t.path, t.all, step)
		if err != nil {
			return err
		}
		found, err := ask(ctx, e.Store(), t.info.Name, n.ID, w)
		if err != nil {
			return err
		}
		var hits []hit
		for _, r := range found {
			h := t.hit(r.ID, because(word, t.node(r.Via).Seq, r.Edges))
			h.Depth = r.Depth
			hits = append(hits, h)
		}
		return a.answer(t, hits, fmt.Sprintf(none, n.Seq))
	})
}

// question runs a question about one session.
func (a *app) question(ctx context.Context, session string, do func(*engine.Engine, thread) error) error {
	return a.with(ctx, func(e *engine.Engine) error {
		t, err := load(ctx, e, session)
		if err != nil {
			return err
		}
		return do(e, t)
	})
}

// because says over which edge a step was reached: the best, if there are several.
func because(word string, seq int, edges []graphstore.Parent) string {
	if len(edges) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d, %s: %s", word, seq, edges[0].Kind, edges[0].Reason)
}

func newPath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "path [SESSION] STEP STEP",
		Short:   "How one step rests on another",
		Long:    "The shortest way along the edges from the later of two steps back to the earlier, facts about failed steps included.",
		Example: "  ctxweaver query path 3 31\n  ctxweaver query path fix-discounts 3 head",
		Args:    arguments(2, 3), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, steps := "", args
			if len(args) == 3 {
				name, steps = args[0], args[1:]
			}
			return a.question(cmd.Context(), name, func(e *engine.Engine, t thread) error {
				from, err := pickStep(t.path, t.all, steps[0])
				if err != nil {
					return err
				}
				to, err := pickStep(t.path, t.all, steps[1])
				if err != nil {
					return err
				}
				if from.Seq < to.Seq {
					from, to = to, from
				}
				hits, err := wayBack(cmd.Context(), e, t, from.ID, to.ID)
				if err != nil {
					return err
				}
				return a.answer(t, hits, fmt.Sprintf("Step %d does not rest on step %d.", from.Seq, to.Seq))
			})
		},
	}
}

// wayBack is the shortest way between two steps, from the later, both ends included.
func wayBack(ctx context.Context, e *engine.Engine, t thread, from, to engine.NodeID) ([]hit, error) {
	if from == to {
		return []hit{t.hit(from, "")}, nil
	}
	way, err := query.PathBetween(ctx, e.Store(), t.info.Name, from, to)
	var hits []hit
	for i, r := range way {
		why := ""
		if i+1 < len(way) {
			why = because("rests on", way[i+1].Seq, way[i+1].Edges)
		}
		hits = append(hits, t.hit(r.ID, why))
	}
	return hits, err
}

func newFailed(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "failed [SESSION]",
		Short:   "Which steps failed their tests, and what fixed them",
		Example: "  ctxweaver query failed\n  ctxweaver query failed fix-discounts --json",
		Args:    arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.question(cmd.Context(), firstOf(args), func(e *engine.Engine, t thread) error {
				failures, err := query.Failed(cmd.Context(), e.Store(), t.info.Name)
				if err != nil {
					return err
				}
				var hits []hit
				for _, f := range failures {
					hits = append(hits, t.failed(f))
				}
				return a.answer(t, hits, "No step failed its tests.")
			})
		},
	}
}

// failed says of each test that failed which step fixed it: "fixed by 12: TestA, TestB; open: TestC".
func (t thread) failed(f query.Failure) hit {
	h := t.hit(f.ID, "")
	var words []string
	tests := map[string][]string{} // by word
	for _, test := range f.Tests {
		it, word := fix{Test: test.Test}, "open"
		if test.FixedBy != "" {
			by := t.node(test.FixedBy)
			it.By, it.ID = &by.Seq, &by.ID
			word = fmt.Sprintf("fixed by %d", by.Seq)
		}
		h.Fixes = append(h.Fixes, it)
		if tests[word] == nil {
			words = append(words, word)
		}
		tests[word] = append(tests[word], test.Test)
	}
	for i, word := range words {
		words[i] = word + ": " + strings.Join(tests[word], ", ")
	}
	h.Why = strings.Join(words, "; ")
	return h
}

func newTouching(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "touching [SESSION] FILE",
		Short:   "Which steps touch a file",
		Long:    "The steps that read, change or name a file, by its whole path or the end of it (pricing/discount.go).",
		Example: "  ctxweaver query touching discount.go",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, file := sessionAndStep(args)
			return a.question(cmd.Context(), name, func(e *engine.Engine, t thread) error {
				touchers, err := query.Touching(cmd.Context(), e.Store(), t.info.Name, path.Clean(strings.ReplaceAll(file, `\`, "/")))
				if err != nil {
					return err
				}
				var hits []hit
				for _, u := range touchers {
					hits = append(hits, t.hit(u.ID, strings.Join(u.Files, ", ")))
				}
				return a.answer(t, hits, fmt.Sprintf("No step touches %s.", file))
			})
		},
	}
}

func newUsing(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "using [SESSION] WORD",
		Short:   "Which steps say, use or show a word",
		Example: "  ctxweaver query using MaxDiscountBps",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, word := sessionAndStep(args)
			if word == "" {
				return usage("the word is empty")
			}
			return a.question(cmd.Context(), name, func(e *engine.Engine, t thread) error {
				users, err := query.Using(cmd.Context(), e.Store(), t.info.Name, word)
				if err != nil {
					return err
				}
				var hits []hit
				for _, u := range users {
					hits = append(hits, t.hit(u.ID, where(u.Places, word)))
				}
				return a.answer(t, hits, fmt.Sprintf("No step uses %q.", word))
			})
		},
	}
}

// where says in which parts of a step a word stands, with what is around it in its line.
func where(places []query.Place, word string) string {
	var said []string
	for _, p := range places {
		said = append(said, p.Part+": "+around(p, word))
	}
	return strings.Join(said, "; ")
}

// An excerpt of the line of a word shows so many columns, and so many of them at most before the word.
const (
	excerpt = 100
	leading = 36
)

var (
	blanks = regexp.MustCompile(`\s+`)
	// unescaped reads what JSON escapes in a call's arguments.
	unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\/`, `/`, `\n`, " ", `\r`, " ", `\t`, " ")
)

// around is the excerpt of a line that has the word, with what is around it.
func around(p query.Place, word string) string {
	before, after, _ := strings.Cut(p.Line, word)
	if p.Part == "call" {
		before, after = unescaped.Replace(before), unescaped.Replace(after)
	}
	before = shortenFront(blanks.ReplaceAllString(before, " "), leading) + word
	return oneLine(before + shorten(blanks.ReplaceAllString(after, " "), excerpt-columns(before)))
}
