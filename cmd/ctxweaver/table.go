package main

import (
	"math"
	"strings"
)

// table lays text out in columns, two spaces apart.
type table struct {
	heads []column
	rows  [][]cell
}

// column is the head of a column. One with stretch gives way when the table is too wide.
type column struct {
	head    string
	right   bool // numbers
	stretch bool
	name    bool // names differ at either end: they are cut in the middle
}

// cell is a piece of text with the colour it is shown in; paint may be nil.
type cell struct {
	text  string
	paint func(string) string
}

func plain(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, t := range texts {
		row[i].text = t
	}
	return row
}

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// printTable prints the table as wide as the terminal. In a pipe or a file nothing is cut off: what reads it
// wants the whole name or reason.
func (a *app) printTable(t *table) {
	most := screen()
	if most == 0 {
		most = math.MaxInt
	}
	for _, line := range t.lines(most, a.style().bold) {
		a.print("%s", line)
	}
}

// least is the fewest columns that a stretching column is cut to.
const least = 8

// lines are the table's lines, none wider than most where the stretching columns allow it.
func (t *table) lines(most int, head func(string) string) []string {
	widths := t.widths(most)
	heads := make([]cell, len(t.heads))
	for i, h := range t.heads {
		heads[i] = cell{h.head, head}
	}
	out := []string{t.line(heads, widths)}
	for _, row := range t.rows {
		out = append(out, t.line(row, widths))
	}
	return out
}

func (t *table) widths(most int) []int {
	widths := make([]int, len(t.heads))
	total := 2 * (len(t.heads) - 1)
	for i, h := range t.heads {
		widths[i] = columns(h.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], columns(row[i].text))
		}
		total += widths[i]
	}
	for total > most { // the widest gives way first
		widest := -1
		for i, h := range t.heads {
			if h.stretch && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

func (t *table) line(row []cell, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		text := shorten(c.text, widths[i])
		if t.heads[i].name {
			text = shortenName(c.text, widths[i])
		}
		text = pad(text, widths[i], t.heads[i].right)
		if i == len(row)-1 {
			text = strings.TrimRight(text, " ")
		}
		if c.paint != nil {
			text = c.paint(text)
		}
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(text)
	}
	return strings.TrimRight(b.String(), " ")
}
