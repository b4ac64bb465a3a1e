package controller

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pass makes one call of the gate, with what it tells of the server.
func (g *gate) try(n news) error {
	p, err := g.enter(context.Background())
	if err == nil {
		p.leave(n)
	}
	return err
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, Breaker{Failures: 3, Cooldown: time.Minute})
		must := func(want error, n news) {
			t.Helper()
			if err := g.try(n); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		must(nil, badNews)
		must(nil, badNews)
		must(nil, goodNews) // in a row, so this starts the count again
		must(nil, badNews)
		must(nil, badNews)
		must(nil, noNews)
		must(nil, badNews)
		must(ErrOpen, goodNews)
		time.Sleep(59 * time.Second) // of a bubble, which waits for nothing
		must(ErrOpen, goodNews)
		time.Sleep(2 * time.Second)

		probe, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		must(ErrOpen, goodNews) // one probe at a time
		probe.leave(badNews)
		must(ErrOpen, goodNews) // the cool-down begins anew
		time.Sleep(time.Minute + 1)
		must(nil, noNews) // a probe that tells nothing is followed by another
		must(nil, goodNews)
		must(nil, badNews)
		must(nil, goodNews)
	})
}

// Calls that waited while the breaker opened do not run either, and after the cool-down one of those that come
// together is the probe.
func TestBreakerOpensForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(8, Breaker{Failures: 1, Cooldown: time.Minute})
		for range 2 {
			first, err := g.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var opened atomic.Int32
			for range 5 {
				go func() {
					if errors.Is(g.try(goodNews), ErrOpen) {
						opened.Add(1)
					}
				}()
			}
			synctest.Wait()
			first.leave(badNews)
			synctest.Wait()
			if opened.Load() != 5 || g.inside != 0 {
				t.Errorf("%d of 5 were told, %d are left inside", opened.Load(), g.inside)
			}
			time.Sleep(time.Minute + 1)
		}
	})
}

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2, Breaker{})
		running, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waited sync.WaitGroup
		for range 2 {
			waited.Go(func() {
				if _, err := g.enter(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("a caller who gave up while waiting: %v", err)
				}
			})
		}
		synctest.Wait()
		if err := g.try(goodNews); !errors.Is(err, ErrBusy) {
			t.Errorf("a full queue: %v", err)
		}
		cancel()
		waited.Wait()
		waited.Go(func() {
			if err := g.try(goodNews); err != nil {
				t.Errorf("places that were given up are free at once: %v", err)
			}
		})
		synctest.Wait()
		running.leave(noNews)
		waited.Wait()
	})
}

// A caller who gives up in the middle of a call frees the server for the next at once, and that tells nothing
// of the server.
func TestGivingUpFreesTheServer(t *testing.T) {
	entered := make(chan bool, 1)
	var n atomic.Int32
	right := says(`{"parents":[]}`)
	f := &fake{t: t, chat: func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > 1 {
			right(w, r)
			return
		}
		entered <- true
		<-r.Context().Done()
	}}
	o := f.client(OllamaOptions{Breaker: Breaker{Failures: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := o.Select(ctx, three())
		done <- err
	}()
	<-entered
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := o.Select(t.Context(), three()); err != nil {
		t.Error(err)
	}
}

// Whatever the server does and whenever callers give up, every call ends in its time and leaves its place.
func TestEveryCallEnds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	right := says(`{"parents":[]}`)
	var dice sync.Mutex
	roll := func(n int) int {
		dice.Lock()
		defer dice.Unlock()
		return r.IntN(n)
	}
	f := &fake{t: t, chat: func(w http.ResponseWriter, r *http.Request) {
		switch roll(4) {
		case 0:
			w.WriteHeader(500)
		case 1:
			<-r.Context().Done()
		case 2:
			panic(http.ErrAbortHandler)
		default:
			right(w, r)
		}
	}}
	o := f.client(OllamaOptions{Queue: 20, Breaker: Breaker{Failures: 2, Cooldown: time.Millisecond}})
	var calls sync.WaitGroup
	for range 60 {
		limit := time.Duration(1+roll(60)) * time.Millisecond
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			start := time.Now()
			o.Select(ctx, three()) // what comes of it does not matter
			if took := time.Since(start); took > limit+time.Second {
				t.Errorf("seed %d: %v, with %v to do it in", seed, took, limit)
			}
		})
	}
	calls.Wait()
	if o.gate.inside != 0 || len(o.gate.slot) != 0 || o.gate.probing {
		t.Errorf("seed %d: left behind: %+v", seed, o.gate)
	}
}

// A server that comes back is used again after one probe.
func TestBackAfterOneProbe(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	right := says(`{"parents":[]}`)
	f := &fake{t: t, chat: func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(500)
			return
		}
		right(w, r)
	}}
	o := f.client(OllamaOptions{Breaker: Breaker{Failures: 2, Cooldown: 20 * time.Millisecond}})
	for _, want := range []error{ErrServer, ErrServer, ErrOpen} {
		if _, err := o.Select(t.Context(), three()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	broken.Store(false)
	<-time.After(30 * time.Millisecond)
	for range 3 {
		if _, err := o.Select(t.Context(), three()); err != nil {
			t.Error(err)
		}
	}
}
