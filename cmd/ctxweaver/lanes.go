package main

import "slices"

// A graph is drawn one row a step, newest first. A lane is a column that carries the edges from the
// rows above to one step below, whoever they come from; so a row has as many lanes as there are
// steps below it that something above rests on. All that runs sideways in a row belongs to the row's own
// step; what is only crossed stays a plain vertical line.

// side is a direction in which a cell of the drawing is connected.
type side uint8

const (
	up side = 1 << iota
	down
	left
	right
)

// link is an edge from a row to a row below it.
type link struct {
	to    int
	guess bool
}

// square is one cell of a row.
type square struct {
	sides side
	guess bool // all edges in it are guesses
}

// drawn is a row of the drawing.
type drawn struct {
	column  int      // where the step stands
	squares []square // the cells, the step's own among them
	gaps    []bool   // whether something runs sideways between cell i and i+1
	beyond  []int    // rows of edges for which there was no lane
}

// lane carries edges down to the row to.
type lane link

var free = lane{to: -1}

// draw lays the rows out, given each row's links to rows below, best first. No more than most lanes
// run at once; links for which there is no room are left to be told in words.
func draw(rows [][]link, most int) []drawn {
	told := crowded(rows, most)
	var lanes []lane
	last := -1 // where the step above stands
	out := make([]drawn, len(rows))
	for r, links := range rows {
		above := lanes
		lanes = slices.Clone(lanes)
		c := find(lanes, r)
		if c >= 0 {
			lanes[c] = free
		} else {
			c = tip(lanes, last)
		}
		for len(lanes) <= c {
			lanes = append(lanes, free)
		}
		last = c
		d := drawn{column: c}
		var reached []int // columns to which the step's edges run
		for i, l := range links {
			if told[edge{r, i}] {
				d.beyond = append(d.beyond, l.to)
				continue
			}
			at := find(lanes, l.to)
			if at >= 0 {
				lanes[at].guess = lanes[at].guess && l.guess
			} else {
				at = place(&lanes, c)
				lanes[at] = lane(l)
			}
			reached = append(reached, at)
		}
		for len(lanes) > 0 && lanes[len(lanes)-1] == free {
			lanes = lanes[:len(lanes)-1]
		}
		d.squares, d.gaps = row(above, lanes, c, reached)
		out[r] = d
	}
	return out
}

// edge is a row's link, by its place.
type edge struct{ row, link int }

// crowded finds the edges that no lane is left for: where too many would run at once, those that run the
// furthest down.
func crowded(rows [][]link, most int) map[edge]bool {
	told := map[edge]bool{}
	open := map[int][]edge{} // the edges of each lane, by where it leads
	for r, links := range rows {
		delete(open, r)
		for i, l := range links {
			open[l.to] = append(open[l.to], edge{r, i})
			if len(open) <= most {
				continue
			}
			furthest := 0
			for to := range open {
				furthest = max(furthest, to)
			}
			for _, e := range open[furthest] {
				told[e] = true
			}
			delete(open, furthest)
		}
	}
	return told
}

func find(lanes []lane, to int) int {
	for i, l := range lanes {
		if l.to == to {
			return i
		}
	}
	return -1
}

// tip finds a place for a step that no lane leads to: not right below the step above, for the two
// would look linked.
func tip(lanes []lane, last int) int {
	for i, l := range lanes {
		if l == free && i != last {
			return i
		}
	}
	if len(lanes) == last {
		return last + 1
	}
	return len(lanes)
}

// place finds a free lane: right below the step if it can be, else the leftmost, else a new one.
func place(lanes *[]lane, below int) int {
	if below < len(*lanes) && (*lanes)[below] == free {
		return below
	}
	at := find(*lanes, free.to)
	if at < 0 {
		at = len(*lanes)
		*lanes = append(*lanes, free)
	}
	return at
}

// row connects the lanes above with those below, and the step at column c with the lanes it reached.
func row(above, below []lane, c int, reached []int) ([]square, []bool) {
	n := max(len(above), len(below), c+1)
	squares, gaps := make([]square, n), make([]bool, n)
	for i := range squares {
		guess := true
		if i < len(above) && above[i] != free {
			squares[i].sides |= up
			guess = above[i].guess
		}
		if i < len(below) && below[i] != free {
			squares[i].sides |= down
			guess = guess && below[i].guess
		}
		squares[i].guess = guess
	}
	for _, at := range reached {
		switch {
		case at > c:
			squares[at].sides |= left
			for i := c; i < at; i++ {
				gaps[i] = true
			}
		case at < c:
			squares[at].sides |= right
			for i := at; i < c; i++ {
				gaps[i] = true
			}
		}
	}
	for i := range squares { // lines that go on past a cell that is itself reached
		switch {
		case squares[i].sides&left != 0 && gaps[i]:
			squares[i].sides |= right
		case squares[i].sides&right != 0 && i > 0 && gaps[i-1]:
			squares[i].sides |= left
		case squares[i].sides == 0 && i > 0 && gaps[i-1] && gaps[i]:
			squares[i].sides = left | right
		}
	}
	return squares, gaps
}

// flip turns a drawing upside down, for the oldest first. Rows of edges without a lane stay as
// they were numbered.
func flip(rows []drawn) []drawn {
	out := make([]drawn, len(rows))
	for i, d := range rows {
		squares := make([]square, len(d.squares))
		for j, s := range d.squares {
			sides := s.sides &^ (up | down)
			if s.sides&up != 0 {
				sides |= down
			}
			if s.sides&down != 0 {
				sides |= up
			}
			squares[j] = square{sides, s.guess}
		}
		d.squares = squares
		out[len(rows)-1-i] = d
	}
	return out
}

var boxes = map[side]string{
	0: " ", up | down: "│", up: "╵", down: "╷", left: "╴", right: "╶", left | right: "─",
	down | right: "╭", down | left: "╮", up | right: "╰", up | left: "╯",
	up | down | right: "├", up | down | left: "┤", down | left | right: "┬", up | left | right: "┴",
	up | down | left | right: "┼",
}

// box is the character of a cell that is no step.
func box(s side, ascii bool) string {
	if !ascii {
		return boxes[s]
	}
	switch {
	case s == 0:
		return " "
	case s&(left|right) == 0:
		return "|"
	case s&(up|down) == 0:
		return "-"
	case s&(up|down) == down:
		return "."
	case s&(up|down) == up:
		return "'"
	}
	return "+"
}

// picture is the row as text, two columns a cell, with the step's own glyph where it stands.
// paint colours what belongs to a column.
func (d drawn) picture(glyph string, ascii bool, paint func(column int, guess bool, text string) string) string {
	text, dash := "", "─"
	if ascii {
		dash = "-"
	}
	for i, s := range d.squares {
		switch {
		case i == d.column:
			text += glyph
		case s.sides == 0:
			text += " "
		default:
			text += paint(i, s.guess, box(s.sides, ascii))
		}
		gap := " "
		if d.gaps[i] {
			gap = dash
		}
		if i < len(d.squares)-1 {
			text += gap
		}
	}
	return text
}
