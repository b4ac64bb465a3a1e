package graphstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// The child of TestKill is this test binary with this variable naming the store.
const crashDir = "CTXWEAVER_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := appendForEver(dir, os.Getenv("CTXWEAVER_CRASH_NOSYNC") != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

var crashSessions = []string{"first", "second"}

// crashNode is the i-th node of a session in the crash test. Both sides can make it from nothing.
func crashNode(previous NodeID, session string, i int) Node {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(len(session))))
	n := Node{Previous: previous, Seq: i, Step: Step{Thought: fmt.Sprintf("%s %d", session, i), Calls: []Call{{Name: "run", Args: words(rng)}}}}
	n.Step.Calls[0].Observation = &Observation{Text: words(rng) + fmt.Sprint(i)}
	n.ID = Identify(previous, n.Step)
	n.Files = []string{fmt.Sprintf("f%d", i%7)}
	if i > 0 {
		n.Parents = []Parent{{ID: previous, Kind: Previous, Candidate: true}}
	}
	return n
}

// appendForEver goes on with the sessions from where they stand, and prints each node that was acknowledged.
// Every third is changed afterwards.
func appendForEver(dir string, noSync bool) error {
	ctx := context.Background()
	s, err := Open(dir, &Options{NoSync: noSync})
	if err != nil {
		return err
	}
	fmt.Println("open")
	errs := make(chan error)
	for _, session := range crashSessions {
		go func() {
			errs <- func() error {
				previous, i := Root(session), 0
				if info, err := s.Info(ctx, session); err == nil && info.Nodes > 0 {
					previous, i = info.Head, info.Nodes
				}
				for ; ; i++ {
					n := crashNode(previous, session, i)
					if err := s.Put(ctx, session, n); err != nil {
						return err
					}
					fmt.Println(session, i)
					if previous = n.ID; i%3 == 0 {
						n.Validation = Failed
						if err := s.Put(ctx, session, n); err != nil {
							return err
						}
						fmt.Println(session, i, "changed")
					}
				}
			}()
		}()
	}
	return <-errs
}

// TestKill kills a process that appends to two sessions, again and again at a random moment: what it
// acknowledged must be there, and nothing be there by half. CTXWEAVER_CRASH_ROUNDS sets how often, and
// CTXWEAVER_CRASH_SEED repeats a run.
func TestKill(t *testing.T) {
	rounds, seed := 3, uint64(time.Now().UnixNano())
	if v, err := strconv.Atoi(os.Getenv("CTXWEAVER_CRASH_ROUNDS")); err == nil {
		rounds = v
	}
	if v, err := strconv.ParseUint(os.Getenv("CTXWEAVER_CRASH_SEED"), 10, 64); err == nil {
		seed = v
	}
	for _, noSync := range []bool{false, true} {
		t.Run(fmt.Sprintf("nosync=%v", noSync), func(t *testing.T) {
			t.Logf("seed %d, %d rounds", seed, rounds)
			rng := rand.New(rand.NewPCG(seed, 0))
			dir := t.TempDir()
			acknowledged := map[ack]bool{}
			for range rounds {
				killRound(t, dir, noSync, time.Duration(50+rng.IntN(400))*time.Millisecond, acknowledged)
				verifyAfterKill(t, dir, acknowledged)
			}
			t.Logf("%d puts acknowledged, all there", len(acknowledged))
		})
	}
}

// ack is what the child said is kept: a node, or its change.
type ack struct {
	session string
	node    int
	changed bool
}

// killRound lets the child append for a while and kills it.
func killRound(t *testing.T, dir string, noSync bool, after time.Duration, acknowledged map[ack]bool) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir)
	if noSync {
		child.Env = append(child.Env, "CTXWEAVER_CRASH_NOSYNC=1")
	}
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("child did not open the store: %q", lines.Text())
	}
	timer := time.AfterFunc(after, func() { child.Process.Kill() })
	defer timer.Stop()
	for lines.Scan() {
		var a ack
		if n, _ := fmt.Sscan(lines.Text(), &a.session, &a.node); n != 2 {
			break // cut by the kill
		}
		a.changed = strings.HasSuffix(lines.Text(), " changed")
		acknowledged[a] = true
	}
	if err := child.Wait(); err == nil {
		t.Fatal("child ended by itself")
	}
}

func verifyAfterKill(t *testing.T, dir string, acknowledged map[ack]bool) {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	check(t, s)
	for _, session := range crashSessions {
		previous, i := Root(session), 0
		for got, err := range s.Session(context.Background(), session) {
			if errors.Is(err, ErrNotFound) {
				break // killed before its first node
			} else if err != nil {
				t.Fatal(err)
			}
			want := crashNode(previous, session, i)
			if got.Validation == Failed && i%3 == 0 || acknowledged[ack{session, i, true}] {
				want.Validation = Failed
			}
			if d := gocmp.Diff(want, got); d != "" {
				t.Fatalf("session %s, node %d: %s", session, i, d)
			}
			previous, i = got.ID, i+1
		}
		for a := range acknowledged {
			if a.session == session && a.node >= i {
				t.Errorf("%+v was acknowledged, and only %d nodes are there", a, i)
			}
		}
	}
}
