package graphstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// sealFile holds the seal: what the store's files were when it was closed, or last opened. Badger needs
// it, for it trusts its files: over a damaged table it panics, and what a cut manifest does not list any
// more it deletes.
const sealFile = "SEAL"

// maxSealed is up to how many bytes of tables are read through when a store is opened. Of larger stores,
// which would take long, the sizes are compared, and Check does the rest.
const maxSealed = 256 << 20

// seal describes the files that hold the data. Tables never change, but come and go while the store is
// open; the others are as described only while it is closed.
type seal struct {
	Closed bool            `json:"closed"`
	Files  map[string]file `json:"files"`
}

type file struct {
	Size int64  `json:"size"`
	CRC  uint32 `json:"crc"`
}

// startAnew is what to do where Badger would lose what is left, or would not begin.
const startAnew = "restore the folder from a copy, or import the sessions again into another"

// readSeal returns a seal with nil Files if dir has none.
func readSeal(dir string) (seal, error) {
	var s seal
	text, err := os.ReadFile(filepath.Join(dir, sealFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, fmt.Errorf("open store: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("open %s: %w: %s is garbled: %w; delete it to open the store unchecked", dir, ErrDamaged, sealFile, err)
	}
	return s, nil
}

func (s seal) write(dir string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(dir, sealFile, append(text, '\n'))
}

// breakSeal compares the files with the seal, and marks it open before Badger changes anything. A store that has
// none gets one without files.
func breakSeal(dir string) error {
	s, err := sound(dir)
	if err != nil || s.Files != nil && !s.Closed {
		return err
	}
	if s.Files == nil {
		s.Files = map[string]file{}
	}
	s.Closed = false
	if err := s.write(dir); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	return nil
}

// sound returns the seal if the files are as it says. Another process may open and close the store meanwhile: where
// they differ, and the seal is another one by now, they are compared with that.
func sound(dir string) (seal, error) {
	s, err := readSeal(dir)
	for err == nil {
		differ := s.compare(dir)
		if differ == nil {
			break
		}
		var again seal
		if again, err = readSeal(dir); err == nil && again.equal(s) {
			err = fmt.Errorf("open %s: %w: %w", dir, ErrDamaged, differ)
		}
		s = again
	}
	return s, err
}

func (s seal) equal(t seal) bool { return s.Closed == t.Closed && maps.Equal(s.Files, t.Files) }

// compare fails with what is not as the seal says, and what to do.
func (s seal) compare(dir string) error {
	var total int64
	for _, f := range s.Files {
		total += f.Size
	}
	for name, want := range s.Files {
		table := filepath.Ext(name) == ".sst"
		if !table && !s.Closed {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) && !s.Closed {
			continue // it was merged with others before the process died
		} else if err != nil {
			return fmt.Errorf("%w; %s", err, startAnew)
		}
		got := file{info.Size(), want.CRC}
		if got == want && (!table || total <= maxSealed) {
			if got, err = describe(dir, name); err != nil {
				return err
			}
		}
		switch {
		case got == want:
		case table: // Badger reads what is whole in it
			return fmt.Errorf("%s was changed or damaged; restore the folder from a copy, or delete %s to open what is left, and see what that is with ctxweaver check", name, filepath.Join(dir, sealFile))
		default:
			return fmt.Errorf("%s was changed or damaged; %s", name, startAnew)
		}
	}
	return s.compareManifest(dir)
}

// compareManifest finds a manifest that was cut, and does not list tables that it must: Badger would delete them.
func (s seal) compareManifest(dir string) error {
	tables, err := s.listed(dir)
	if err != nil || len(tables) == 0 {
		return err
	}
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return err
	}
	defer f.Close()
	manifest, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir))
	if err != nil {
		return fmt.Errorf("%w; %s", err, startAnew)
	}
	for _, name := range tables {
		var id uint64
		if n, _ := fmt.Sscanf(name, "%d.sst", &id); n != 1 {
			continue
		}
		if _, ok := manifest.Tables[id]; !ok {
			return fmt.Errorf("%s was cut, and does not list %s; %s", badger.ManifestFilename, name, startAnew)
		}
	}
	return nil
}

// listed names the tables that the manifest must list: all that are there, if there is no seal; those that the
// seal knows and that are there, if the process died and the manifest has grown smaller since.
func (s seal) listed(dir string) ([]string, error) {
	want, sealed := s.Files[badger.ManifestFilename]
	if s.Files != nil {
		if s.Closed || !sealed {
			return nil, nil
		}
		info, err := os.Stat(filepath.Join(dir, badger.ManifestFilename))
		if err != nil || info.Size() >= want.Size {
			return nil, err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		_, known := s.Files[e.Name()]
		if filepath.Ext(e.Name()) == ".sst" && (known || s.Files == nil) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// closeSeal seals the files of a store that was closed. What the last seal says of tables is still true.
func closeSeal(dir string) error {
	last, err := readSeal(dir)
	if err != nil {
		return err
	}
	s := seal{Closed: true, Files: map[string]file{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		table := filepath.Ext(name) == ".sst"
		if !table && name != badger.ManifestFilename && name != badger.KeyRegistryFileName {
			continue
		}
		known, ok := last.Files[name]
		if !ok || !table {
			if known, err = describe(dir, name); err != nil {
				return err
			}
		}
		s.Files[name] = known
	}
	return s.write(dir)
}

func describe(dir, name string) (file, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(sum, f)
	return file{n, sum.Sum32()}, err
}
