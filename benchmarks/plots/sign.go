package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grey is for what is there to compare with.
var Grey = color.Gray{Y: 170}

var (
	faint = color.Gray{Y: 225}
	// inks can be told apart on white, the first seven also by those who see few colours (Okabe and Ito).
	inks = []color.Color{
		color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
		color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{0, 0, 0, 255},
		color.RGBA{106, 61, 154, 255}, color.RGBA{140, 86, 75, 255}, color.RGBA{128, 128, 0, 255},
	}
	// Beyond the inks, lines are told apart by how they are broken, and points all along by their shapes.
	dashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1), vg.Points(2)}}
	glyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
	}
)

// Ink is the colour of the i-th of what is drawn.
func Ink(i int) color.Color { return inks[i%len(inks)] }

// Line is how the i-th line is drawn. The first 30 can be told apart.
func Line(i int) draw.LineStyle {
	return draw.LineStyle{Color: Ink(i), Width: vg.Points(1.3), Dashes: dashes[i/len(inks)%len(dashes)]}
}

// Point is how the i-th point is drawn. The first 70 can be told apart.
func Point(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: Ink(i), Radius: vg.Points(4), Shape: glyphs[i%len(glyphs)]}
}
