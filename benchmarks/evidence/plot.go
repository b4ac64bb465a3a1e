package evidence

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	grey  = color.Gray{Y: 170}
	faint = color.Gray{Y: 225}
	// inks can be told apart on white, the first seven also by those who see few colours (Okabe and Ito).
	inks = []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
		color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
		color.RGBA{106, 61, 154, 255}, color.RGBA{140, 86, 75, 255}, color.RGBA{128, 128, 0, 255},
	}
	// Beyond the inks, policies are told apart by how their lines are broken, and all along by the shapes of points.
	dashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1), vg.Points(2)}}
	glyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
)

func stroke(i int) draw.LineStyle {
	return draw.LineStyle{Color: inks[i%len(inks)], Width: vg.Points(1.3), Dashes: dashes[i/len(inks)%len(dashes)]}
}

func dot(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: inks[i%len(inks)], Radius: vg.Points(4), Shape: glyphs[i%len(glyphs)]}
}

const (
	plotWidth  = 7 * vg.Inch // without the legend
	plotHeight = 5 * vg.Inch
	margin     = 10 // points
)

// drawing is one picture: plots of one width, one above the other, and beside them what their signs mean.
type drawing struct {
	name   string
	plots  []*plot.Plot
	height vg.Length // of a plot
	legend plot.Legend
}

func newDrawing(name string, height vg.Length) *drawing {
	d := &drawing{name: name, height: height, legend: plot.NewLegend()}
	d.legend.Top, d.legend.Left = true, true
	d.legend.Padding = vg.Points(3)
	return d
}

// save writes the drawing as PNG and SVG.
func (d *drawing) save(dir string) error {
	for _, kind := range []string{"png", "svg"} {
		// What the legend takes is known only on a canvas.
		measure, err := draw.NewFormattedCanvas(plotWidth, plotHeight, kind)
		if err != nil {
			return err
		}
		size := d.legend.Rectangle(draw.New(measure)).Size()
		wide, high := plotWidth+size.X+3*margin, max(vg.Length(len(d.plots))*d.height, size.Y)+2*margin
		canvas, err := draw.NewFormattedCanvas(wide, high, kind)
		if err != nil {
			return err
		}
		whole := draw.New(canvas)
		whole.SetColor(color.White)
		whole.Fill(whole.Rectangle.Path())
		inner := draw.Crop(whole, margin, -margin, margin, -margin)
		d.legend.Draw(draw.Crop(inner, plotWidth+margin, 0, 0, 0))
		column := make([][]*plot.Plot, len(d.plots))
		for i, p := range d.plots {
			column[i] = []*plot.Plot{p}
		}
		tiles := draw.Tiles{Rows: len(d.plots), Cols: 1}
		for i, c := range plot.Align(column, tiles, draw.Crop(inner, 0, plotWidth-inner.Size().X, 0, 0)) {
			d.plots[i].Draw(c[0])
		}
		err = WriteFile(filepath.Join(dir, d.name+"."+kind), func(w io.Writer) error {
			_, err := canvas.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

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
		d := newDrawing(p.name, plotHeight)
		if err := d.recallOver(rows, p.axis, p.x); err != nil {
			return err
		}
		if err := d.save(dir); err != nil {
			return err
		}
	}
	return r.overTime(dir, results)
}

func blankPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = vg.Points(14)
	p.Title.Padding = vg.Points(8)
	p.BackgroundColor = color.White
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(6), vg.Points(6)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
}

// recallOver draws a point a policy, the tested ones with their intervals, and joins the naive ones that no
// other naive one beats.
func (d *drawing) recallOver(rows []Row, axis string, x func(Row) Interval) error {
	p := blankPlot("Evidence recall: what the next action takes that the context still holds", axis, "recall")
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
		dots.GlyphStyle = draw.GlyphStyle{Color: grey, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
		line, err := plotter.NewLine(best(naive))
		if err != nil {
			return err
		}
		line.Color = grey
		p.Add(line, dots)
		d.legend.Add("naive, the best joined", line, dots)
	}
	for i, row := range rows {
		if row.Naive || x(row).Value == 0 {
			continue // there is no zero on a logarithmic axis: no request was counted
		}
		if err := d.point(p, x(row), row.Recall, row.Policy, i); err != nil {
			return err
		}
	}
	if p.X.Min > p.X.Max { // nothing was drawn
		p.X.Min, p.X.Max, p.Y.Min = 0.5, 1, 0
	}
	p.Y.Max = 1.03
	p.Y.Min = max(0, p.Y.Min-0.03)
	p.Y.Tick.Marker = every(0.1)
	// A policy that rewrites its prompt at each step costs several times as much as the others, which lie
	// close together.
	p.X.Min, p.X.Max = max(0.05, p.X.Min)/1.05, p.X.Max*1.05
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = ratios{}
	d.plots = append(d.plots, p)
	return nil
}

// every marks an axis at each multiple of a number.
type every float64

// Ticks is plot.Ticker's.
func (e every) Ticks(low, high float64) (out []plot.Tick) {
	for i := math.Ceil(low / float64(e)); i*float64(e) <= high; i++ {
		out = append(out, plot.Tick{Value: i * float64(e), Label: strconv.FormatFloat(math.Round(i*float64(e)*100)/100, 'f', -1, 64)})
	}
	return out
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
	return every(step).Ticks(low, high)
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
func (d *drawing) point(p *plot.Plot, x, y Interval, name string, i int) error {
	x.Low = max(x.Low, x.Value/10) // of a draw without requests it is 0
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
	at.GlyphStyle = dot(i)
	// Where many lie close together the points are to be seen, not the intervals.
	ink := color.NRGBAModel.Convert(at.Color).(color.NRGBA)
	ink.A = 110
	across.Color, along.Color = ink, ink
	p.Add(across, along, at)
	d.legend.Add(name, at)
	return nil
}

// best are the points that no other beats in both directions, from left to right.
func best(all plotter.XYs) plotter.XYs {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b plotter.XY) int {
		if a.X != b.X {
			return sign(a.X - b.X)
		}
		return sign(b.Y - a.Y)
	})
	var out plotter.XYs
	for _, xy := range sorted {
		if len(out) == 0 || xy.Y > out[len(out)-1].Y {
			out = append(out, xy)
		}
	}
	return out
}

func sign(f float64) int {
	switch {
	case f < 0:
		return -1
	case f > 0:
		return 1
	}
	return 0
}
