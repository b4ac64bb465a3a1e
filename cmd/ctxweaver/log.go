package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// logView is how a session's graph is shown.
type logView struct {
	parents int
	lanes   int
	last    int // only the newest steps; 0 is all
	width   int
	reverse bool
	ascii   bool
	style   style
}

func newLog(a *app) *cobra.Command {
	var v logView
	var dot bool
	cmd := &cobra.Command{
		Use:   "log [SESSION]",
		Short: "Show a session as a commit graph",
		Long: `Show a session as a commit graph: a line a step, the newest first, with the edges to what it rests on.

  ● passed its tests   ✗ failed   ⊘ failed, and fixed by later steps   ○ unknown

After the glyph: the step's number, the first digits of its id, what kind of action it was, what it did, its
tokens and its files. Edges to a step too far away for a lane of its own are written out as "← 12". A dim edge
is a guess: nothing was found, so the step before was taken.`,
		Example: `  ctxweaver log
  ctxweaver log fix-discounts --reverse -n 20
  ctxweaver log fix-discounts --dot | dot -Tsvg > graph.svg`,
		Args:              arguments(0, 1),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case v.parents < 1:
				return usage("--parents %d: want 1 or more", v.parents)
			case v.lanes < 1:
				return usage("--lanes %d: want 1 or more", v.lanes)
			case v.last < 0:
				return usage("--last %d: want 0 (all) or more", v.last)
			}
			v.width, v.style, v.ascii = width(), a.style(), v.ascii || ascii()
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				t, err := load(cmd.Context(), e, firstOf(args))
				switch {
				case err != nil:
					return err
				case a.json:
					return a.printJSON(graphOf(t, v.parents))
				case dot:
					a.printDot(t, v.parents)
					return nil
				}
				a.printLog(t, v)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&v.parents, "parents", 2, "edges drawn from a step at most, the best first")
	f.IntVar(&v.lanes, "lanes", 6, "columns for edges at most")
	f.IntVarP(&v.last, "last", "n", 0, "only the newest steps, so many (0: all)")
	f.BoolVar(&v.reverse, "reverse", false, "the oldest first")
	f.BoolVar(&v.ascii, "ascii", false, "draw with ASCII only")
	f.BoolVar(&dot, "dot", false, "write the graph for Graphviz")
	return cmd
}

// printLog draws the path to the head, and mentions what is on other branches.
func (a *app) printLog(t thread, v logView) {
	rows, nodes := draw(links(t.path, v.parents), v.lanes), slices.Clone(t.path)
	slices.Reverse(nodes)
	left := 0
	if v.last > 0 && len(nodes) > v.last {
		left = len(nodes) - v.last
		rows, nodes = rows[:v.last], nodes[:v.last]
	}
	if v.reverse {
		rows = flip(rows)
		slices.Reverse(nodes)
		a.left(left, v)
	}
	wide := 0
	for _, r := range rows {
		wide = max(wide, 2*len(r.squares)-1)
	}
	for i, n := range nodes {
		picture := rows[i].picture(v.glyph(n), v.ascii, v.paintLane)
		var far []int
		for _, row := range rows[i].beyond {
			far = append(far, t.path[len(t.path)-1-row].Seq)
		}
		a.print("%s%s %s", picture, strings.Repeat(" ", wide-(2*len(rows[i].squares)-1)), v.line(n, t.info.Dir, far, v.width-wide-1))
	}
	if !v.reverse {
		a.left(left, v)
	}
	for _, b := range branches(t) {
		a.print("%s", v.style.dim(v.plain(b)))
	}
}

// left mentions the older steps that are not drawn.
func (a *app) left(steps int, v logView) {
	if steps > 0 {
		a.print("%s", v.style.dim(v.plain(fmt.Sprintf("… %s before", plural(steps, "step")))))
	}
}

// links gives the edges of a path's nodes for drawing: row 0 is the newest node.
func links(path []engine.Node, m int) [][]link {
	at := index(path)
	rows := make([][]link, len(path))
	for i, n := range path {
		for _, p := range n.Selected(m) {
			if j, ok := at[p.ID]; ok && j < i {
				rows[len(path)-1-i] = append(rows[len(path)-1-i], link{len(path) - 1 - j, p.Kind == graphstore.Previous})
			}
		}
	}
	return rows
}

func (v logView) glyph(n engine.Node) string {
	return v.label(n.Validation, glyphOf(n.Validation, v.ascii))
}

// glyphs are the signs of labels, and what stands for them in ASCII.
var glyphs = map[graphstore.Validation][2]string{
	graphstore.Passed: {"●", "*"}, graphstore.Failed: {"✗", "x"}, graphstore.Superseded: {"⊘", "~"}, graphstore.Unknown: {"○", "o"},
}

// glyphOf is the sign of a label.
func glyphOf(label graphstore.Validation, ascii bool) string {
	if ascii {
		return glyphs[label][1]
	}
	return glyphs[label][0]
}

// label colours text as the label it stands for.
func (v logView) label(label graphstore.Validation, text string) string {
	switch label {
	case graphstore.Passed:
		return v.style.green(text)
	case graphstore.Failed:
		return v.style.red(text)
	case graphstore.Superseded:
		return v.style.yellow(text)
	}
	return text
}

var laneColours = []string{"36", "35", "34", "32", "33", "31"}

func (v logView) paintLane(column int, guess bool, text string) string {
	if guess {
		return v.style.dim(text)
	}
	return v.style.paint(laneColours[column%len(laneColours)], text)
}

// line is what is said of a step beside the graph.
func (v logView) line(n engine.Node, dir string, beyond []int, most int) string {
	far := ""
	for _, seq := range beyond {
		far += fmt.Sprintf("%s%d ", map[bool]string{false: "← ", true: "<- "}[v.ascii], seq)
	}
	tail := fmt.Sprintf("  %6s", count(n.Tokens.Total()))
	if len(n.Files) > 0 {
		tail += "  " + plural(len(n.Files), "file")
	}
	head := fmt.Sprintf("%4d %s %-6s ", n.Seq, n.ID[:7], n.Action)
	room := max(12, most-columns(head)-columns(far)-17)
	text := v.plain(pad(shorten(done(n, dir), room), room, false))
	return fmt.Sprintf("%4d %s %-6s %s%s%s", n.Seq, v.style.yellow(string(n.ID[:7])), n.Action, v.style.dim(far), text, v.style.dim(tail))
}

// plain keeps to ASCII where the terminal does.
func (v logView) plain(text string) string {
	if !v.ascii {
		return text
	}
	text = strings.NewReplacer("→", ">", "←", "<", "…", "~", "✓", "+", "✗", "x").Replace(text)
	return strings.Map(func(r rune) rune {
		if r > 0x7e {
			return '?'
		}
		return r
	}, text)
}

// verbs begin a summary and say no more than the kind of action beside it.
var verbs = []string{"viewed ", "listed ", "searched ", "edited ", "tested ", "ran ", "asked "}

// rules are what runners draw around their verdicts.
var rules = regexp.MustCompile(` [=_*#-]{4,}|[=_*#-]{4,} `)

// done says in one line what a step did, with paths as seen from the folder where the agent worked.
func done(n engine.Node, dir string) string {
	text := rules.ReplaceAllString(oneLine(n.Summary), "")
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(text, v); ok && n.Action != "" {
			text = rest
			break
		}
	}
	if text == "" && len(n.Step.Before) > 0 {
		text = oneLine(n.Step.Before[0].Text)
	}
	if len(dir) > 1 {
		text = strings.ReplaceAll(text, strings.TrimRight(dir, "/")+"/", "")
	}
	return text
}

// branches says of each branch that is not on the way to the head where it leaves it and what it holds.
func branches(t thread) []string {
	path := index(t.path)
	type branch struct {
		first, newest engine.Node
		steps         int
	}
	var found []*branch
	of := map[engine.NodeID]*branch{} // the branch that a node is on; a node comes after its previous one
	for _, n := range t.all {
		if _, on := path[n.ID]; on {
			continue
		}
		b := of[n.Previous]
		if b == nil {
			b = &branch{first: n, newest: n}
			found = append(found, b)
		}
		of[n.ID] = b
		b.steps++
		if n.Seq >= b.newest.Seq {
			b.newest = n
		}
	}
	var out []string
	for _, b := range found {
		from := "at the beginning"
		if i, ok := path[b.first.Previous]; ok {
			from = fmt.Sprintf("after step %d", t.path[i].Seq)
		}
		out = append(out, fmt.Sprintf("another branch %s: %s, the newest %s", from, plural(b.steps, "step"), b.newest.ID[:7]))
	}
	return out
}
