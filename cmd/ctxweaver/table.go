package main

import "strings"

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

// printTable prints the table as wide as the terminal. In a pipe or a file names and the last column, which
// nothing is padded for, are whole: what reads it looks for them.
func (a *app) printTable(t *table) {
	for _, line := range t.lines(screen(), a.style().bold) {
		a.print("%s", line)
	}
}

const (
	least = 8  // the fewest columns that a stretching column is cut to
	ample = 60 // the most that it takes before others where nothing bounds the line
)

// lines are the table's lines, none wider than most where the stretching columns allow it. With most 0 they may
// be as wide as they like.
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
		if most == 0 && h.stretch && !h.name && i < len(t.heads)-1 {
			widths[i] = min(widths[i], ample)
		}
		total += widths[i]
	}
	for most > 0 && total > most { // the widest gives way first
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
