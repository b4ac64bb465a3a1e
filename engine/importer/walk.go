package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are what Walk found.
type Files struct {
	Paths   []string // for ReadFile, in lexical order
	Skipped int      // files that are something else
	Unread  []error  // what could have been a trajectory and cannot be read, each with its path
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
			found.Unread = append(found.Unread, err)
			return nil
		case e.IsDir():
			return found.dir(path, e.Name())
		case !e.Type().IsRegular():
			found.Skipped++
			return nil
		}
		switch ok, err := known(path); {
		case err != nil:
			found.Unread = append(found.Unread, err)
		case ok:
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
func known(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	if n == 0 || !plausible(path, head[:n]) {
		return false, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	data, cut, err := load(file, DefaultLimit)
	if errors.Is(err, ErrEmpty) {
		return false, nil
	} else if err != nil {
		return false, named(path, err)
	}
	_, ok := detect(filepath.Base(path), data)
	if !ok && cut != nil {
		return false, named(path, fmt.Errorf("damaged or cut off: %w", cut))
	}
	return ok, nil
}

// plausible looks at the ending and the first bytes only, so that pictures and programs are not read
// whole.
func plausible(path string, head []byte) bool {
	if bytes.HasPrefix(head, gzipMagic) || bytes.HasPrefix(head, zstdMagic) {
		return true
	}
	switch text := bytes.TrimSpace(decoded(head)); {
	case bytes.IndexByte(text, 0) >= 0:
		return false
	case len(text) == 0, text[0] == '{', text[0] == '[':
		return true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".txt", ".log":
		return true
	}
	return false
}
