package evidence

import (
	"bytes"
	"fmt"
	"io"
	"slices"
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
	if m.Budget > 0 {
		fmt.Fprintf(&b, ", a budget of %d tokens", m.Budget)
	}
	fmt.Fprintf(&b, "; seed %d\n", m.Seed)
	for _, g := range r.Groups {
		r.group(&b, g)
	}
	b.WriteString(r.legend())
	return b.WriteTo(out)
}

func (r *Report) group(b *bytes.Buffer, g Group) {
	title := strings.ToUpper(g.Name[:1]) + g.Name[1:]
	if g.Kind == "length" {
		title = "Sessions of " + g.Name + " tokens"
	} else if g.Kind == "format" {
		title = "Format " + g.Name
	}
	fmt.Fprintf(b, "\n%s (%d)", title, g.Sessions)
	if score := g.Rows[0].Score; r.Manifest.Budget > 0 {
		fmt.Fprintf(b, "; what must stay fits in %d of %d requests", score.Requests, score.Requests+score.Unfit)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "POLICY\tRECALL\tLINES\tSERVED\tPROMPT\tUNCACHED\tCOST\tPROMPT ×\tCOST ×\t%s/1K\tREREADS\tMS%s\n", r.unit(), r.further(g.Rows[0], func(c further) string { return c.head }))
	for _, row := range g.Rows {
		if row.Naive || g.has(whole(row.Policy)) && whole(row.Policy) != row.Policy {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%s\t%s\t%.2f\t%.1f\t%.2f%s\n", row.Policy,
			of(row.Score.References, row.Recall.Text(3)), of(row.Score.Lines, figure(row.Lines)), of(row.Score.Steps, figure(row.Served)),
			row.Prompt.Value, row.Uncached.Value, row.Cost.Value, row.PromptRatio.Text(2), row.CostRatio.Text(2), row.Score.Money(r.Prices), row.Rereads, row.Millis,
			r.further(row, func(c further) string { return c.figure(row) }))
	}
	flush(t)
	if g.Kind != "format" {
		ablations(b, g)
	}
	if g.Kind == "all" {
		differences(b, g.Differences)
	}
	frontier(b, g.Frontier)
}

// further is a column that is only there where it was measured.
type further struct {
	head   string
	there  func(r *Report, row Row) bool
	figure func(row Row) string
}

var furthers = []further{
	{"OVER", func(r *Report, _ Row) bool { return r.Manifest.Budget > 0 }, func(row Row) string { return fmt.Sprint(row.Score.Over) }},
	{"EXCEEDED", func(r *Report, _ Row) bool { return r.Manifest.Budget > 0 }, func(row Row) string { return fmt.Sprint(row.Score.Exceeded) }},
	{"CHANGE", func(_ *Report, row Row) bool { return row.Stability != nil }, func(row Row) string { return fmt.Sprintf("%.3f", row.Stability.Mean()) }},
	{"RERUN", func(_ *Report, row Row) bool { return row.Stability != nil && row.Stability.Pairs > 0 }, func(row Row) string { return fmt.Sprintf("%.3f", row.Stability.Rerun.Mean()) }},
}

func (r *Report) further(row Row, cell func(further) string) string {
	out := ""
	for _, c := range furthers {
		if c.there(r, row) {
			out += "\t" + cell(c)
		}
	}
	return out
}

func figure(i Interval) string { return fmt.Sprintf("%.3f", i.Value) }

// has reports whether a policy was measured.
func (g Group) has(policy string) bool {
	return slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Policy == policy })
}

// varies reports whether there are variants among the policies.
func (g Group) varies() bool {
	return slices.ContainsFunc(g.Rows, func(r Row) bool { return whole(r.Policy) != r.Policy })
}

// ablations says of each variant how it does, and how it differs from its whole.
func ablations(b *bytes.Buffer, g Group) {
	rows := map[string]Row{}
	for _, row := range g.Rows {
		rows[row.Policy] = row
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	before := ""
	for _, d := range g.Differences {
		if whole(d.A) == d.A {
			continue
		}
		all, row := rows[d.B], rows[d.A]
		if before != d.B {
			before = d.B
			fmt.Fprintf(t, "\nVARIANT\tRECALL\tLINES\tPROMPT ×\tCOST ×\t− WHOLE: RECALL\tLINES\tPROMPT ×\tCOST ×\n%s\t%s\t%s\t%s\t%s\t\t\t\t\n", d.B,
				of(all.Score.References, figure(all.Recall)), of(all.Score.Lines, figure(all.Lines)), figure(all.PromptRatio), figure(all.CostRatio))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", strings.TrimPrefix(d.A, d.B+" "),
			of(row.Score.References, figure(row.Recall)), of(row.Score.Lines, figure(row.Lines)), figure(row.PromptRatio), figure(row.CostRatio),
			d.Recall.Signed(3), d.Lines.Signed(3), d.Prompt.Signed(3), d.Cost.Signed(3))
	}
	flush(t)
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
	ds = slices.DeleteFunc(slices.Clone(ds), func(d Difference) bool { return whole(d.A) != d.A })
	if len(ds) == 0 {
		return
	}
	fmt.Fprintf(b, "\nPaired differences\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "POLICIES\tRECALL\tLINES\tPROMPT ×\tCOST ×")
	for _, d := range ds {
		fmt.Fprintf(t, "%s − %s\t%s\t%s\t%s\t%s\n", d.A, d.B, d.Recall.Signed(3), d.Lines.Signed(3), d.Prompt.Signed(2), d.Cost.Signed(2))
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
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%s\n", r.Policy, r.Naive, r.Recall, r.Lead.Signed(3))
	}
	flush(t)
}

// flush writes a table into a buffer, which never fails.
func flush(t *tabwriter.Writer) { _ = t.Flush() }

func (r *Report) legend() string {
	p := r.Prices
	more := ""
	if r.Manifest.Budget > 0 {
		more += fmt.Sprintf(`
Budget: what must stay are messages, thoughts and actions, the newest %d observations, and %d tokens for each other one.
All figures are over the requests where that fits, the same for all policies. Over: requests above the budget, of all;
exceeded: of those where what must stay fits.`, newestKept, markTokens)
	}
	if s := r.Groups[0].Rows[0].Stability; s != nil {
		more += fmt.Sprintf(`
Change: Jaccard distance of the observations that are whole, when a step is dropped, parallel calls change places or
steps of no consequence come between: 0 none, 1 all. Rerun: of the files in sight at the same progress of two runs of
one task, of those that both have seen; pairs of runs: %d.`, s.Pairs)
	}
	if r.Groups[0].varies() {
		more += `
Variants: a part of the policy left out or set otherwise, against the whole, paired by session. m: parents walked of a
step, with 1 the graph is a tree, with more a DAG; W: ancestors. auto, structural, recency: what a working set goes by.`
	}
	return fmt.Sprintf(`
Recall: of what the real next action takes from old observations alone, the share that the context held; lines: of its
whole lines; served: steps whose context held all. The first %d calls of a session count for cost only. In brackets:
95 %% confidence intervals by session, %d draws.
Prompt, uncached: tokens of a request (characters / %d), and those outside the prefix in common with the request before.
Cost: in tokens at the input price; cached reads at %g, the rest at %g. ×: ratio to %s.
%s/1K: for a thousand requests, %s prices (%.4g cached, %.4g uncached for a million; %s).
Rereads: an estimate of how many old observations the agent would have had to get again, in 100 requests.
MS: milliseconds to keep a step and weave its context, both processors at work.%s
`, WarmUp, Resamples, charsPerToken, Relative.Read, Relative.Write, Baseline, r.unit(), p.Name, p.Read, p.Write, p.Unit, more)
}
