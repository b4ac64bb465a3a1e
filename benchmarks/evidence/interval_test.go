package evidence

import "testing"

// TestNewInterval: 95 of 100 draws lie within it, and with no draws there are no bounds to show.
func TestNewInterval(t *testing.T) {
	var drawn []float64
	for i := range 1000 {
		drawn = append(drawn, float64(i*7%1000)/1000) // each thousandth once
	}
	i := NewInterval(0.5, drawn)
	within := 0
	for _, d := range drawn {
		if d >= i.Low && d <= i.High {
			within++
		}
	}
	if within != 950 || i.Value != 0.5 {
		t.Errorf("%+v holds %d of 1000 draws", i, within)
	}
	if one := NewInterval(0.5, []float64{0.25}); one != (Interval{0.5, 0.25, 0.25}) {
		t.Errorf("of one draw: %+v", one)
	}
	for want, got := range map[string]string{
		"0.50 [0.03, 0.97]": i.Text(2),
		"+0.5 [+0.0, +1.0]": i.Signed(1),
		"0.500":             NewInterval(0.5, nil).Text(3),
		"-0.25":             NewInterval(-0.25, nil).Signed(2),
		"-0.1 [-0.1, +0.0]": Interval{-0.05, -0.1, 0}.Signed(1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
