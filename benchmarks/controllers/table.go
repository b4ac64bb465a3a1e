package controllers

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTo writes the report as plain text.
func (r *Report) WriteTo(out io.Writer) (int64, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Controllers, measure %s: %d questions about steps of %d sessions; seed %d\n", r.Version, r.Questions, len(r.Manifest.Sessions), r.Options.Seed)
	fmt.Fprintf(&b, "%d of them have a literal parent among the candidates; of %d it is the newest.\n", r.Literal, r.Near)
	fmt.Fprintf(&b, "Rules have an edge to %s of the newest holders of the words that steps use.\n", share(r.Edges))
	r.parents(&b)
	r.costs(&b)
	r.summaries(&b)
	r.gains(&b)
	r.agreed(&b)
	b.WriteString(r.legend())
	return b.WriteTo(out)
}

func (r *Report) parents(b *bytes.Buffer) {
	table(b, "CONTROLLER\tPLANTED\tIN 3\tHIT@1\tHIT@3\tNONE\tNEAR @1\t@3\tFAR @1\t@3\tINVALID", func(row func(string, ...any)) {
		for _, c := range r.Rows {
			row("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d", c.Name, share(c.Planted), plain(c.Third), share(c.Hit), share(c.Hit3), plain(c.None),
				plain(c.NearHit), plain(c.NearHit3), plain(c.FarHit), plain(c.FarHit3), c.Wrong)
		}
	})
}

func (r *Report) costs(b *bytes.Buffer) {
	if !r.modelled() {
		return
	}
	table(b, "MODEL\tPARAMETERS\tDISK MB\tMEMORY MB\tMS\tTOKENS IN\tOUT\tHYBRID\tUNIFIED\tWINDOW+\tRECALL\tPROMPT ×\t− WINDOW:5", func(row func(string, ...any)) {
		for _, c := range r.Rows {
			if c.Kind == ByModel {
				row("%s\t%s\t%.0f\t%s\t%.0f\t%.0f\t%.0f\t%.0f %%\t%.0f %%\t%s\t%.3f\t%.2f\t%s", c.Name, c.Parameters, megabytes(c.Size), known(c.Memory), c.Millis, c.In, c.Out,
					100*c.Hybrid, 100*c.Unified, c.Plus.Window, c.Plus.Recall, c.Plus.Prompt, c.Plus.Gain.Signed(3))
			}
		}
	})
}

func (r *Report) summaries(b *bytes.Buffer) {
	// A model sums up alike however it is asked for parents.
	writers := map[string]Row{}
	var digests []string
	for _, c := range r.Rows {
		if _, there := writers[c.Digest]; c.Summaries != nil && !there {
			writers[c.Digest] = c
			digests = append(digests, c.Digest)
		}
	}
	if len(digests) == 0 {
		return
	}
	table(b, "SUMMARIES BY\tMADE-UP STEPS\tVALID\tWORDS\tINVENTED\tKEPT\tPASSED\tREAL STEPS\tREFUSED\tINVALID\tWORDS\tPASSED\tMS\tTOKENS IN\tOUT", func(row func(string, ...any)) {
		for _, digest := range digests {
			c := writers[digest]
			s, m := c.Summaries, c.Summaries.Made
			row("%s\t%d\t%d\t%d\t%d (%.0f %%)\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.0f\t%.0f", c.Name, m.Of, m.Valid, m.Words, m.Invented, 100*m.Share(), m.Kept, m.Passed,
				s.Asked, s.Refused, s.Invalid, s.Words, s.Passed, s.Millis, s.In, s.Out)
		}
	})
}

func (r *Report) gains(b *bytes.Buffer) {
	for _, policy := range graded {
		for _, e := range r.Evidence {
			if e.Policy == policy {
				fmt.Fprintf(b, "\n%s by rules: recall %.3f, lines %.3f, prompt %.2f ×, cost %.2f ×; with edges of others:", policy, e.Recall.Value, e.Lines.Value, e.PromptRatio.Value, e.CostRatio.Value)
			}
		}
		table(b, "EDGES\tSTEPS WITH ONE\tRECALL\tLINES\tPROMPT ×\tCOST ×\tHIT@1", func(row func(string, ...any)) {
			for _, m := range []mode{trusted, cascade} {
				for _, c := range r.Rows[1:] {
					g := c.Gain(policy, string(m))
					row("%s, %s\t%.0f %%\t%s\t%s\t%s\t%s\t%s", c.Name, m, 100*g.Asked, g.Recall.Signed(4), g.Lines.Signed(4), g.Prompt.Signed(3), g.Cost.Signed(3), g.Hit.Signed(3))
				}
			}
		})
	}
}

func (r *Report) agreed(b *bytes.Buffer) {
	table(b, "AGREEMENT\tFIRST CHOICE\tFIRST THREE", func(row func(string, ...any)) {
		for _, p := range r.Agreement {
			row("%s, %s\t%s\t%.2f", p.A, p.B, p.First.Text(2), p.Third)
		}
	})
}

// modelled reports whether a model was asked.
func (r *Report) modelled() bool { return r.Rows[len(r.Rows)-1].Kind == ByModel }

func table(b *bytes.Buffer, head string, rows func(row func(format string, a ...any))) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%s\n", head)
	rows(func(format string, a ...any) { fmt.Fprintf(t, format+"\n", a...) })
	_ = t.Flush() // into a buffer, which never fails
}

func share(s Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d %s", s.N, s.Of, s.Interval.Text(2))
}

func plain(s Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.Value)
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

func known(bytes int64) string {
	if bytes == 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f", megabytes(bytes))
}

func (r *Report) legend() string {
	return fmt.Sprintf(`
Planted: made-up sessions whose last step needs an id that one step printed; found by the first choice, or in three.
Hit: the first choice, or one of three, is a literal parent: the newest holder of a specific word that the step uses and
that nobody but observations had said. Near: where the newest candidate is one; far: where it is not. None: no choice.
Models see summaries alone, rules the words themselves. In brackets: 95 %% confidence intervals, by session but for planted.
Edges: differences to rules alone, paired by session. Trusted: the controller's choices are selected like what rules found, on
all steps that it was asked about. Cascade: asked for what rules leave open, and not trusted: nothing may get worse.
Hybrid: a question's tokens as a share of those of the agent's request under %s; unified: what they cost as a share of its
cost, if the agent's own model were asked (written tokens at %d times the price of read ones).
Window+: the window that costs no more prompt than window:5 and the controller's tokens a step; what could be had instead.
Agreement: share with the same first choice; Jaccard index of the first three.
`, graded[0], outputPrice)
}
