package badgerkv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cayleygraph/cayley/graph"
	"github.com/cayleygraph/cayley/graph/graphtest"
	ckv "github.com/cayleygraph/cayley/graph/kv"
	ckvtest "github.com/cayleygraph/cayley/graph/kv/kvtest"
	"github.com/dgraph-io/badger/v4"
	"github.com/hidal-go/hidalgo/kv"
	"github.com/hidal-go/hidalgo/kv/flat"
	"github.com/hidal-go/hidalgo/kv/kvtest"
	"github.com/hidal-go/hidalgo/kv/options"
)

// TestMain runs the suites as a program of its own would: the backend registered, by name.
func TestMain(m *testing.M) {
	Register()
	os.Exit(m.Run())
}

func TestHidalgoSuite(t *testing.T) {
	kvtest.RunTestLocal(t, flat.UpgradeOpenPath(OpenPath), nil)
}

// TestCayleySuite runs Cayley's key-value and graph suites, with and without its bloom filter.
func TestCayleySuite(t *testing.T) {
	cayleyData(t)
	ckvtest.TestAll(t, newKV, nil)
}

// TestCayleyIntegration loads Cayley's film data, 480,000 quads, and asks it the suite's questions, which
// takes about a minute. It runs without the bloom filter, as the store does.
func TestCayleyIntegration(t *testing.T) {
	cayleyData(t)
	graphtest.TestIntegration(t, func(t testing.TB) (graph.QuadStore, graph.Options) {
		opts := graph.Options{ckv.OptNoBloom: true}
		db, _, _ := newKV(t)
		if err := ckv.Init(db, opts); err != nil {
			t.Fatal(err)
		}
		qs, err := ckv.New(db, opts)
		if err != nil {
			t.Fatal(err)
		}
		return qs, opts
	}, true)
}

func newKV(t testing.TB) (kv.KV, graph.Options, func()) {
	db, err := OpenPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return flat.Upgrade(db), nil, func() {}
}

// cayleyData moves the test to a folder around which the data sets of Cayley's module lie where its
// suites look for them.
func cayleyData(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cayleygraph/cayley").Output()
	if err != nil {
		t.Fatalf("find Cayley's module: %v", err)
	}
	data := os.DirFS(filepath.Join(strings.TrimSpace(string(out)), "data"))
	root := t.TempDir()
	work := filepath.Join(root, "a", "b", "c", "d")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/data", "data"} { // ../../data and ../../../../data
		if err := os.CopyFS(filepath.Join(root, dir), data); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
}

func openMemory(t *testing.T) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A lent transaction is the caller's: what is put through two keyspaces of it is there together when the
// caller commits, and not at all when the caller discards.
func TestBindIsTheCallersTransaction(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	for _, commit := range []bool{false, true} {
		txn := db.NewTransaction(true)
		for _, space := range []string{"a/", "b/"} {
			err := Bind(txn, []byte(space), true).Update(ctx, func(tx flat.Tx) error {
				if err := tx.Put(ctx, flat.Key("k"), flat.Value(space)); err != nil {
					return err
				}
				return tx.Commit(ctx)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if commit {
			if err := txn.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		txn.Discard()
		read := db.NewTransaction(false)
		for _, space := range []string{"a/", "b/"} {
			tx, err := Bind(read, []byte(space), false).Tx(ctx, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tx.Get(ctx, flat.Key("k"))
			if commit && (err != nil || string(got) != space) || !commit && !errors.Is(err, flat.ErrNotFound) {
				t.Errorf("committed %v, keyspace %s: %q, %v", commit, space, got, err)
			}
		}
		read.Discard()
	}
}

// A keyspace shows its own keys alone, whichever way they are reached, and a transaction may end under
// an iterator that was left open.
func TestBindScansItsOwnKeys(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	err := db.Update(func(txn *badger.Txn) error {
		for _, k := range []string{"a/x1", "b/x1", "b/x2", "b/y", "c/x3"} {
			if err := txn.Set([]byte(k), []byte(k)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	txn := db.NewTransaction(false)
	defer txn.Discard()
	for _, c := range []struct {
		prefix, seek, want string
		why                string
	}{
		{"", "", "x1 x2 y", "no prefix: the whole keyspace"},
		{"x", "", "x1 x2", "a prefix inside it"},
		{"", "x2", "x2 y", "sought from the middle"},
		{"x", "a", "x1 x2", "sought before the prefix: its first key"},
		{"x", "y", "", "sought behind the prefix: nothing"},
		{"z", "", "", "a prefix that no key has"},
	} {
		tx, err := Bind(txn, []byte("b/"), false).Tx(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		it := tx.Scan(ctx, options.WithPrefixFlat(flat.Key(c.prefix)))
		var got []string
		ok := false
		if c.seek == "" {
			ok = it.Next(ctx)
		} else {
			ok = flat.Seek(ctx, it, flat.Key(c.seek))
		}
		for ; ok; ok = it.Next(ctx) {
			got = append(got, string(it.Key()))
			if want := "b/" + string(it.Key()); string(it.Val()) != want {
				t.Errorf("%s: value %q, want %q", c.why, it.Val(), want)
			}
		}
		if s := strings.Join(got, " "); s != c.want || it.Err() != nil {
			t.Errorf("%s: got %q, %v, want %q", c.why, s, it.Err(), c.want)
		}
		if err := tx.Close(); err != nil { // the iterator is still open
			t.Fatal(err)
		}
	}
}

// What cannot be one transaction fails as one: a lent transaction is never split.
func TestBindNeverSplits(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	txn := db.NewTransaction(true)
	defer txn.Discard()
	tx, err := Bind(txn, nil, true).Tx(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 1<<19)
	for i := range 40 {
		if err = tx.Put(ctx, flat.Key(fmt.Sprint(i)), value); err != nil {
			break
		}
	}
	if !errors.Is(err, badger.ErrTxnTooBig) {
		t.Fatalf("20 MB in one transaction: %v", err)
	}
}

// A cancelled scan says so instead of looking finished.
func TestScanHonoursContext(t *testing.T) {
	db := openMemory(t)
	err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("k"), nil) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tx, err := New(db).Tx(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	it := tx.Scan(ctx)
	if it.Next(ctx) || !errors.Is(it.Err(), context.Canceled) {
		t.Fatalf("Next went on: %v", it.Err())
	}
}
