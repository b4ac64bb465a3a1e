package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Verdicts is a folder of verdicts. One is found again as long as nothing changed that it depends on: the
// model's digest, how it is asked and with which prompts and context, and the exam.
type Verdicts string

// UserVerdicts is the folder ctxweaver/verdicts in the user's cache folder.
func UserVerdicts() (Verdicts, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("controller: there is no folder to keep verdicts in: %w", err)
	}
	return Verdicts(filepath.Join(dir, "ctxweaver", "verdicts")), nil
}

// Find gives the verdict of an exam on a model, asked as o asks. It is false where none was kept, or one to be resumed: of
// an exam that was broken off, or cut short and is to be whole.
func (d Verdicts) Find(e Exam, o *Ollama, m Model) (Verdict, bool, error) {
	e = e.whole()
	path := d.path(Verdict{Digest: m.Digest, Ask: o.opts.Ask, NumCtx: o.opts.NumCtx, Prompts: promptsOf(o.opts.Ask), Exam: e})
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Verdict{}, false, nil
	}
	if err != nil {
		return Verdict{}, false, err
	}
	var v Verdict
	if err = json.Unmarshal(data, &v); err == nil && d.path(v) != path {
		err = errors.New("it is on something else than its name says")
	}
	if err != nil {
		return Verdict{}, false, fmt.Errorf("%s is no verdict: %w", path, err)
	}
	return v, !v.Begun && !(e.Whole && v.Cut()), nil
}

// Keep writes a verdict down, whole or not at all.
func (d Verdicts) Keep(v Verdict) error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(string(d), "new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), d.path(v))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// examVersion goes up with each change of an exam, of what is asked of a model in it, or of how its words are judged.
const examVersion = 3

// path is where a verdict is kept: its name is all that it depends on.
func (d Verdicts) path(v Verdict) string {
	sum := sha256.Sum256([]byte(on(v)))
	return filepath.Join(string(d), hex.EncodeToString(sum[:16])+".json")
}

// on is all that a verdict depends on.
func on(v Verdict) string {
	v.Exam.Whole = false // of which it tells by itself
	return strings.Join([]string{v.Digest, string(v.Ask), fmt.Sprint(examVersion, v.NumCtx, v.Exam), strings.Join(v.Prompts, " "), fmt.Sprintf("%+v", plots)}, "\n")
}
