package plots

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// TestSigns: so many can be told apart, as lines and as points.
func TestSigns(t *testing.T) {
	lines, points := map[string]int{}, map[string]int{}
	for i := range 70 {
		line := fmt.Sprint(Line(i).Color, Line(i).Dashes)
		if j, ok := lines[line]; ok && i < 30 {
			t.Errorf("lines %d and %d are drawn alike", j, i)
		}
		point := fmt.Sprintf("%v %T", Point(i).Color, Point(i).Shape)
		if j, ok := points[point]; ok {
			t.Errorf("points %d and %d are drawn alike", j, i)
		}
		lines[line], points[point] = i, i
	}
}

func TestEvery(t *testing.T) {
	for _, c := range []struct {
		every     Every
		low, high float64
		want      string
	}{
		{0.2, 0, 1.03, "0 0.2 0.4 0.6 0.8 1"},
		{0.1, 0.65, 0.92, "0.7 0.8 0.9"},
		{50, -10, 120, "0 50 100"},
		{5, 1, 4, ""},
	} {
		var labels []string
		for _, tick := range c.every.Ticks(c.low, c.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("every %g from %g to %g: %q, want %q", c.every, c.low, c.high, got, c.want)
		}
	}
}

// TestSave: a figure has room for its plots and for a legend that is higher or wider than they are.
func TestSave(t *testing.T) {
	size := func(plots, entries int, entry string) (wide, high int) {
		f := NewFigure(vg.Inch)
		line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for range plots {
			f.Add("title", "x", "y").Add(line)
		}
		for range entries {
			f.Legend.Add(entry, line)
		}
		path := filepath.Join(t.TempDir(), "figure")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		if svg, err := os.ReadFile(path + ".svg"); err != nil || !strings.Contains(string(svg), "title") {
			t.Errorf("the SVG has no title: %v", err)
		}
		file, err := os.Open(path + ".png")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		picture, err := png.DecodeConfig(file)
		if err != nil {
			t.Fatal(err)
		}
		return picture.Width, picture.Height
	}
	wide, high := size(1, 1, "a")
	if _, h := size(3, 1, "a"); h < 2*high {
		t.Errorf("three plots are %d pixels high, one %d", h, high)
	}
	if _, h := size(1, 40, "a"); h < 2*high {
		t.Errorf("with 40 entries it is %d pixels high, with one %d", h, high)
	}
	if w, _ := size(1, 1, strings.Repeat("long ", 20)); w <= wide {
		t.Errorf("with a long entry it is %d pixels wide, with a short one %d", w, wide)
	}
	if err := NewFigure(vg.Inch).Save(filepath.Join(t.TempDir(), "nowhere", "figure")); !os.IsNotExist(err) {
		t.Errorf("into a folder that is not there: %v", err)
	}
}
