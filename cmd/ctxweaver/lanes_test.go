package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func plainLane(_ int, _ bool, text string) string { return text }

func pictures(rows []drawn, ascii bool) []string {
	var out []string
	for _, d := range rows {
		out = append(out, strings.TrimRight(d.picture("*", ascii, plainLane), " "))
	}
	return out
}

func to(rows ...int) []link {
	var out []link
	for _, r := range rows {
		out = append(out, link{to: r})
	}
	return out
}

func TestDraw(t *testing.T) {
	for _, test := range []struct {
		reason string
		rows   [][]link
		most   int
		want   string
	}{
		{"nothing to draw", nil, 6, ""},
		{"a chain stays in one column", [][]link{to(1), to(2), nil}, 6, "* | * | *"},
		{"a second parent opens a lane, which ends at the step it leads to", [][]link{to(1, 2), to(3), nil, nil}, 6, "*─╮ | * │ | │ * | *"},
		{"two steps that rest on one share its lane", [][]link{to(2), to(2), nil}, 6, "* | ├─* | *"},
		{"a crossed lane stays a plain line", [][]link{to(4), to(3), to(4), nil, nil}, 6, "* | │ * | ├─│─* | │ * | *"},
		{"a step without edges is not put right below another it has no link to", [][]link{nil, nil, nil}, 6, "* |   * | *"},
		{"where lanes are scarce the longest edge is told in words", [][]link{to(1, 4), to(2), to(3), to(4), nil}, 1, "* 4 | * | * | * | *"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			rows := draw(test.rows, test.most)
			lines := pictures(rows, false)
			for i, d := range rows {
				for _, b := range d.beyond {
					lines[i] += " " + string(rune('0'+b))
				}
			}
			if got := strings.Join(lines, " | "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFlip(t *testing.T) {
	rows := flip(draw([][]link{to(1, 2), to(3), nil, nil}, 6))
	if diff := cmp.Diff([]string{"*", "│ *", "* │", "*─╯"}, pictures(rows, false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"*", "| *", "* |", "*-'"}, pictures(rows, true)); diff != "" {
		t.Error(diff)
	}
}

// reaches follows the drawing from a row's step, as an eye would, to the rows of the steps it leads to.
func reaches(t *testing.T, rows []drawn, r int) []int {
	t.Helper()
	d := rows[r]
	var columns []int
	if d.squares[d.column].sides&down != 0 {
		columns = append(columns, d.column)
	}
	for i := d.column; i < len(d.gaps) && d.gaps[i]; i++ { // to the right
		if s := d.squares[i+1].sides; s&left != 0 && s&down != 0 {
			columns = append(columns, i+1)
		}
	}
	for i := d.column; i > 0 && d.gaps[i-1]; i-- { // to the left
		if s := d.squares[i-1].sides; s&right != 0 && s&down != 0 {
			columns = append(columns, i-1)
		}
	}
	var out []int
	for _, c := range columns {
		below := r + 1
		for ; below < len(rows); below++ {
			if rows[below].column == c {
				out = append(out, below)
				break
			}
			if c >= len(rows[below].squares) || rows[below].squares[c].sides&(up|down) != up|down {
				t.Errorf("row %d: the lane in column %d from row %d breaks off", below, c, r)
				break
			}
		}
		if below == len(rows) {
			t.Errorf("row %d: the lane in column %d leads nowhere", r, c)
		}
	}
	slices.Sort(out)
	return out
}

func TestDrawConnects(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		n, m, most := 1+r.IntN(40), 1+r.IntN(4), 1+r.IntN(8)
		rows := make([][]link, n)
		for i := range rows {
			for range r.IntN(m + 1) {
				if l := (link{to: i + 1 + r.IntN(n)}); l.to < n && !slices.Contains(rows[i], l) {
					rows[i] = append(rows[i], l)
				}
			}
		}
		got := draw(rows, most)
		for i, d := range got {
			var want []int
			for _, l := range rows[i] {
				if !slices.Contains(d.beyond, l.to) {
					want = append(want, l.to)
				}
			}
			slices.Sort(want)
			if reached := reaches(t, got, i); !slices.Equal(want, reached) {
				t.Errorf("row %d: drawn to %v, want %v", i, reached, want)
			}
			running := 0
			for _, s := range d.squares {
				if s.sides&down != 0 {
					running++
				}
			}
			if running > most || len(d.squares) > most+2 {
				t.Errorf("row %d: %d lanes in %d columns, at most %d are wanted", i, running, len(d.squares), most)
			}
			if i > 0 && got[i-1].column == d.column && got[i-1].squares[d.column].sides&down == 0 {
				t.Errorf("row %d: right below a step that does not lead to it", i)
			}
		}
		if last := got[n-1]; last.squares[last.column].sides&down != 0 || len(last.beyond) > 0 {
			t.Errorf("the last row leads on")
		}
		if t.Failed() {
			t.Fatalf("rows %v, at most %d lanes:\n%s", rows, most, strings.Join(pictures(got, false), "\n"))
		}
	}
}
