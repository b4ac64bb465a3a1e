// Package importer reads the traces that agents leave behind into steps, one file a format.
package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// format is one kind of trace.
type format struct {
	name string // as users name it with --format
	// detect says how sure it is, from 0 (no) to 1, that head, the first bytes of a file, is its own.
	// name is the file's base name, which may be empty. Read hands in the whole file: many
	// documents say what they are only at their end.
	detect func(name string, head []byte) float64
	// parse leaves Format empty. It may leave Name empty: the file's name is then taken. A Name or Parent
	// that begins with ":" gets the file's name in front of it.
	parse func(data []byte) ([]*Trajectory, error)
}

// formats are all that Read knows. Of two that are equally sure of a file, the first has it.
var formats = []format{
	claudeFormat,
	codexFormat,
	geminiFormat,
	geminiStreamFormat,
	copilotFormat,
	opencodeFormat,
	piFormat,
	clineFormat,
	anthropicFormat,
	sweAgentFormat,
	miniSWEAgentFormat,
	openHandsFormat,
	openHandsV0Format,
	openHandsSDKFormat,
	openAIFormat,
	tauBenchFormat,
	tau2BenchFormat,
	aiderFormat,
	webVoyagerFormat,
	autoCodeRoverFormat,
	terminusFormat,
	interCodeFormat,
	reactTextFormat,
	atifFormat,
	atifViewerFormat,
}

// What callers branch on. The errors of Read wrap them, and name the file.
var (
	ErrEmpty         = errors.New("nothing in it")
	ErrUnknownFormat = errors.New("not a trajectory of a known format")
	ErrFormat        = errors.New("no such format")
	ErrTooLarge      = errors.New("too large")
)

// DefaultLimit is the most that a file may hold, in bytes after decompression.
const DefaultLimit = 512 << 20

// How sure a format must be at least to be chosen, and from where on no other is asked.
const (
	plausibly = 0.3
	certainly = 0.95
)

// Options say how to read. The zero value detects the format.
type Options struct {
	Format string // one of Formats; "" detects it
	Limit  int64  // bytes after decompression, 0: DefaultLimit
}

// Formats lists the names of all formats, as Options.Format takes them.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Read reads all trajectories of one file, plain or compressed with gzip or zstd. name is the
// file's name, or "" if it has none; it helps to detect the format and names trajectories that have
// no id of their own. The main thread comes first. What had to be skipped is in the Notes; an
// error means that nothing could be read.
func Read(r io.Reader, name string, opts Options) ([]*Trajectory, error) {
	data, cut, err := load(r, opts.limit())
	if err != nil {
		return nil, named(name, err)
	}
	f, err := choose(filepath.Base(name), data, opts.Format)
	if err != nil {
		return nil, named(name, err)
	}
	ts, err := parse(f, data)
	if err != nil {
		return nil, named(name, fmt.Errorf("%s: %w", f.name, err))
	}
	ts = withSteps(ts)
	if len(ts) == 0 {
		return nil, named(name, fmt.Errorf("%s: %w: no message and no step", f.name, ErrEmpty))
	}
	if cut != nil {
		ts[0].Notes.Broken = append(ts[0].Notes.Broken, fmt.Sprintf("byte %d: the file is damaged or cut off here (%v); what follows is missing", len(data), cut))
	}
	for _, t := range ts {
		t.Format = f.name
	}
	christen(ts, name)
	return ts, nil
}

// ReadFile is Read for a file, or for a folder in which OpenHands keeps one conversation, an event
// a file.
func ReadFile(path string, opts Options) ([]*Trajectory, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		data, name, err := joinEvents(path, opts.limit())
		if err != nil {
			return nil, err
		}
		return Read(bytes.NewReader(data), name, opts)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file, path, opts)
}

// parse hands the data to the format. Of a document that was cut off, what there is of it is read.
func parse(f format, data []byte) ([]*Trajectory, error) {
	ts, err := f.parse(data)
	if err == nil || !cutOff(data) {
		return ts, err
	}
	whole, ok := mend(data)
	if !ok {
		return nil, err
	}
	if ts, again := f.parse(whole); again == nil {
		for _, t := range ts {
			t.Notes.Broken = append(t.Notes.Broken, fmt.Sprintf("byte %d: the file is cut off here; what follows is missing", len(data)))
		}
		return ts, nil
	}
	return nil, err
}

func (o Options) limit() int64 {
	if o.Limit > 0 {
		return o.Limit
	}
	return DefaultLimit
}

func named(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// choose finds the format by its name, or by what the data looks like.
func choose(name string, data []byte, want string) (format, error) {
	if want != "" {
		for _, f := range formats {
			if f.name == want {
				return f, nil
			}
		}
		return format{}, fmt.Errorf("%w: %q; there are %s", ErrFormat, want, strings.Join(Formats(), ", "))
	}
	if f, ok := detect(name, data); ok {
		return f, nil
	}
	return format{}, fmt.Errorf("%w: it looks like %s; if it is one, say of which format with --format: ctxweaver import --help lists them",
		ErrUnknownFormat, looks(data))
}

// detect is the format that is surest of the data.
func detect(name string, data []byte) (format, bool) {
	var best format
	var score float64
	for _, f := range formats {
		if s := f.detect(name, data); s > score {
			best, score = f, s
		}
		if score >= certainly {
			break
		}
	}
	return best, score >= plausibly
}

func withSteps(ts []*Trajectory) []*Trajectory {
	kept := ts[:0]
	for _, t := range ts {
		if len(t.Steps) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// christen gives every trajectory a name of its own within the file that is the same when the file is
// read again, even if it has grown meanwhile.
func christen(ts []*Trajectory, file string) {
	base := stem(file)
	if base == "" {
		sum := sha256.Sum256([]byte(ts[0].Task()))
		base = ts[0].Format + "-" + hex.EncodeToString(sum[:4])
	}
	unnamed := 0
	for _, t := range ts {
		if t.Name == "" {
			unnamed++
		}
	}
	n, taken := 0, map[string]bool{}
	for _, t := range ts {
		switch {
		case t.Name == "" && unnamed > 1:
			n++
			t.Name = base + ":" + strconv.Itoa(n)
		case t.Name == "":
			t.Name = base
		case strings.HasPrefix(t.Name, ":"):
			t.Name = strings.TrimSuffix(base+t.Name, ":")
		}
		if strings.HasPrefix(t.Parent, ":") {
			t.Parent = strings.TrimSuffix(base+t.Parent, ":")
		}
		own := t.Name
		for i := 2; taken[t.Name]; i++ {
			t.Name = own + ":" + strconv.Itoa(i)
		}
		taken[t.Name] = true
	}
}

// stem is the file's base name without the endings that say only how it is written.
func stem(file string) string {
	if file == "" || file == "-" {
		return ""
	}
	name := filepath.Base(file)
	for {
		ext := filepath.Ext(name)
		switch strings.ToLower(ext) {
		case ".gz", ".zst", ".json", ".jsonl", ".ndjson", ".traj", ".md", ".txt", ".log":
			if name != ext {
				name = strings.TrimSuffix(name, ext)
				continue
			}
		}
		return name
	}
}
