package evidence

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ctxweaver/ctxweaver/benchmarks/plots"
)

// overTime draws the longest session under each tested policy: its prompts, and what becomes of its observations.
func (r *Report) overTime(dir string, results []Result) error {
	session := longest(results)
	if session < 0 {
		return errors.Join(discard(dir, "session"), discard(dir, "paging"))
	}
	prompts, paging := plots.NewFigure(plotHeight), plots.NewFigure(panelHeight)
	p := prompts.Add("One session: "+r.Manifest.Sessions[session].Name, "call", "prompt, thousands of tokens")
	drawn := 0
	for _, result := range results {
		if result.Session != session || slices.Contains(r.Manifest.Naive, result.Policy) || len(result.Requests) == 0 {
			continue
		}
		if err := trace(prompts, p, result, drawn); err != nil {
			return err
		}
		drawn++
		if result.Policy == Baseline || !result.woven() {
			continue // it keeps all, or nobody knows what became of its observations
		}
		if err := panel(paging, result); err != nil {
			return err
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = round{}, round{}
	p.Y.Min = 0
	if err := prompts.Save(filepath.Join(dir, "session")); err != nil {
		return err
	}
	if len(paging.Plots) == 0 {
		return discard(dir, "paging") // of an earlier run
	}
	first, last := paging.Plots[0], paging.Plots[len(paging.Plots)-1]
	first.Title.Text = p.Title.Text + "\n" + first.Title.Text
	last.X.Label.Text, last.X.Tick.Marker = "call", round{}
	return paging.Save(filepath.Join(dir, "paging"))
}

// woven reports whether the contexts were the engine's own.
func (r Result) woven() bool {
	return slices.ContainsFunc(r.Requests, func(q Request) bool { return q.Tokens > 0 })
}

// discard removes a figure, if there is one.
func discard(dir, name string) error {
	for _, kind := range []string{".png", ".svg"} {
		if err := os.Remove(filepath.Join(dir, name+kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// longest is the session of the largest prompt, -1 where there is no request.
func longest(results []Result) int {
	session, largest := -1, 0
	for _, result := range results {
		for _, q := range result.Requests {
			if result.Policy == Baseline && q.Prompt > largest {
				session, largest = result.Session, q.Prompt
			}
		}
	}
	return session
}

// trace draws a policy's prompts over the calls.
func trace(f *plots.Figure, p *plot.Plot, result Result, i int) error {
	var prompts plotter.XYs
	for _, q := range result.Requests {
		prompts = append(prompts, plotter.XY{X: float64(q.Call), Y: float64(q.Prompt) / 1000})
	}
	line, err := plotter.NewLine(prompts)
	if err != nil {
		return err
	}
	line.LineStyle = plots.Line(i)
	p.Add(line)
	f.Legend.Add(result.Policy, line)
	return nil
}

const panelHeight = 1.7 * vg.Inch

// panel adds what becomes of a policy's observations at each call.
func panel(f *plots.Figure, result Result) error {
	first := len(f.Plots) == 0
	p := f.Add(result.Policy, "", "observations")
	p.Title.TextStyle.Font.Size, p.Title.Padding = vg.Points(11), vg.Points(3)
	p.X.Tick.Marker = unmarked{round{}}
	p.Y.Scale, p.Y.Tick.Marker = roots{}, counts{}
	var shown plotter.XYs
	var out, in, used stems
	for _, q := range result.Requests {
		at := func(n int) plotter.XY { return plotter.XY{X: float64(q.Call), Y: float64(n)} }
		shown, out.ends, in.ends, used.ends = append(shown, at(q.Shown)), append(out.ends, at(-q.PagedOut)), append(in.ends, at(q.PagedIn)), append(used.ends, at(q.Used))
	}
	line, err := plotter.NewLine(shown)
	if err != nil {
		return err
	}
	line.StepStyle, line.Color, line.Width = plotter.PostStep, plots.Grey, vg.Points(1.5)
	out.style = draw.LineStyle{Color: plots.Ink(1), Width: vg.Points(1.5)}
	in.style = draw.LineStyle{Color: plots.Ink(5), Width: vg.Points(2)}
	used.style = draw.LineStyle{Color: plots.Ink(6), Width: vg.Points(1)}
	p.Add(line, out, in, used)
	if first {
		f.Legend.Add("whole in their place", line)
		f.Legend.Add("paged out", out)
		f.Legend.Add("paged in", in)
		f.Legend.Add("used: a call takes from\nwhat is paged in", used)
	}
	return nil
}

// roots is a scale on which a few can be seen beside many: by the square root, on both sides of zero.
type roots struct{}

// Normalize is plot.Normalizer's.
func (roots) Normalize(low, high, v float64) float64 {
	root := func(f float64) float64 { return math.Copysign(math.Sqrt(math.Abs(f)), f) }
	return (root(v) - root(low)) / (root(high) - root(low))
}

// counts marks an axis of that scale.
type counts struct{}

// Ticks is plot.Ticker's.
func (counts) Ticks(low, high float64) (out []plot.Tick) {
	for _, n := range []float64{-200, -100, -50, -20, -5, 0, 5, 20, 50, 100, 200} {
		if n >= low && n <= high {
			out = append(out, plot.Tick{Value: n, Label: strconv.Itoa(int(math.Abs(n)))})
		}
	}
	return out
}

// unmarked leaves the labels to a plot further down.
type unmarked struct{ plot.Ticker }

// Ticks is plot.Ticker's.
func (u unmarked) Ticks(low, high float64) []plot.Tick {
	out := u.Ticker.Ticks(low, high)
	for i := range out {
		out[i].Label = ""
	}
	return out
}

// stems are upright lines from zero.
type stems struct {
	ends  plotter.XYs
	style draw.LineStyle
}

// Plot is plot.Plotter's.
func (s stems) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, e := range s.ends {
		if e.Y != 0 {
			c.StrokeLine2(s.style, x(e.X), y(0), x(e.X), y(e.Y))
		}
	}
}

// DataRange is plot.DataRanger's.
func (s stems) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(s.ends) }

// Thumbnail is plot.Thumbnailer's.
func (s stems) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(s.style, c.Center().X, c.Min.Y, c.Center().X, c.Max.Y)
}
