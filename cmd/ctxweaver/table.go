package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// table lays text out in columns, two spaces apart.
type table struct {
	heads []column
	rows  [][]cell
}

// column is the head of a column. One with stretch gives way when the table is too wide: it is cut, or wraps.
type column struct {
	head    string
	right   bool // numbers
	stretch bool
	name    bool // names differ at either end: they are cut in the middle
	wrap    bool // goes on in the next line where another would be cut; for what the table is read for
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
		out = append(out, t.wrapped(row, widths)...)
	}
	return out
}

// wrapped are the lines that a row takes.
func (t *table) wrapped(row []cell, widths []int) []string {
	var out []string
	for more := true; more; {
		now, rest := make([]cell, len(row)), make([]cell, len(row))
		more = false
		for i, c := range row {
			now[i] = c
			if t.heads[i].wrap {
				now[i].text, rest[i].text = breakLine(c.text, widths[i])
				rest[i].paint = c.paint
				more = more || rest[i].text != ""
			}
		}
		out = append(out, t.line(now, widths))
		row = rest
	}
	return out
}

// breakLine parts a text at the last blank that leaves no more than most columns before it, or within a word that is
// longer.
func breakLine(text string, most int) (line, rest string) {
	if columns(text) <= most {
		return text, ""
	}
	line = runewidth.Truncate(text, most, "")
	if line == "" {
		return text, "" // not even one rune fits
	}
	if text[len(line)] != ' ' {
		if at := strings.LastIndexByte(line, ' '); at > 0 {
			line = line[:at]
		}
	}
	return line, strings.TrimLeft(text[len(line):], " ")
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
	for most > 0 && total > most { // the widest gives way first, and what is read for its own sake counts half
		widest, broad := -1, 0
		for i, h := range t.heads {
			w := widths[i]
			if h.wrap {
				w /= 2
			}
			if h.stretch && widths[i] > least && w > broad {
				widest, broad = i, w
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
