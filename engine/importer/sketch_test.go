package importer

import (
	"fmt"
	"strings"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// sketch draws trajectories for tests, a line for each thing that was said or done: a system, user,
// orphan or compaction message by its first letter, a * for a turn, ? around its thinking, and
// each call with its answer; +N are pictures, ! a failure, #N an exit code.
func sketch(ts []*Trajectory) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "== %s %s", t.Format, t.Name)
		for _, f := range [][2]string{{"parent", t.Parent}, {"title", t.Title}, {"agent", t.Agent}, {"model", t.Model}, {"dir", t.Dir}} {
			if f[1] != "" {
				fmt.Fprintf(&b, " %s=%q", f[0], f[1])
			}
		}
		if !t.Start.IsZero() {
			fmt.Fprintf(&b, " start=%s", t.Start.Format("2006-01-02T15:04:05"))
		}
		fmt.Fprintln(&b)
		for _, s := range t.Steps {
			sketchStep(&b, s)
		}
		if n := t.Notes; fmt.Sprint(n) != fmt.Sprint(Notes{}) {
			fmt.Fprintf(&b, "%+v\n", n)
		}
	}
	return b.String()
}

func sketchStep(b *strings.Builder, s graphstore.Step) {
	for _, m := range s.Before {
		mark := strings.ToUpper(string(m.Role[:1]))
		if m.Compaction {
			mark = "C"
		}
		fmt.Fprintf(b, "%s %s%s\n", mark, oneLine(m.Text), pictures(m.Images))
	}
	if s.Thought == "" && s.Thinking == "" && len(s.Calls) == 0 {
		return
	}
	b.WriteString("*")
	if s.Thinking != "" {
		fmt.Fprintf(b, " ?%s?", oneLine(s.Thinking))
	}
	if s.Thought != "" {
		b.WriteString(" " + oneLine(s.Thought))
	}
	b.WriteString("\n")
	for _, c := range s.Calls {
		fmt.Fprintf(b, "    %s %s ->", c.Name, oneLine(c.Args))
		switch o := c.Observation; {
		case o != nil:
			b.WriteString(" " + oneLine(o.Text) + pictures(o.Images))
			if o.Failed {
				b.WriteString(" !")
			}
			if o.ExitCode != nil {
				fmt.Fprintf(b, " #%d", *o.ExitCode)
			}
		case c.Joined:
			b.WriteString(" joined")
		default:
			b.WriteString(" open")
		}
		b.WriteString("\n")
	}
}

func oneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s)
}

func pictures(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" +%d", n)
}
