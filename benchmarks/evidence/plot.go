package evidence

import (
	"fmt"
	"image/color"
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
	// inks can be told apart by those who see few colours (Okabe and Ito).
	inks = []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
		color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
	}
)

const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 5 * vg.Inch
)

// plots draws recall over cost and over prompt, and one session over time, each as PNG and SVG.
func (r *Report) plots(dir string, results []Result) error {
	rows := r.Groups[0].Rows
	for _, p := range []struct {
		name, axis string
		x          func(Row) Interval
	}{
		{"recall-cost", "cost of a request, × " + Baseline, func(r Row) Interval { return r.CostRatio }},
		{"recall-prompt", "prompt tokens, × " + Baseline, func(r Row) Interval { return r.PromptRatio }},
	} {
		drawn, err := recallOver(rows, p.axis, p.x)
		if err != nil {
			return err
		}
		if err := save(drawn, dir, p.name); err != nil {
			return err
		}
	}
	drawn, err := r.overTime(results)
	if err != nil || drawn == nil {
		return err
	}
	return save(drawn, dir, "session")
}

func save(p *plot.Plot, dir, name string) error {
	for _, kind := range []string{".png", ".svg"} {
		if err := p.Save(plotWidth, plotHeight, filepath.Join(dir, name+kind)); err != nil {
			return err
		}
	}
	return nil
}

func blankPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = vg.Points(14)
	p.Title.Padding = vg.Points(8)
	p.BackgroundColor = color.White
	p.Legend.Padding = vg.Points(4)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(6), vg.Points(6)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return p
}

// recallOver draws a point a policy, the tested ones with their intervals, and joins the naive ones that no
// other naive one beats.
func recallOver(rows []Row, axis string, x func(Row) Interval) (*plot.Plot, error) {
	p := blankPlot("Evidence recall: what the next action takes that the context still holds", axis, "recall")
	var naive plotter.XYs
	for _, row := range rows {
		if row.Naive {
			naive = append(naive, plotter.XY{X: x(row).Value, Y: row.Recall.Value})
		}
	}
	if len(naive) > 0 {
		dots, err := plotter.NewScatter(naive)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: grey, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
		line, err := plotter.NewLine(best(naive))
		if err != nil {
			return nil, err
		}
		line.Color = grey
		p.Add(line, dots)
		p.Legend.Add("naive policies, the best joined", line, dots)
	}
	for i, row := range rows {
		if row.Naive {
			continue
		}
		if err := point(p, x(row), row.Recall, row.Policy, i); err != nil {
			return nil, err
		}
	}
	p.Legend.YOffs, p.Legend.XOffs = vg.Points(8), vg.Points(-8)
	p.Y.Max = 1.03
	p.Y.Min = max(0, p.Y.Min-0.03)
	p.Y.Tick.Marker = every(0.1)
	// A policy that rewrites its prompt at each step costs several times as much as the others, which lie
	// close together.
	p.X.Min, p.X.Max = max(0.05, p.X.Min)/1.05, p.X.Max*1.05
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = ratios{}
	return p, nil
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
func point(p *plot.Plot, x, y Interval, name string, i int) error {
	ink := inks[i%len(inks)]
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
	across.Color, along.Color = ink, ink
	dot, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dot.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: vg.Points(4), Shape: glyphs[i/len(inks)%len(glyphs)]}
	p.Add(across, along, dot)
	p.Legend.Add(name, dot)
	return nil
}

var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}

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

// overTime draws the prompts of the longest session, and where observations are paged out. It is nil where
// there is no request.
func (r *Report) overTime(results []Result) (*plot.Plot, error) {
	longest, largest := -1, 0
	for _, result := range results {
		for _, q := range result.Requests {
			if result.Policy == Baseline && q.Prompt > largest {
				longest, largest = result.Session, q.Prompt
			}
		}
	}
	if longest < 0 {
		return nil, nil
	}
	p := blankPlot("One session: "+r.Manifest.Sessions[longest].Name, "call", "prompt, thousands of tokens")
	i := 0
	for _, result := range results {
		if result.Session != longest || slices.Contains(r.Manifest.Naive, result.Policy) || len(result.Requests) == 0 {
			continue
		}
		if err := trace(p, result, inks[i%len(inks)]); err != nil {
			return nil, err
		}
		i++
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = round{}, round{}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(8), vg.Points(-8)
	p.Y.Min = 0
	return p, nil
}

// trace draws a policy's prompts over the calls, with a mark at each request that pages out.
func trace(p *plot.Plot, result Result, ink color.Color) error {
	var prompts, marks plotter.XYs
	out := 0
	for _, q := range result.Requests {
		at := plotter.XY{X: float64(q.Call), Y: float64(q.Prompt) / 1000}
		prompts = append(prompts, at)
		if q.PagedOut > 0 {
			out++
			marks = append(marks, at)
		}
	}
	line, err := plotter.NewLine(prompts)
	if err != nil {
		return err
	}
	line.Color, line.Width = ink, vg.Points(1.3)
	p.Add(line)
	if out == 0 {
		p.Legend.Add(result.Policy, line)
		return nil
	}
	p.Legend.Add(fmt.Sprintf("%s, pages out %d times", result.Policy, out), line)
	dots, err := plotter.NewScatter(marks)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}
