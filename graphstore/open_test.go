package graphstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"
)

// A folder that is something else, newer or in use is refused with one clear line, and left as it was.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		why   string
		files map[string]string
		want  error
		says  string
	}{
		{"someone's notes", map[string]string{"notes.txt": "x"}, ErrForeign, "choose another folder"},
		{"another program's Badger", map[string]string{"MANIFEST": "Bdgr", "000001.vlog": "x"}, ErrForeign, "FORMAT"},
		{"a hidden file is a file", map[string]string{".git": "x"}, ErrForeign, "choose another folder"},
		{"a later format", map[string]string{formatFile: formatText + "2\n"}, ErrNewer, "use a newer ctxweaver"},
		{"a format that is no number", map[string]string{formatFile: formatText + "x\n"}, ErrDamaged, "restore it"},
		{"someone's file of that name", map[string]string{formatFile: "pdf"}, ErrDamaged, "restore it"},
		{"tables without their manifest", map[string]string{formatFile: formatText + "1\n", "000001.sst": "x"}, ErrDamaged, "MANIFEST is gone"},
		{"a garbled seal", map[string]string{formatFile: formatText + "1\n", sealFile: "{"}, ErrDamaged, "delete it"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(dir, nil)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.why, err)
		}
		if got := readAll(t, dir); fmt.Sprint(got) != fmt.Sprint(c.files) {
			t.Errorf("%s: the folder has become %v", c.why, got)
		}
	}
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func TestOpenLocked(t *testing.T) {
	s := open(t, nil)
	put(t, s, "s", chain("s", 3)...)
	_, err := Open(s.dir, nil)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "by this process") {
		t.Fatal(err)
	}
	put(t, s, "s", chain("s", 5)...) // the owner goes on
}

// Whatever is denied, the folder is named, and what to do.
func TestOpenBarred(t *testing.T) {
	denied := []error{
		&fs.PathError{Op: "open", Path: "x/SEAL-new-3467617552", Err: syscall.EACCES},
		fmt.Errorf("open store: %w", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS}),
	}
	if dir := t.TempDir(); os.Geteuid() > 0 { // root may all
		s, err := Open(dir, nil)
		if err == nil {
			err = errors.Join(s.Close(), os.Chmod(dir, 0o500))
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(dir, nil)
		denied = append(denied, err, os.Chmod(dir, 0o700))
	}
	for _, err := range slices.DeleteFunc(denied, func(err error) bool { return err == nil }) {
		if got := barred("x", err); !strings.HasSuffix(got.Error(), "copy the folder, or choose another with --store") || strings.Contains(got.Error(), "SEAL") {
			t.Error(got)
		}
	}
	if err := errors.New("other"); barred("x", err) != err {
		t.Error("another error became one of permission")
	}
}

// A process is named as it was called, its subcommand too, and nothing that follows.
func TestCommand(t *testing.T) {
	if got := command(os.Getpid()); runtime.GOOS == "linux" && got != " (graphstore.test)" {
		t.Errorf("this process is%s", got)
	}
	if got := command(-1); got != "" {
		t.Errorf("no process is%s", got)
	}
}

func TestClosedStore(t *testing.T) {
	ctx := context.Background()
	s := open(t, nil)
	nodes := chain("s", 3)
	put(t, s, "s", nodes...)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, get := s.Get(ctx, "s", nodes[0].ID)
	_, walk := s.Ancestry(ctx, "s", nodes[2].ID, Walk{})
	_, compact := s.Compact(ctx)
	for call, err := range map[string]error{"Put": s.Put(ctx, "s", nodes...), "Get": get, "Ancestry": walk, "Compact": compact, "Delete": s.Delete(ctx, "s")} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// Whatever happens to any file of a store that was closed, or whose process died, Open says which is damaged
// or Check finds nothing amiss and nothing is lost. The one exception is the log of a process that died:
// from its first damaged entry on, it looks as if it had not been written.
func TestOpenDamaged(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(dir, &Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "tables", work("tables", 300)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, &Options{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "log", work("log", 20)...)
	killed := snapshot(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for state, files := range map[string]map[string]image{"closed": snapshot(t, dir), "killed": killed} {
		for name, f := range files {
			if len(f.text) == 0 {
				continue
			}
			flipped := bytes.Clone(f.text)
			flipped[len(flipped)/2] ^= 0x55
			half := int64(len(f.text) / 2)
			for how, damaged := range map[string]*image{
				"flipped": {flipped, f.size},
				"cut":     {f.text[:half], half},
				"emptied": {nil, 0},
				"removed": nil,
			} {
				dir := t.TempDir()
				for other, f := range files {
					if other != name {
						f.write(t, filepath.Join(dir, other))
					} else if damaged != nil {
						damaged.write(t, filepath.Join(dir, name))
					}
				}
				s, err := Open(dir, nil)
				if errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) && name == formatFile {
					continue
				} else if err != nil {
					t.Errorf("%s, %s %s: %v", state, name, how, err)
					continue
				}
				report, err := s.Check(ctx)
				if err != nil || len(report.Problems) > 0 || report.Nodes < 300 || report.Nodes < 320 && filepath.Ext(name) != ".mem" {
					t.Errorf("%s, %s %s: opened with %d nodes, %v, %v", state, name, how, report.Nodes, err, report.Problems)
				}
				if err := s.Close(); err != nil {
					t.Errorf("%s, %s %s: %v", state, name, how, err)
				}
			}
		}
	}
}

// Without a true manifest Badger deletes the tables that it does not list. So whatever has become of the manifest,
// and with or without a seal, the store is refused with what to do, and stays as it was.
func TestOpenKeepsTables(t *testing.T) {
	whole := t.TempDir()
	s, err := Open(whole, &Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "s", work("s", 30)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files := snapshot(t, whole)
	text := files["MANIFEST"].text
	flipped := bytes.Clone(text)
	flipped[len(flipped)-1] ^= 0x55
	for how, manifest := range map[string][]byte{"flipped": flipped, "cut": text[:len(text)-1], "cut to its head": text[:8], "emptied": {}, "removed": nil} {
		for _, sealed := range []bool{true, false} {
			dir := t.TempDir()
			for name, f := range files {
				if name == "MANIFEST" && manifest == nil || name == sealFile && !sealed {
					continue
				}
				if name == "MANIFEST" {
					f = image{manifest, int64(len(manifest))}
				}
				f.write(t, filepath.Join(dir, name))
			}
			before := readAll(t, dir)
			_, err := Open(dir, nil)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "import the sessions again") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, sealed %t: %v", how, sealed, err)
			}
			if got := readAll(t, dir); fmt.Sprint(got) != fmt.Sprint(before) {
				t.Errorf("%s, sealed %t: the folder has changed", how, sealed)
			}
		}
	}
}

// image is a file without the empty space at its end, of which Badger's logs have a lot.
type image struct {
	text []byte
	size int64
}

func snapshot(t *testing.T, dir string) map[string]image {
	t.Helper()
	out := map[string]image{}
	for name, text := range readAll(t, dir) {
		if name != "LOCK" {
			out[name] = image{[]byte(strings.TrimRight(text, "\x00")), int64(len(text))}
		}
	}
	return out
}

func (f image) write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, f.text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, f.size); err != nil {
		t.Fatal(err)
	}
}

// A store survives closing, and sizes are told.
func TestReopen(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	nodes := chain("s", 30)
	for i := range 3 {
		s, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "s", nodes[:10*(i+1)]...)
		if got := all(t, s, "s"); len(got) != 10*(i+1) {
			t.Fatal(len(got))
		}
		check(t, s)
		st, err := s.Stats(ctx)
		if err != nil || st.Sessions != 1 || st.Nodes != 10*(i+1) || st.Tokens != 307*10*(i+1) || st.Disk == 0 {
			t.Fatalf("%+v, %v", st, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Several that open a store and close it at once get in each other's way, but none takes what another has just written
// for damage.
func TestOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	var group errgroup.Group
	for n := range 4 {
		group.Go(func() error {
			for i := range 30 {
				s, err := Open(dir, &Options{NoSync: true})
				if errors.Is(err, ErrLocked) {
					continue
				} else if err != nil {
					return err
				}
				put := s.Describe(t.Context(), SessionInfo{Name: fmt.Sprintf("%d of %d", i, n)})
				if err := errors.Join(put, s.Close()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
