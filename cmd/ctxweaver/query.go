package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
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
	cmd.AddCommand(newWalk(a, false), newWalk(a, true), newPath(a), newFailed(a), newTouching(a), newUsing(a))
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

func newHit(n engine.Node, why string) hit {
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
	tab := table{heads: []column{{head: ""}, {head: "STEP", right: true}, {head: "ID"}, {head: "ACTION"}, {head: "WHAT", stretch: true}, {head: "WHY", stretch: true}}}
	for _, h := range hits {
		row := plain("", fmt.Sprint(h.Seq), string(h.ID[:7]), h.node.Action, v.plain(done(h.node, t.info.Dir)), v.plain(oneLine(h.Why)))
		row[0] = cell{glyphOf(h.Label, v.ascii), func(text string) string { return v.label(h.Label, text) }}
		row[2].paint = v.style.yellow
		tab.add(row...)
	}
	a.printTable(&tab)
	return nil
}

// newWalk makes the commands that follow edges: back to what a step rests on, or on to what rests on it.
func newWalk(a *app, descendants bool) *cobra.Command {
	w := graphstore.Walk{Descendants: descendants}
	cmd := &cobra.Command{
		Use:     "ancestors [SESSION] STEP",
		Short:   "What a step rests on, near and far",
		Example: "  ctxweaver query ancestors head\n  ctxweaver query ancestors fix-discounts 31 --width 5 --parents 3",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.W < 0 || w.M < 0 || w.Depth < 0 {
				return usage("--width, --parents and --depth: want 0 (no bound) or more")
			}
			name, step := sessionAndStep(args)
			return a.question(cmd.Context(), name, func(e *engine.Engine, t thread) error {
				n, err := pickStep(t.path, t.all, step)
				if err != nil {
					return err
				}
				reached, err := e.Store().Ancestry(cmd.Context(), t.info.Name, n.ID, w)
				if err != nil {
					return err
				}
				none := fmt.Sprintf("Step %d rests on no other.", n.Seq)
				if descendants {
					none = fmt.Sprintf("No other step rests on step %d.", n.Seq)
				}
				return a.answer(t, walked(t, reached, descendants), none)
			})
		},
	}
	if descendants {
		cmd.Use, cmd.Short = "descendants [SESSION] STEP", "What rests on a step, near and far"
		cmd.Example = "  ctxweaver query descendants 3\n  ctxweaver query descendants fix-discounts 3 --depth 1"
	} else {
		cmd.Flags().IntVarP(&w.M, "parents", "m", 0, "edges followed from each step at most, the best first (0: all)")
	}
	cmd.Flags().IntVarP(&w.W, "width", "w", 0, "steps at most (0: all)")
	cmd.Flags().IntVar(&w.Depth, "depth", 0, "edges from the step at most (0: any)")
	cmd.Flags().BoolVar(&w.Facts, "facts", false, "follow also edges to steps that had failed")
	return cmd
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

// walked says of each step that was reached over which edge.
func walked(t thread, reached []graphstore.Reached, descendants bool) []hit {
	at := index(t.all)
	var hits []hit
	for _, r := range reached {
		n, via := t.all[at[r.ID]], t.all[at[r.Via]]
		later, earlier, word := via, n, "used by"
		if descendants {
			later, earlier, word = n, via, "rests on"
		}
		h := newHit(n, "")
		h.Depth = r.Depth
		for _, p := range later.Parents {
			if p.ID == earlier.ID {
				h.Why = fmt.Sprintf("%s %d, %s: %s", word, via.Seq, p.Kind, p.Reason)
				break
			}
		}
		hits = append(hits, h)
	}
	return hits
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
			return a.question(cmd.Context(), name, func(_ *engine.Engine, t thread) error {
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
				return a.answer(t, wayBack(t.all, from, to), fmt.Sprintf("Step %d does not rest on step %d.", from.Seq, to.Seq))
			})
		},
	}
}

// wayBack is the shortest way from a node back to an earlier one along its parents, both ends
// included; of equally short ones that of the best edges.
func wayBack(all []engine.Node, from, to engine.Node) []hit {
	at := index(all)
	later := map[engine.NodeID]engine.Node{from.ID: from} // the step through which each was reached
	queue := []engine.Node{from}
	for len(queue) > 0 && later[to.ID].ID == "" {
		n := queue[0]
		queue = queue[1:]
		for _, p := range n.Parents {
			if i, ok := at[p.ID]; ok && later[p.ID].ID == "" {
				later[p.ID] = n
				queue = append(queue, all[i])
			}
		}
	}
	if later[to.ID].ID == "" {
		return nil
	}
	var hits []hit
	for n := to; ; n = later[n.ID] {
		why := ""
		for _, p := range n.Parents {
			if len(hits) > 0 && p.ID == hits[len(hits)-1].ID {
				why = fmt.Sprintf("rests on %d, %s: %s", hits[len(hits)-1].Seq, p.Kind, p.Reason)
				break
			}
		}
		hits = append(hits, newHit(n, why))
		if n.ID == from.ID {
			slices.Reverse(hits)
			return hits
		}
	}
}

func newFailed(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "failed [SESSION]",
		Short:   "Which steps failed their tests, and what fixed them",
		Example: "  ctxweaver query failed\n  ctxweaver query failed fix-discounts --json",
		Args:    arguments(0, 1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.question(cmd.Context(), firstOf(args), func(_ *engine.Engine, t thread) error {
				return a.answer(t, failed(t), "No step failed its tests.")
			})
		},
	}
}

// failed are the steps with tests that failed, each test with the step that fixed it.
func failed(t thread) []hit {
	at := index(t.all)
	var hits []hit
	for _, n := range t.all {
		h := newHit(n, "")
		var said []string
		for _, test := range n.Failures() {
			f, word := fix{Test: test}, "open"
			for _, fixed := range n.Fixes {
				if i, ok := at[fixed.By]; ok && fixed.Test == test {
					f.By, f.ID = &t.all[i].Seq, &t.all[i].ID
					word = fmt.Sprintf("fixed by %d", *f.By)
				}
			}
			h.Fixes = append(h.Fixes, f)
			said = append(said, fmt.Sprintf("%s (%s)", test, word))
		}
		if len(h.Fixes) > 0 {
			h.Why = strings.Join(said, ", ")
			hits = append(hits, h)
		}
	}
	return hits
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
			return a.question(cmd.Context(), name, func(_ *engine.Engine, t thread) error {
				return a.answer(t, touching(t, file), fmt.Sprintf("No step touches %s.", file))
			})
		},
	}
}

func touching(t thread, file string) []hit {
	want := "/" + strings.TrimPrefix(path.Clean(strings.ReplaceAll(file, `\`, "/")), "/")
	var hits []hit
	for _, n := range t.all {
		var files []string
		for _, f := range n.Files {
			if strings.HasSuffix("/"+strings.ReplaceAll(f, `\`, "/"), want) {
				files = append(files, f)
			}
		}
		if len(files) > 0 {
			hits = append(hits, newHit(n, strings.Join(files, ", ")))
		}
	}
	return hits
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
				var hits []hit
				for n, err := range e.Store().Session(cmd.Context(), t.info.Name) {
					if err != nil {
						return err
					}
					if where := using(n, word); len(where) > 0 {
						hits = append(hits, newHit(n, strings.Join(where, "; ")))
					}
				}
				return a.answer(t, hits, fmt.Sprintf("No step uses %q.", word))
			})
		},
	}
}

// using says where in a step a word stands, with the first line that has it.
func using(n engine.Node, word string) []string {
	var where []string
	look := func(part, text string) {
		for line := range strings.Lines(text) {
			if i := strings.Index(line, word); i >= 0 {
				where = append(where, part+": "+shorten(oneLine(line[max(0, i-40):]), 100))
				return
			}
		}
	}
	for _, m := range n.Step.Before {
		look(string(m.Role), m.Text)
	}
	look("thinking", n.Step.Thinking)
	look("thought", n.Step.Thought)
	for _, c := range n.Step.Calls {
		look("call", c.Args)
		if c.Observation != nil {
			look("observation", c.Observation.Text)
		}
	}
	return where
}
