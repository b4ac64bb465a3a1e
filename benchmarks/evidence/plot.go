package evidence

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ctxweaver/ctxweaver/benchmarks/plots"
)

const plotHeight = 5 * vg.Inch

// plots draws recall over cost and over prompt, and one session over time.
func (r *Report) plots(dir string, results []Result) error {
	rows := r.Groups[0].Rows
	for _, p := range []struct {
		name, axis string
		x          func(Row) Interval
	}{
		{"recall-cost", "cost of a request, × " + Baseline, func(r Row) Interval { return r.CostRatio }},
		{"recall-prompt", "prompt tokens, × " + Baseline, func(r Row) Interval { return r.PromptRatio }},
	} {
		f := plots.NewFigure(plotHeight)
		if err := recallOver(f, rows, p.axis, p.x); err != nil {
			return err
		}
		if err := f.Save(filepath.Join(dir, p.name)); err != nil {
			return err
		}
	}
	return r.overTime(dir, results)
}

// recallOver draws a point a policy, the tested ones with their intervals, and joins the naive ones that no
// other naive one beats.
func recallOver(f *plots.Figure, rows []Row, axis string, x func(Row) Interval) error {
	p := f.Add("Evidence recall: what the next action takes that the context still holds", axis, "recall")
	var naive plotter.XYs
	for _, row := range rows {
		if row.Naive && x(row).Value > 0 {
			naive = append(naive, plotter.XY{X: x(row).Value, Y: row.Recall.Value})
		}
	}
	if len(naive) > 0 {
		dots, err := plotter.NewScatter(naive)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: plots.Grey, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
		line, err := plotter.NewLine(best(naive))
		if err != nil {
			return err
		}
		line.Color = plots.Grey
		p.Add(line, dots)
		f.Legend.Add("naive, the best joined", line, dots)
	}
	for i, row := range rows {
		if row.Naive || x(row).Value == 0 {
			continue // there is no zero on a logarithmic axis: no request was counted
		}
		if err := point(f, p, x(row), row.Recall, row.Policy, i); err != nil {
			return err
		}
	}
	if p.X.Min > p.X.Max { // nothing was drawn
		p.X.Min, p.X.Max, p.Y.Min = 0.5, 1, 0
	}
	p.Y.Max = 1.03
	p.Y.Min = max(0, p.Y.Min-0.03)
	p.Y.Tick.Marker = plots.Every(0.1)
	// A policy that rewrites its prompt at each step costs several times as much as the others, which lie
	// close together.
	p.X.Min, p.X.Max = max(0.05, p.X.Min)/1.05, p.X.Max*1.05
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = ratios{}
	return nil
}

// round marks an axis at some five round numbers.
type round struct{}

// Ticks is plot.Ticker's.
func (round) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(max(1, high-low))))
	for _, finer := range []float64{2, 2.5, 2} {
		if (high-low)/step < 5 && step > 1 {
			step /= finer
		}
	}
	return plots.Every(step).Ticks(low, high)
}

// ratios marks a logarithmic axis at ratios that are easy to read.
type ratios struct{}

// Ticks is plot.Ticker's.
func (ratios) Ticks(low, high float64) (out []plot.Tick) {
	for _, v := range []float64{0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 3, 4, 5, 7, 10} {
		if v >= low && v <= high {
			out = append(out, plot.Tick{Value: v, Label: fmt.Sprint(v)})
		}
	}
	return out
}

// point draws a tested policy with its intervals in both directions.
func point(f *plots.Figure, p *plot.Plot, x, y Interval, name string, i int) error {
	xys := plotter.XYs{{X: x.Value, Y: y.Value}}
	bars := struct {
		plotter.XYs
		plotter.XErrors
		plotter.YErrors
	}{xys, plotter.XErrors{{Low: x.Low - x.Value, High: x.High - x.Value}}, plotter.YErrors{{Low: y.Low - y.Value, High: y.High - y.Value}}}
	across, err := plotter.NewXErrorBars(bars)
	if err != nil {
		return err
	}
	along, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return err
	}
	at, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	at.GlyphStyle = plots.Point(i)
	// Where many lie close together the points are to be seen, not the intervals.
	ink := color.NRGBAModel.Convert(at.Color).(color.NRGBA)
	ink.A = 110
	across.Color, along.Color = ink, ink
	p.Add(across, along, at)
	f.Legend.Add(name, at)
	return nil
}

// best are the points that no other beats in both directions, from left to right.
func best(all plotter.XYs) plotter.XYs {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b plotter.XY) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(b.Y, a.Y)) })
	var out plotter.XYs
	for _, xy := range sorted {
		if len(out) == 0 || xy.Y > out[len(out)-1].Y {
			out = append(out, xy)
		}
	}
	return out
}
