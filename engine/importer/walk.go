package importer

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are what Walk found.
type Files struct {
	Paths   []string // for ReadFile, in lexical order
	Skipped int      // files that are something else, or that cannot be read
}

// Walk looks through a folder for files that a format knows, by their content. A folder in which
// OpenHands keeps one conversation counts as one. It fails only if root cannot be read.
func Walk(root string) (Files, error) {
	var found Files
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			found.Skipped++
			return nil
		case e.IsDir():
			return found.dir(path, e.Name())
		case e.Type().IsRegular() && known(path):
			found.Paths = append(found.Paths, path)
		default:
			found.Skipped++
		}
		return nil
	})
	return found, err
}

// dir takes a conversation's folder as a whole, and keeps out of folders that hold other people's work.
func (f *Files) dir(path, name string) error {
	if name == ".git" || name == "node_modules" {
		return fs.SkipDir
	}
	events, err := filepath.Glob(filepath.Join(escapeGlob(path), "event-*.json"))
	if err != nil || len(events) == 0 {
		return err
	}
	f.Paths = append(f.Paths, path)
	return fs.SkipDir
}

// known reports whether a format would read the file.
func known(path string) bool {
	if !plausible(path) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	data, err := load(file, DefaultLimit)
	if err != nil {
		return false
	}
	_, ok := detect(filepath.Base(path), data)
	return ok
}

// plausible looks at the ending and the first bytes only, so that pictures and programs are not read
// whole.
func plausible(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if n == 0 || err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false
	}
	head = head[:n]
	if strings.HasPrefix(string(head), string(gzipMagic)) || strings.HasPrefix(string(head), string(zstdMagic)) {
		return true
	}
	switch first := strings.TrimSpace(strings.TrimPrefix(string(head), string(byteOrder))); {
	case strings.IndexByte(first, 0) >= 0:
		return false
	case first == "", first[0] == '{', first[0] == '[':
		return true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".txt", ".log":
		return true
	}
	return false
}
