package evidence

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Write puts the report into a folder, which it makes if there is none: table.txt, results.json, manifest.json,
// steps.csv with a row for every request, and plots. results are those that the report was made of.
func (r *Report) Write(dir string, results []Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"table.txt", func(w io.Writer) error { _, err := r.WriteTo(w); return err }},
		{"results.json", func(w io.Writer) error { return indented(w, r) }},
		{"manifest.json", func(w io.Writer) error { return indented(w, r.Manifest) }},
		{"steps.csv", func(w io.Writer) error { return r.steps(w, results) }},
	} {
		if err := WriteFile(filepath.Join(dir, part.name), part.write); err != nil {
			return err
		}
	}
	return r.plots(dir, results)
}

// WriteFile makes a file of what write writes. An error names the file.
func WriteFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Replace is WriteFile, but makes the file whole or not at all, and its folder if there is none. What is there and no
// file, such as a pipe, is written to.
func Replace(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return WriteFile(path, write)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "*.part")
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Chmod(0o644), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// steps writes a row for every request.
func (r *Report) steps(w io.Writer, results []Result) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"session", "file", "format", "length", "fold", "policy", "call", "prompt", "uncached", "cost",
		"references", "held", "lines", "lines_held", "rereads_estimate", "shown", "paged_out", "paged_in", "used", "tokens", "over", "unfit"}}
	for _, result := range results {
		s := r.Manifest.Sessions[result.Session]
		for _, q := range result.Requests {
			var one Score
			one.Add(q)
			row := []string{s.Name, s.File, s.Format, s.Length, strconv.Itoa(s.Fold), result.Policy, strconv.Itoa(q.Call), strconv.Itoa(q.Prompt),
				strconv.Itoa(q.Uncached), strconv.FormatFloat(one.Cost(), 'f', 1, 64)}
			for _, n := range []int{q.References, q.Held, q.Lines, q.LinesHeld, q.Rereads, q.Shown, q.PagedOut, q.PagedIn, q.Used, q.Tokens, boolean(q.Over), boolean(q.Unfit)} {
				row = append(row, strconv.Itoa(n))
			}
			rows = append(rows, row)
		}
	}
	return c.WriteAll(rows)
}
