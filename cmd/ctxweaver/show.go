package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [SESSION] STEP",
		Short: "Show a step whole",
		Long: `Show everything of a step: what came before it, its thought, its calls with their observations, its summaries,
what it rests on and why, its tests, and what controllers said of it. STEP is a number as log shows it, the first digits
of an id, or head.`,
		Example: "  ctxweaver show 12\n  ctxweaver show fix-discounts head\n  ctxweaver show fix-discounts 3fa9c2d --json",
		Args:    arguments(1, 2), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, step := sessionAndStep(args)
			return a.with(cmd.Context(), func(e *engine.Engine) error {
				t, err := load(cmd.Context(), e, name)
				if err != nil {
					return err
				}
				n, err := pickStep(t.path, t.all, step)
				if err != nil {
					return err
				}
				if n, err = e.Store().Get(cmd.Context(), t.info.Name, n.ID); err != nil {
					return err
				}
				opinions, err := e.Store().OpinionsOn(cmd.Context(), t.info.Name, n.ID)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						engine.Node
						Opinions []engine.Opinion `json:"opinions,omitempty"`
					}{n, opinions})
				}
				a.showStep(t, n)
				a.showOpinions(t, opinions)
				return nil
			})
		},
	}
}

// showStep prints a step, heading by heading.
func (a *app) showStep(t thread, n engine.Node) {
	s := a.style()
	v := logView{style: s}
	label := string(n.Validation)
	if label == "" {
		label = "unknown"
	}
	a.print("%s %s", s.bold(fmt.Sprintf("step %d", n.Seq)), s.yellow(string(n.ID)))
	a.field("session", t.info.Name)
	a.print("%s %s", s.dim(pad("label", 8, false)), v.label(n.Validation, label))
	a.field("action", n.Action)
	a.field("model", n.Step.Model)
	if !n.Step.Time.IsZero() {
		a.field("time", n.Step.Time.Local().Format(time.DateTime))
	}
	a.field("tokens", fmt.Sprint(n.Tokens.Total()))
	a.field("files", strings.Join(n.Files, ", "))
	for i, m := range n.Step.Before {
		head := string(m.Role)
		if m.Compaction {
			head += ", a compaction of the harness"
		}
		a.section(head+cost(at(n.Tokens.Before, i), m.Images), m.Text)
	}
	a.section("thinking"+cost(n.Tokens.Thinking, 0), n.Step.Thinking)
	a.section("thought"+cost(n.Tokens.Thought, 0), n.Step.Thought)
	for i := range n.Step.Calls {
		a.showCall(n, i)
	}
	a.section("summary", n.Summary)
	a.section("dependency summary", n.DependencySummary)
	a.showLinks(t, n)
	a.showTests(t, n)
}

func (a *app) field(name, value string) {
	if value != "" {
		a.print("%s %s", a.style().dim(pad(name, 8, false)), oneLine(value))
	}
}

// section prints a text under a heading, indented; nothing where it is empty.
func (a *app) section(head, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a.print("\n%s", a.style().bold(head))
	for line := range strings.Lines(visible(text)) {
		a.print("  %s", strings.TrimRight(line, "\n"))
	}
}

func cost(tokens, images int) string {
	text := fmt.Sprintf(" (%s", plural(tokens, "token"))
	if images > 0 {
		text += ", " + plural(images, "image") + " left out"
	}
	return text + ")"
}

func at(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func (a *app) showCall(n engine.Node, i int) {
	c := n.Step.Calls[i]
	a.section(fmt.Sprintf("call %d: %s%s", i+1, oneLine(c.Name), cost(at(n.Tokens.Calls, i), 0)), c.Args)
	o := c.Observation
	switch {
	case c.Joined:
		a.section(fmt.Sprintf("observation %d", i+1), "answered together with the last call of this turn")
		return
	case o == nil:
		a.section(fmt.Sprintf("observation %d", i+1), "not answered")
		return
	}
	head := fmt.Sprintf("observation %s%s", engine.NewHandle(n.ID, i), cost(at(n.Tokens.Observations, i), o.Images))
	if o.ExitCode != nil {
		head += fmt.Sprintf(", exit code %d", *o.ExitCode)
	}
	if o.Failed {
		head += ", flagged as failed"
	}
	text := o.Text
	if strings.TrimSpace(text) == "" {
		text = "(empty)"
	}
	a.section(head, text)
}

func (a *app) showLinks(t thread, n engine.Node) {
	var lines []string
	for _, p := range n.Parents {
		line := fmt.Sprintf("%.2f %-8s step %s: %s", p.Score, p.Kind, t.number(p.ID), p.Reason)
		switch {
		case p.Candidate:
		case p.Kind == graphstore.Model:
			line += " (an opinion only)"
		default:
			line += " (no candidate: it had failed)"
		}
		if p.By != "rules" {
			line += " (by " + p.By + ")"
		}
		lines = append(lines, oneLine(line))
	}
	a.section("rests on", strings.Join(lines, "\n"))
	lines = nil
	for _, later := range t.all {
		for _, p := range later.Parents {
			if p.ID == n.ID {
				lines = append(lines, oneLine(fmt.Sprintf("step %d %s: %s", later.Seq, p.Kind, p.Reason)))
			}
		}
	}
	a.section("is used by", strings.Join(lines, "\n"))
}

// showOpinions prints what controllers said of a step, and what it took them.
func (a *app) showOpinions(t thread, opinions []engine.Opinion) {
	for _, o := range opinions {
		var lines []string
		for _, p := range o.Parents {
			lines = append(lines, oneLine(fmt.Sprintf("%.2f %-8s step %s: %s", p.Score, p.Kind, t.number(p.ID), p.Reason)))
		}
		for _, part := range [][2]string{{"summary", o.Summary}, {"dependency summary", o.DependencySummary}, {"refused or failed", o.Err}} {
			if part[1] != "" {
				lines = append(lines, part[0]+": "+oneLine(part[1]))
			}
		}
		if len(lines) == 0 {
			lines = []string{"rests on nothing"}
		}
		a.section("opinion of "+oneLine(o.By)+took(o.Origin), strings.Join(lines, "\n"))
	}
}

// took is what it took a model to answer.
func took(o graphstore.Origin) string {
	if o.Calls == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, %s read, %d written, %s, digest %.12s)", plural(o.Calls, "call"), plural(o.In, "token"), o.Out, o.Took.Round(time.Millisecond), oneLine(o.Digest))
}

func (a *app) showTests(t thread, n engine.Node) {
	fixed := map[string]string{}
	for _, f := range n.Fixes {
		fixed[f.Test] = t.number(f.By)
	}
	marks := map[graphstore.TestStatus]string{graphstore.TestPassed: "✓", graphstore.TestFailed: "✗", graphstore.TestErrored: "✗", graphstore.TestSkipped: "-"}
	var lines []string
	for _, r := range n.Tests {
		line := fmt.Sprintf("%s %s: %s (%s)", marks[r.Status], r.Name, r.Status, r.Runner)
		if by := fixed[r.Name]; by != "" {
			line += ", fixed by step " + by
		}
		lines = append(lines, oneLine(line))
	}
	a.section("tests", strings.Join(lines, "\n"))
	lines = nil
	for _, e := range n.Evidence {
		line := e.Source + ": ok"
		if e.Failed {
			line = e.Source + ": failed"
		}
		lines = append(lines, oneLine(strings.TrimSpace(line+" "+e.Detail)))
	}
	a.section("weaker evidence", strings.Join(lines, "\n"))
}
