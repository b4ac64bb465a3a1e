// Package store measures the engine over its store: appending, weaving, opening and what a session
// costs in disk and memory.
//
//	go test -bench . -benchtime 200x ./benchmarks/store -steps 1000,10000,100000
package store

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

var sizes = flag.String("steps", "1000", "lengths of the sessions to measure, in steps, separated by commas")

func lengths(b *testing.B) []int {
	var out []int
	for _, f := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// step makes a step of about 2.8 kB over 400 files, in which words flow as in real work: it views, edits
// and tests what was seen before.
func step(rnd *rand.Rand, i int) engine.Step {
	file := fmt.Sprintf("pkg/part%d/file_%d.go", rnd.Intn(20), rnd.Intn(20))
	var text strings.Builder
	for l := range 55 {
		fmt.Fprintf(&text, "%4d\tfunc handle_%d_%d(request *Request) error { return nil }\n", l, rnd.Intn(5000), i%97)
	}
	commands := []string{"sed -n 1,60p " + file, fmt.Sprintf("sed -i s/handle_%d/handle/ %s", rnd.Intn(5000), file), "go test ./pkg/...", "grep -rn Request pkg"}
	return engine.Step{
		Thought: fmt.Sprintf("I look at handle_%d_%d in %s next.", rnd.Intn(5000), i%97, file),
		Calls: []engine.Call{{ID: fmt.Sprint("call_", i), Name: "bash", Args: `{"command":"` + commands[rnd.Intn(len(commands))] + `"}`,
			Observation: &engine.Observation{Text: text.String()}}},
	}
}

// stores are the folders of sessions made so far, by length. All benchmarks of one length share one,
// which BenchmarkAppend makes a little longer.
var stores = map[int]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range stores {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built opens a session of n steps, made if there is none.
func built(b *testing.B, n int) (dir string, e *engine.Engine) {
	b.Helper()
	dir, found := stores[n]
	if !found {
		var err error
		if dir, err = os.MkdirTemp("", "ctxweaver-bench-"); err != nil {
			b.Fatal(err)
		}
		stores[n] = dir
	}
	e, err := engine.Open(dir, &engine.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	if found {
		return dir, e
	}
	rnd := rand.New(rand.NewSource(1))
	steps := make([]engine.Step, n)
	for i := range steps {
		steps[i] = step(rnd, i)
	}
	if _, err := e.Session("s").Sync(context.Background(), steps, nil); err != nil {
		b.Fatal(err)
	}
	return dir, e
}

// spread reports the p50 and p99 of what took so long, in milliseconds.
func spread(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	ms := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

func timed(b *testing.B, f func(i int) error) {
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if err := f(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	spread(b, took)
}

// BenchmarkAppend appends to a session that is n steps long, with rules as the controller. Synced is
// the default, which waits for the disk; the yardstick beside it is a bare write of the same size with fsync.
func BenchmarkAppend(b *testing.B) {
	for _, n := range lengths(b) {
		dir, e := built(b, n)
		for _, mode := range []string{"nosync", "synced"} {
			b.Run(fmt.Sprintf("%s/steps=%d", mode, n), func(b *testing.B) {
				if mode == "synced" {
					e.Close()
					var err error
					if e, err = engine.Open(dir, nil); err != nil {
						b.Fatal(err)
					}
					defer e.Close()
				}
				s := e.Session("s")
				rnd := rand.New(rand.NewSource(time.Now().UnixNano()))
				if _, err := s.Append(context.Background(), step(rnd, rnd.Int())); err != nil { // reads the session
					b.Fatal(err)
				}
				timed(b, func(i int) error {
					_, err := s.Append(context.Background(), step(rnd, rnd.Int()))
					return err
				})
			})
		}
	}
	b.Run("yardstick=write+fsync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		record := make([]byte, 3<<10)
		timed(b, func(int) error {
			if _, err := f.Write(record); err != nil {
				return err
			}
			return f.Sync()
		})
	})
}

// BenchmarkWeave weaves the next context of a session that is n steps long.
func BenchmarkWeave(b *testing.B) {
	for _, n := range lengths(b) {
		_, e := built(b, n)
		for _, name := range []string{"full", "window:5", "polling:5/20", "paper:3/5", "paper:3/20"} {
			policy, err := engine.ParsePolicy(name)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/steps=%d", strings.ReplaceAll(name, "/", "-"), n), func(b *testing.B) {
				timed(b, func(int) error {
					_, err := e.Session("s").Weave(context.Background(), engine.Request{Policy: policy})
					return err
				})
			})
		}
	}
}

// BenchmarkOpen opens a store that has a session of n steps, reads the catalog and the newest step.
func BenchmarkOpen(b *testing.B) {
	for _, n := range lengths(b) {
		dir, e := built(b, n)
		e.Close()
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			timed(b, func(int) error {
				e, err := engine.Open(dir, nil)
				if err != nil {
					return err
				}
				defer e.Close()
				infos, err := e.Sessions(context.Background())
				if err != nil {
					return err
				}
				_, err = e.Store().Get(context.Background(), "s", graphstore.NodeID(infos[0].Head))
				return err
			})
		})
	}
}

// BenchmarkSize reports what 1,000 steps take on disk and in a process that has the session open.
func BenchmarkSize(b *testing.B) {
	for _, n := range lengths(b) {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			dir, e := built(b, n)
			before := heap()
			rnd := rand.New(rand.NewSource(2))
			if _, err := e.Session("s").Append(context.Background(), step(rnd, n)); err != nil { // reads the session
				b.Fatal(err)
			}
			held := heap() - before
			e.Close()
			for b.Loop() { // once is enough, however often it is asked for
			}
			b.ReportMetric(float64(held)/1e6/float64(n)*1000, "heap-MB/1000steps")
			b.ReportMetric(disk(b, dir)/1e6/float64(n)*1000, "disk-MB/1000steps")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// disk is what the folder's files take in blocks: Badger maps files that are larger than what is in them.
func disk(b *testing.B, dir string) float64 {
	total := 0.0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += allocated(info)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}
