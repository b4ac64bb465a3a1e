package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// Every marks an axis at each multiple of a number.
type Every float64

// Ticks is plot.Ticker's.
func (e Every) Ticks(low, high float64) (out []plot.Tick) {
	for i := int(math.Ceil(low / float64(e))); float64(e)*float64(i) <= high; i++ {
		v := float64(e) * float64(i)
		out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)})
	}
	return out
}
