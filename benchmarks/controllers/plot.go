package controllers

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/ctxweaver/ctxweaver/benchmarks/plots"
)

// dashes are of the lines of those that need no model.
var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)}, {vg.Points(8), vg.Points(3), vg.Points(2), vg.Points(3)}}

const plotHeight = 3.6 * vg.Inch

// plots draws how well models choose over their size and over the time they take, against those that need none.
func (r *Report) plots(dir string) error {
	if !r.modelled() {
		return nil
	}
	for _, p := range []struct {
		name, axis string
		x          func(Row) float64
	}{
		{"quality-size", "size on disk, MB", func(row Row) float64 { return megabytes(row.Size) }},
		{"quality-latency", "a question, milliseconds (median)", func(row Row) float64 { return row.Millis }},
	} {
		if err := r.quality(filepath.Join(dir, p.name), p.axis, p.x); err != nil {
			return err
		}
	}
	return nil
}

// quality draws two plots, one above the other.
func (r *Report) quality(path, axis string, x func(Row) float64) error {
	f := plots.NewFigure(plotHeight)
	for _, kind := range []struct {
		title string
		y     func(Row) Share
	}{
		{"Real steps: the first choice is a literal parent", func(row Row) Share { return row.Hit }},
		{"Planted chains: the first choice is the step that printed the id", func(row Row) Share { return row.Planted }},
	} {
		p := f.Add(kind.title, "", "share")
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 1.03, plots.Every(0.2)
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, octaves{}
		signs, err := r.draw(p, x, kind.y)
		if err != nil {
			return err
		}
		if len(f.Plots) == 1 {
			for i, row := range r.Rows {
				f.Legend.Add(row.Name, signs[i])
			}
		}
	}
	f.Plots[len(f.Plots)-1].X.Label.Text = axis
	return f.Save(path)
}

// draw adds a line for each controller without a model, and a point with its interval for each model.
func (r *Report) draw(p *plot.Plot, x func(Row) float64, y func(Row) Share) ([]plot.Thumbnailer, error) {
	low, high := math.Inf(1), 0.0
	for _, row := range r.Rows {
		if row.Kind == ByModel {
			low, high = min(low, max(x(row), 0.01)), max(high, x(row), 0.01)
		}
	}
	low, high = low/1.6, high*1.6
	signs := make([]plot.Thumbnailer, len(r.Rows))
	points := 0
	for i, row := range r.Rows {
		share := y(row)
		if row.Kind != ByModel {
			line, err := plotter.NewLine(plotter.XYs{{X: low, Y: share.Value}, {X: high, Y: share.Value}})
			if err != nil {
				return nil, err
			}
			line.Color, line.Width, line.Dashes = color.Gray{Y: 110}, vg.Points(1.2), dashes[i%len(dashes)]
			p.Add(line)
			signs[i] = line
			continue
		}
		at := plotter.XYs{{X: max(x(row), 0.01), Y: share.Value}}
		dot, err := plotter.NewScatter(at)
		if err != nil {
			return nil, err
		}
		dot.GlyphStyle = plots.Point(points)
		bars, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{at, plotter.YErrors{{Low: share.Low - share.Value, High: share.High - share.Value}}})
		if err != nil {
			return nil, err
		}
		bars.Color = dot.Color
		p.Add(bars, dot)
		signs[i] = dot
		points++
	}
	p.X.Min, p.X.Max = low, high
	return signs, nil
}

// octaves marks a logarithmic axis at round numbers.
type octaves struct{}

// Ticks is plot.Ticker's.
func (octaves) Ticks(low, high float64) (out []plot.Tick) {
	for ten := math.Pow(10, math.Floor(math.Log10(low))); ten <= high; ten *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if v := n * ten; v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: fmt.Sprint(math.Round(v*1000) / 1000)})
			}
		}
	}
	return out
}
