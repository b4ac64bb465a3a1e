// Package plots draws the figures of the benchmarks, so that all look alike: plots of one width, one above the other,
// and beside them what their signs mean.
package plots

import (
	"errors"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	width  = 7 * vg.Inch // of a plot
	margin = 10          // points
)

// Figure is one picture.
type Figure struct {
	Plots  []*plot.Plot // one below the other
	Legend plot.Legend
	height vg.Length // of a plot
}

// NewFigure is a figure without a plot yet, each of which will have this height.
func NewFigure(height vg.Length) *Figure {
	f := &Figure{Legend: plot.NewLegend(), height: height}
	f.Legend.Top, f.Legend.Left = true, true
	f.Legend.Padding = vg.Points(3)
	return f
}

// Add puts an empty plot with a grid under those that are there.
func (f *Figure) Add(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size, p.Title.Padding = vg.Points(14), vg.Points(8)
	p.BackgroundColor = color.White
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(6), vg.Points(6)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	f.Plots = append(f.Plots, p)
	return p
}

// Save writes the figure as PNG and SVG, to the path with these endings.
func (f *Figure) Save(path string) error {
	for _, kind := range []string{"png", "svg"} {
		canvas, err := f.draw(kind)
		if err != nil {
			return err
		}
		file, err := os.Create(path + "." + kind)
		if err != nil {
			return err
		}
		_, err = canvas.WriteTo(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (f *Figure) draw(kind string) (vg.CanvasWriterTo, error) {
	measure, err := draw.NewFormattedCanvas(width, f.height, kind) // what the legend takes is known only on a canvas
	if err != nil {
		return nil, err
	}
	legend := f.Legend.Rectangle(draw.New(measure)).Size()
	high := max(vg.Length(len(f.Plots))*f.height, legend.Y)
	canvas, err := draw.NewFormattedCanvas(width+legend.X+3*margin, high+2*margin, kind)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	inner := draw.Crop(whole, margin, -margin, margin, -margin)
	f.Legend.Draw(draw.Crop(inner, width+margin, 0, 0, 0))
	column := make([][]*plot.Plot, len(f.Plots))
	for i, p := range f.Plots {
		column[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(f.Plots), Cols: 1, PadY: vg.Points(8)}
	for i, row := range plot.Align(column, tiles, draw.Crop(inner, 0, width-inner.Size().X, 0, 0)) {
		f.Plots[i].Draw(row[0])
	}
	return canvas, nil
}
