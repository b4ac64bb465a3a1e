package evidence

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTo writes the report as plain text.
func (r *Report) WriteTo(out io.Writer) (int64, error) {
	var b bytes.Buffer
	m := r.Manifest
	calls := 0
	for _, s := range m.Sessions {
		calls += s.Calls
	}
	fmt.Fprintf(&b, "Evidence, measure %s: %d sessions, %d calls", m.Measure, len(m.Sessions), calls)
	if m.First > 0 {
		fmt.Fprintf(&b, ", the first %d of each", m.First)
	}
	if m.Folds > 1 {
		fmt.Fprintf(&b, ", %d folds", m.Folds)
	}
	fmt.Fprintf(&b, "; seed %d\n", m.Seed)
	for _, g := range r.Groups {
		r.group(&b, g)
	}
	b.WriteString(r.legend())
	return b.WriteTo(out)
}

func (r *Report) group(b *bytes.Buffer, g Group) {
	all := g.Kind == "all"
	title := strings.ToUpper(g.Name[:1]) + g.Name[1:]
	if g.Kind == "length" {
		title = "Sessions of " + g.Name + " tokens"
	} else if g.Kind == "format" {
		title = "Format " + g.Name
	}
	fmt.Fprintf(b, "\n%s (%d)\n", title, g.Sessions)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	stable := ""
	if len(g.Rows) > 0 && g.Rows[0].Stability != nil {
		stable = "\tCHANGE"
	}
	fmt.Fprintf(t, "POLICY\tRECALL\tLINES\tSERVED\tPROMPT\tUNCACHED\tCOST\tPROMPT ×\tCOST ×\t%s/1K\tREREADS\tMS%s\n", r.unit(), stable)
	for _, row := range g.Rows {
		if row.Naive {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%s\t%s\t%.2f\t%.1f\t%.2f", row.Policy,
			of(row.Score.References, interval(row.Recall, 3)), of(row.Score.Lines, fmt.Sprintf("%.3f", row.Lines.Value)), of(row.Score.Steps, fmt.Sprintf("%.3f", row.Served.Value)),
			row.Prompt.Value, row.Uncached.Value, row.Cost.Value, interval(row.PromptRatio, 2), interval(row.CostRatio, 2), row.Score.Money(r.Prices), row.Rereads, row.Millis)
		if row.Stability != nil {
			fmt.Fprintf(t, "\t%.3f", row.Stability.Mean())
		}
		fmt.Fprintln(t)
	}
	flush(t)
	if all {
		differences(b, g.Differences)
	}
	frontier(b, g.Frontier)
}

// of leaves out a share of nothing.
func of(n int, share string) string {
	if n == 0 {
		return "–"
	}
	return share
}

func (r *Report) unit() string {
	if r.Prices.Unit == dollars {
		return dollars
	}
	return "MTOK"
}

func differences(b *bytes.Buffer, ds []Difference) {
	if len(ds) == 0 {
		return
	}
	fmt.Fprintf(b, "\nPaired differences\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "POLICIES\tRECALL\tLINES\tPROMPT ×\tCOST ×")
	for _, d := range ds {
		fmt.Fprintf(t, "%s − %s\t%s\t%s\t%s\t%s\n", d.A, d.B, signed(d.Recall, 3), signed(d.Lines, 3), signed(d.Prompt, 2), signed(d.Cost, 2))
	}
	flush(t)
}

func frontier(b *bytes.Buffer, rivals []Rival) {
	if len(rivals) == 0 {
		return
	}
	fmt.Fprintf(b, "\nThe best naive policy that costs no more\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "POLICY\tNAIVE\tITS RECALL\tLEAD OVER IT")
	for _, r := range rivals {
		if r.Naive == "" {
			fmt.Fprintf(t, "%s\tnone is so cheap\n", r.Policy)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%s\n", r.Policy, r.Naive, r.Recall, signed(r.Lead, 3))
	}
	flush(t)
}

// flush writes a table into a buffer, which never fails.
func flush(t *tabwriter.Writer) { _ = t.Flush() }

func interval(i Interval, digits int) string {
	if i.Low == i.High {
		return fmt.Sprintf("%.*f", digits, i.Value)
	}
	return fmt.Sprintf("%.*f [%.*f, %.*f]", digits, i.Value, digits, i.Low, digits, i.High)
}

func signed(i Interval, digits int) string {
	if i.Low == i.High {
		return fmt.Sprintf("%+.*f", digits, i.Value)
	}
	return fmt.Sprintf("%+.*f [%+.*f, %+.*f]", digits, i.Value, digits, i.Low, digits, i.High)
}

func (r *Report) legend() string {
	p := r.Prices
	return fmt.Sprintf(`
Recall: of what the real next action takes from old observations alone, the share that the context held; lines: of its
whole lines; served: steps whose context held all. The first %d calls of a session count for cost only. In brackets:
95 %% confidence intervals by session, %d draws.
Prompt, uncached: tokens of a request (characters / %d), and those outside the prefix in common with the request before.
Cost: in tokens at the input price; cached reads at %g, the rest at %g. ×: ratio to %s.
%s/1K: for a thousand requests, %s prices (%.4g cached, %.4g uncached for a million; %s).
Rereads: an estimate of how many old observations the agent would have had to get again, in 100 requests.
MS: milliseconds to keep a step and weave its context, both processors at work.
`, WarmUp, resamples, charsPerToken, Relative.Read, Relative.Write, Baseline, r.unit(), p.Name, p.Read, p.Write, p.Unit)
}
