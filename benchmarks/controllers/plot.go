package controllers

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

var (
	faint = color.Gray{Y: 225}
	// inks can be told apart also by those who see few colours (Okabe and Ito).
	inks = []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
		color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
	}
	glyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
	// dashes are of the lines of those that need no model.
	dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)}, {vg.Points(8), vg.Points(3), vg.Points(2), vg.Points(3)}}
)

const (
	plotWidth  = 6.5 * vg.Inch // without the legend
	plotHeight = 3.6 * vg.Inch
	margin     = 10 // points
)

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

// quality draws two plots, one above the other, and beside them what their signs mean.
func (r *Report) quality(path, axis string, x func(Row) float64) error {
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	var column [][]*plot.Plot
	for i, kind := range []struct {
		title string
		y     func(Row) Share
	}{
		{"Real steps: the first choice is a literal parent", func(row Row) Share { return row.Hit }},
		{"Planted chains: the first choice is the step that printed the id", func(row Row) Share { return row.Planted }},
	} {
		p := blank(kind.title)
		signs, err := r.draw(p, x, kind.y)
		if err != nil {
			return err
		}
		column = append(column, []*plot.Plot{p})
		if i == 0 {
			for k, row := range r.Rows {
				legend.Add(row.Name, signs[k])
			}
			continue
		}
		p.X.Label.Text = axis
	}
	for _, kind := range []string{"png", "svg"} {
		if err := save(path+"."+kind, kind, column, legend); err != nil {
			return err
		}
	}
	return nil
}

func blank(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = title, "share"
	p.Title.Padding, p.X.Label.Padding, p.Y.Label.Padding = vg.Points(6), vg.Points(6), vg.Points(6)
	p.BackgroundColor = color.White
	p.Y.Min, p.Y.Max = 0, 1.03
	p.Y.Tick.Marker = fifths{}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, octaves{}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
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
		dot.GlyphStyle = draw.GlyphStyle{Color: inks[points%len(inks)], Radius: vg.Points(4.5), Shape: glyphs[points%len(glyphs)]}
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

func save(path, kind string, column [][]*plot.Plot, legend plot.Legend) error {
	high := vg.Length(len(column)) * plotHeight
	measure, err := draw.NewFormattedCanvas(plotWidth, plotHeight, kind)
	if err != nil {
		return err
	}
	wide := legend.Rectangle(draw.New(measure)).Size().X // known only on a canvas
	canvas, err := draw.NewFormattedCanvas(plotWidth+wide+3*margin, high+2*margin, kind)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	inner := draw.Crop(whole, margin, -margin, margin, -margin)
	legend.Draw(draw.Crop(inner, plotWidth+margin, 0, 0, 0))
	tiles := draw.Tiles{Rows: len(column), Cols: 1, PadY: vg.Points(8)}
	for i, c := range plot.Align(column, tiles, draw.Crop(inner, 0, plotWidth-inner.Size().X, 0, 0)) {
		column[i][0].Draw(c[0])
	}
	return evidence.WriteFile(path, func(w io.Writer) error {
		_, err := canvas.WriteTo(w)
		return err
	})
}

// fifths marks an axis from 0 to 1.
type fifths struct{}

// Ticks is plot.Ticker's.
func (fifths) Ticks(low, high float64) (out []plot.Tick) {
	for i := range 6 {
		if v := float64(i) / 5; v >= low && v <= high {
			out = append(out, plot.Tick{Value: v, Label: fmt.Sprint(v)})
		}
	}
	return out
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
