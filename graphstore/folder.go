package graphstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// FormatVersion is the version of the store's layout (FORMAT.md) that this package reads and writes.
const FormatVersion = 1

const (
	formatFile = "FORMAT" // the file in the folder that says so
	formatText = "ctxweaver store, format "
	tempMark   = "-new-" // in the name of a file that is about to replace another
)

// claim makes sure that dir holds a store of our format, or makes it one if it is absent or empty. It
// looks before anything is opened for writing: Badger would delete the tables of a store that has lost
// its manifest, and settle in anyone's folder.
func claim(dir string) error {
	if dir == "" {
		return errors.New("open store: no folder given")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if err := room(dir, spareToOpen); err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	names = slices.DeleteFunc(names, func(n fs.DirEntry) bool { return strings.Contains(n.Name(), tempMark) })
	if len(names) == 0 {
		if err := replaceFile(dir, formatFile, fmt.Appendf(nil, "%s%d\n", formatText, FormatVersion)); err != nil {
			return fmt.Errorf("open store: %w", err)
		}
		return breakSeal(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open %s: %w: it has other files and no %s file; choose another folder", dir, ErrForeign, formatFile)
	} else if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	version, ours := strings.CutPrefix(strings.TrimSpace(string(text)), formatText)
	if n, err := strconv.Atoi(version); !ours || err != nil {
		return fmt.Errorf("open %s: %w: its %s file reads %.40q; restore it to %q", dir, ErrDamaged, formatFile, text, formatText+strconv.Itoa(FormatVersion))
	} else if n > FormatVersion {
		return fmt.Errorf("open %s: %w: %d, this program knows %d; use a newer ctxweaver", dir, ErrNewer, n, FormatVersion)
	}
	return complete(dir, names)
}

// complete fails if the files are not as they were, or tables or logs are there and the manifest that lists
// them is not.
func complete(dir string, names []fs.DirEntry) error {
	manifest, data := false, ""
	for _, n := range names {
		switch ext := filepath.Ext(n.Name()); {
		case n.Name() == badger.ManifestFilename:
			manifest = true
		case ext == ".sst" || ext == ".mem" || ext == ".vlog":
			data = n.Name()
		}
	}
	if data != "" && !manifest {
		return fmt.Errorf("open %s: %w: %s is gone though %s is there; %s", dir, ErrDamaged, badger.ManifestFilename, data, startAnew)
	}
	return breakSeal(dir)
}

// replaceFile writes a file, all of it or nothing.
func replaceFile(dir, name string, text []byte) error {
	f, err := os.CreateTemp(dir, name+tempMark+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// openBadger opens the database. The memtable keeps Badger's 64 MB: a store that was killed cannot be
// opened with a smaller one. Values stay in the tree, never in the value log, whose space would not come
// back; hence its small files. Tables are not compressed: the long texts in them are already, and walks
// through a large store are half again as fast without, and need no cache of blocks.
func openBadger(dir string, opts *Options) (db *badger.DB, err error) {
	defer func() { // Badger trusts some of what it reads
		if p := recover(); p != nil {
			err = fmt.Errorf("open %s: %w: %v; %s", dir, ErrDamaged, p, startAnew)
		}
	}()
	o := badger.DefaultOptions(dir).
		WithInMemory(opts.InMemory).
		WithSyncWrites(!opts.NoSync).
		WithLogger(nil).
		WithMetricsEnabled(false).
		WithValueLogFileSize(64 << 20).
		WithCompression(options.None).WithBlockCacheSize(0).
		WithChecksumVerificationMode(options.OnBlockRead)
	db, err = badger.Open(o)
	switch {
	case err == nil:
		return db, nil
	case strings.Contains(err.Error(), "directory lock"):
		return nil, fmt.Errorf("open %s: %w%s; wait for it or stop it, or choose another store", dir, ErrLocked, owner(dir))
	case barred(dir, err) != err:
		return nil, barred(dir, err)
	}
	if table := tableName.FindString(err.Error()); table != "" && strings.Contains(err.Error(), "checksum") {
		err = fmt.Errorf("the index of %s was changed, and nothing in that file can be read", table)
	}
	return nil, fmt.Errorf("open %s: %w: %w; %s", dir, ErrDamaged, err, startAnew)
}

var tableName = regexp.MustCompile(`[0-9]+\.sst`)

// barred puts in one line that this user may not write to the folder, whatever it was that failed for it; other errors
// it leaves alone. Badger takes its lock there and the seal is broken, also where nothing is to be changed.
func barred(dir string, err error) error {
	for _, why := range []error{fs.ErrPermission, syscall.EROFS} {
		if errors.Is(err, why) {
			return fmt.Errorf("open %s: %w: looking at a store needs to read and write in its folder too; copy the folder, or choose another with --store", dir, why)
		}
	}
	return err
}

// owner says which process has the folder open, if its lock file tells.
func owner(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	pid, perr := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || perr != nil:
		return " by another process"
	case pid == os.Getpid():
		return " by this process"
	}
	return fmt.Sprintf(" by process %d%s", pid, command(pid))
}

var plainWord = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)

// command is what a process was called as, with its subcommand, in brackets: " (ctxweaver import)". Where the system does
// not tell it is nothing.
func command(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	words := strings.Split(string(line), "\x00")
	words[0] = filepath.Base(words[0])
	n := 0
	for n < min(2, len(words)) && plainWord.MatchString(words[n]) {
		n++
	}
	if n == 0 {
		return ""
	}
	return " (" + strings.Join(words[:n], " ") + ")"
}
