package graphstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// sizes are the lengths of the sessions measured, in steps. The longest takes a minute to build and comes
// with CTXWEAVER_BENCH_LARGE set.
func sizes() []int {
	if os.Getenv("CTXWEAVER_BENCH_LARGE") != "" {
		return []int{1_000, 10_000, 100_000}
	}
	return []int{1_000, 10_000}
}

// work is a session of n steps like those of a coding agent: 2.8 kB each, and three parents, of which one
// is the step before and one far away.
func work(session string, n int) []Node {
	rng := rand.New(rand.NewPCG(1, 2))
	nodes := make([]Node, n)
	previous := Root(session)
	for i := range nodes {
		var out strings.Builder
		for out.Len() < 2200 {
			fmt.Fprintf(&out, "%08x: func %x(ctx context.Context) error\n", rng.Uint32(), rng.Uint32())
		}
		step := Step{
			Thought: fmt.Sprintf("Now I look at what step %d said about %x.", i/2, rng.Uint64()),
			Calls: []Call{{ID: fmt.Sprint(i), Name: "bash", Args: fmt.Sprintf(`{"cmd":"sed -n %dp f%d.go"}`, i, i%40),
				Observation: &Observation{Text: out.String()}}},
			Time: time.Unix(1_700_000_000+int64(i), 0).UTC(),
		}
		nodes[i] = Node{ID: Identify(previous, step), Previous: previous, Seq: i, Step: step,
			Summary: fmt.Sprintf("Reads part %d of a file to see what it does.", i), Action: "view",
			Files:  []string{fmt.Sprintf("pkg/f%d.go", i%40)},
			Tokens: Tokens{Thought: 12, Calls: []int{14}, Observations: []int{700}}}
		for k, p := range []int{i - 1, i - 2 - rng.IntN(20), rng.IntN(i + 1)} {
			if p >= 0 && p < i && !slices.ContainsFunc(nodes[i].Parents, func(q Parent) bool { return q.ID == nodes[p].ID }) {
				nodes[i].Parents = append(nodes[i].Parents, Parent{ID: nodes[p].ID, Kind: Literal, Score: .9 - float64(k)/10,
					Reason: "takes a word", Words: []string{"word"}, By: "rules", Candidate: true})
			}
		}
		previous = nodes[i].ID
	}
	return nodes
}

func BenchmarkPut(b *testing.B) {
	for _, n := range sizes() {
		for _, noSync := range []bool{false, true} {
			b.Run(fmt.Sprintf("steps=%d/nosync=%v", n, noSync), func(b *testing.B) {
				s := open(b, &Options{NoSync: noSync})
				nodes := work("s", n+b.N)
				put(b, s, "s", nodes[:n]...)
				times := make([]time.Duration, 0, b.N)
				b.ResetTimer()
				for _, node := range nodes[n:] {
					start := time.Now()
					put(b, s, "s", node)
					times = append(times, time.Since(start))
				}
				b.StopTimer()
				report(b, times, "")
				disk, err := s.disk()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(disk)/float64(n+b.N), "disk-B/step")
			})
		}
	}
}

// BenchmarkAncestry reports each walk's time as a multiple of getting the records of the nodes it reaches,
// one by one, straight from Badger.
func BenchmarkAncestry(b *testing.B) {
	ctx := context.Background()
	for _, n := range sizes() {
		s := open(b, &Options{NoSync: true})
		nodes := work("s", n)
		put(b, s, "s", nodes...)
		for _, w := range []int{5, 20, 100} {
			b.Run(fmt.Sprintf("steps=%d/W=%d", n, w), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(3, 4))
				var walks, gets []time.Duration
				for b.Loop() {
					id := nodes[n/2+rng.IntN(n/2)].ID
					start := time.Now()
					got, err := s.Ancestry(ctx, "s", id, Walk{W: w, M: 3})
					walks = append(walks, time.Since(start))
					if err != nil || len(got) != w {
						b.Fatal(len(got), err)
					}
					gets = append(gets, rawGets(b, s, got))
				}
				walk, raw := report(b, walks, ""), report(b, gets, "raw-")
				b.ReportMetric(float64(walk)/float64(raw), "x-raw")
			})
		}
	}
}

func rawGets(b *testing.B, s *Store, nodes []Reached) time.Duration {
	keys := make([][]byte, len(nodes))
	for i, r := range nodes {
		keys[i] = recordKey(1, r.ID)
	}
	start := time.Now()
	err := s.db.View(func(txn *badger.Txn) error {
		for _, k := range keys {
			if _, err := get(txn, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// report gives the median and the 99th percentile in microseconds, and returns the median.
func report(b *testing.B, times []time.Duration, prefix string) time.Duration {
	slices.Sort(times)
	p50, p99 := times[len(times)/2], times[len(times)*99/100]
	b.ReportMetric(float64(p50.Nanoseconds())/1e3, prefix+"p50-µs")
	b.ReportMetric(float64(p99.Nanoseconds())/1e3, prefix+"p99-µs")
	return p50
}

func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	for _, n := range sizes() {
		s := open(b, &Options{NoSync: true})
		nodes := work("s", n)
		put(b, s, "s", nodes...)
		head := nodes[n-1].ID
		for name, read := range map[string]func() (int, error){
			"path":      func() (int, error) { p, err := s.Path(ctx, "s", head); return len(p), err },
			"skeletons": func() (int, error) { return count(s.Skeletons(ctx, "s")) },
			"session":   func() (int, error) { return count(s.Session(ctx, "s")) },
		} {
			b.Run(fmt.Sprintf("%s/steps=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if got, err := read(); got != n || err != nil {
						b.Fatal(got, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/step")
			})
		}
	}
}

func count[T any](seq func(func(T, error) bool)) (int, error) {
	n := 0
	for _, err := range seq {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
