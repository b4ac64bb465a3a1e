package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
)

// Session is one run to measure policies on.
type Session struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`        // "" for one from a store
	Sum    string `json:"file_sha256,omitempty"` // of the file; "" where it is a folder or a store
	Hash   string `json:"sha256"`                // of Steps, as they were read
	Group  string `json:"group"`                 // what folds keep together: a repository, or the file's folder
	Format string `json:"format"`
	Calls  int    `json:"calls"`            // counted
	Fold   int    `json:"fold"`             // from 0; 0 without folds
	Length string `json:"length,omitempty"` // its class, once a Report has looked

	Steps []engine.Step `json:"-"`
}

// NewSession makes a Session of steps that are at hand. group may be "".
func NewSession(name, format, group string, steps []engine.Step) (Session, error) {
	raw, err := json.Marshal(steps)
	if err != nil {
		return Session{}, err
	}
	s := Session{Name: name, Format: format, Group: group, Hash: sum(raw), Steps: steps}
	for _, step := range steps {
		s.Calls += step.Counted()
	}
	return s, nil
}

// Distinct leaves out runs that are there already, step for step, and says which: a run would count twice, and its copy in
// another fold would teach what it is scored on.
func Distinct(sessions []Session) (distinct []Session, copies []string) {
	first := map[string]Session{}
	for _, s := range sessions {
		if f, ok := first[s.Hash]; ok {
			copies = append(copies, fmt.Sprintf("%s: left out: the same run, step for step, as %s", s.origin(), f.origin()))
			continue
		}
		first[s.Hash] = s
		distinct = append(distinct, s)
	}
	return distinct, copies
}

// origin says where a session is from.
func (s Session) origin() string {
	if s.File == "" {
		return s.Name
	}
	return fmt.Sprintf("%s (%s)", s.File, s.Name)
}

// ReadSessions reads the runs of one file, or of one folder of events, that have at least so many calls.
func ReadSessions(path string, o importer.Options, least int) ([]Session, error) {
	ts, hash, err := readFile(path, o)
	if err != nil {
		return nil, err
	}
	var out []Session
	for _, t := range ts {
		if t.Calls() < max(1, least) {
			continue
		}
		s, err := NewSession(t.Name, t.Format, group(path), t.Steps)
		if err != nil {
			return nil, err
		}
		s.File, s.Sum = path, hash
		out = append(out, s)
	}
	return out, nil
}

func readFile(path string, o importer.Options) (ts []*importer.Trajectory, hash string, err error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		ts, err = importer.ReadFile(path, o)
		return ts, "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	ts, err = importer.Read(bytes.NewReader(data), path, o)
	return ts, sum(data), err
}

// group is what a file's name begins with before "__", which sets are wont to put the repository in, or the
// name of its folder.
func group(path string) string {
	if repo, _, ok := strings.Cut(filepath.Base(path), "__"); ok && repo != "" {
		return repo
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(filepath.Dir(path))
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
