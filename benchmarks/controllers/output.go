package controllers

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ctxweaver/ctxweaver/benchmarks/evidence"
)

// record is one question with one controller's answer, for the table of questions.
type record struct {
	session, file, controller string
	step, candidates          int
	literal, near             bool
	choices                   []int // how many candidates are newer
	first, third, none        bool
	ms                        float64
	in, out                   int
	wrong                     string
}

// records are all answers of all controllers to what models were asked.
func (r *run) records() []record {
	var out []record
	for i, session := range r.sessions {
		for _, k := range r.picked[i] {
			for _, s := range r.speakers {
				q, a := &r.questions[i][k], s.said[i][k]
				var h hits
				h.add(q, a)
				one := record{session: session.Name, file: session.File, controller: s.name, step: q.seq, candidates: len(q.ask.Candidates),
					literal: len(q.parents) > 0, near: q.near(), first: h.First.N > 0, third: h.Third.N > 0, none: len(a.Choices) == 0,
					ms: float64(a.Origin.Took.Microseconds()) / 1000, in: a.Origin.In, out: a.Origin.Out, wrong: a.Wrong}
				all := ids(q.ask.Candidates)
				for _, id := range a.ids() {
					one.choices = append(one.choices, slices.Index(all, id))
				}
				out = append(out, one)
			}
		}
	}
	return out
}

// Write puts the report into a folder, which it makes if there is none: table.txt, results.json, questions.csv with a row
// for every question and controller, and plots.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"table.txt", func(w io.Writer) error { _, err := r.WriteTo(w); return err }},
		{"results.json", r.json},
		{"questions.csv", r.questions},
	} {
		if err := evidence.WriteFile(filepath.Join(dir, part.name), part.write); err != nil {
			return err
		}
	}
	return r.plots(dir)
}

func (r *Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *Report) questions(w io.Writer) error {
	rows := [][]string{{"session", "file", "step", "controller", "candidates", "literal_parent", "newest_is_one", "choice_1", "choice_2", "choice_3",
		"hit_1", "hit_3", "none", "ms", "tokens_in", "tokens_out", "invalid"}}
	for _, q := range r.records {
		row := []string{q.session, q.file, strconv.Itoa(q.step), q.controller, strconv.Itoa(q.candidates), digit(q.literal), digit(q.near)}
		for i := range most { // 0 is the newest candidate; -1 no candidate
			choice := ""
			if i < len(q.choices) {
				choice = strconv.Itoa(q.choices[i])
			}
			row = append(row, choice)
		}
		rows = append(rows, append(row, digit(q.first), digit(q.third), digit(q.none), strconv.FormatFloat(q.ms, 'f', 1, 64), strconv.Itoa(q.in), strconv.Itoa(q.out), q.wrong))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func digit(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}
