package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxweaver/ctxweaver/engine"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands found into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ctxweaver": main})
}

func TestScripts(t *testing.T) { testscript.Run(t, scripts("testdata/script")) }

// scripts are those of a folder, each in a home of its own.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			for _, v := range [][2]string{
				{"HOME", env.WorkDir + "/home"}, {"USERPROFILE", env.WorkDir + "/home"},
				{"XDG_CONFIG_HOME", env.WorkDir + "/config"}, {"AppData", env.WorkDir + "/config"},
				{"XDG_CACHE_HOME", env.WorkDir + "/cache"},
				{"XDG_DATA_HOME", env.WorkDir + "/data"}, {"LocalAppData", env.WorkDir + "/data"},
				{"CTXWEAVER_STORE", env.WorkDir + "/store"},
				{"LC_ALL", "C.UTF-8"}, {"COLUMNS", "110"}, {"TZ", "UTC"},
			} {
				env.Setenv(v[0], v[1])
			}
			// A small trajectory that most scripts use: a failing test, its source, the edit, a passing test.
			calc, err := os.ReadFile("testdata/calc.json")
			if err != nil {
				return err
			}
			// And a model's file with one tensor without a name.
			tiny := append([]byte("GGUF\x03\x00\x00\x00\x01"), make([]byte, 91)...)
			return errors.Join(os.WriteFile(env.WorkDir+"/calc.json", calc, 0o644), os.WriteFile(env.WorkDir+"/tiny.gguf", tiny, 0o644), os.MkdirAll(env.WorkDir+"/home", 0o755))
		},
		Condition: func(cond string) (bool, error) { return cond == "signals" && runtime.GOOS != "windows", nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"compress": compressFile,
			"occupy":   occupy,
			"damage":   damage,
			"tear":     tear,
			"copies":   copies,
			"await":    await,
			"append":   appendFile,
			"embedder": embedder,
			"writer":   writer,
		},
	}
}

// compressFile is "compress gzip|zstd FILE OUT".
func compressFile(ts *testscript.TestScript, _ bool, args []string) {
	var out bytes.Buffer
	switch args[0] {
	case "gzip":
		w := gzip.NewWriter(&out)
		_, err := w.Write([]byte(ts.ReadFile(args[1])))
		ts.Check(err)
		ts.Check(w.Close())
	case "zstd":
		w, err := zstd.NewWriter(&out)
		ts.Check(err)
		_, err = w.Write([]byte(ts.ReadFile(args[1])))
		ts.Check(err)
		ts.Check(w.Close())
	default:
		ts.Fatalf("compress: no such kind: %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o644))
}

// occupy is "occupy DIR": the store there stays open until the script ends.
func occupy(ts *testscript.TestScript, _ bool, args []string) {
	e, err := engine.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Defer(func() { ts.Check(e.Close()) })
}

// damage is "damage DIR": the store there loses its sessions' lists of nodes, and the seal that would tell
// of it at once (FORMAT.md).
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if err := os.Remove(ts.MkAbs(args[0]) + "/SEAL"); !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	db, err := badger.Open(badger.DefaultOptions(ts.MkAbs(args[0])).WithLogger(nil))
	ts.Check(err)
	ts.Check(db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("s")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if k := it.Item().KeyCopy(nil); k[9] == 'o' {
				if err := txn.Delete(k); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	ts.Check(db.Close())
}

// copies is "copies FILE N DIR": N files like it in a new folder.
func copies(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	dir := ts.MkAbs(args[2])
	ts.Check(os.Mkdir(dir, 0o755))
	for i := range n {
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("copy%02d.json", i)), []byte(ts.ReadFile(args[0])), 0o644))
	}
}

// tear is "tear DIR": the first bytes of the tables there, where the catalog is, are changed, and the seal stays.
func tear(ts *testscript.TestScript, _ bool, args []string) {
	tables, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.sst"))
	ts.Check(err)
	for _, table := range tables {
		data, err := os.ReadFile(table)
		ts.Check(err)
		for i := range 40 {
			data[i] ^= 0x55
		}
		ts.Check(os.WriteFile(table, data, 0o600))
	}
}

// await is "await REGEXP FILE": it waits until the file holds it.
func await(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[0])
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(ts.MkAbs(args[1])); err == nil && re.Match(data) {
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("await: %q did not show in %s:\n%s", args[0], args[1], ts.ReadFile(args[1]))
		case <-tick.C:
		}
	}
}

// appendFile is "append FROM TO [first|rest]": all of FROM, or what comes before or after its middle.
func appendFile(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	text := ts.ReadFile(args[0])
	switch middle := len(text) / 2; {
	case len(args) == 3 && args[2] == "first":
		text = text[:middle]
	case len(args) == 3 && args[2] == "rest":
		text = text[middle:]
	}
	_, err = f.WriteString(text)
	ts.Check(err)
	ts.Check(f.Close())
}
