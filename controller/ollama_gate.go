package controller

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Breaker says when a failing server is left alone. While it is, calls fail at once with ErrOpen. After
// the cool-down one call goes through as a probe: if it succeeds all do again, if not the cool-down begins anew.
type Breaker struct {
	Failures int           // in a row, 0: 3
	Cooldown time.Duration // 0: 30 seconds
}

// gate lets one call through at a time, and none while the breaker is open.
type gate struct {
	slot  chan struct{} // holds one token while a call runs
	queue int
	limit Breaker

	mu      sync.Mutex
	inside  int // calls that wait or run
	failed  int // in a row
	until   time.Time
	probing bool
}

func newGate(queue int, b Breaker) *gate {
	if b.Failures <= 0 {
		b.Failures = 3
	}
	if b.Cooldown <= 0 {
		b.Cooldown = 30 * time.Second
	}
	return &gate{slot: make(chan struct{}, 1), queue: queue, limit: b}
}

// pass is a call's leave to run.
type pass struct {
	gate  *gate
	probe bool
}

type news int

const (
	noNews news = iota // tells nothing of the server
	goodNews
	badNews
)

// enter waits for the call's turn. A context that ends meanwhile frees the place at once.
func (g *gate) enter(ctx context.Context) (pass, error) {
	if err := g.join(); err != nil {
		return pass{}, err
	}
	select {
	case g.slot <- struct{}{}:
	case <-ctx.Done():
		g.drop()
		return pass{}, fmt.Errorf("waiting for the call before it: %w", ctx.Err())
	}
	probe, err := g.admit()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p := pass{g, probe}
		p.leave(noNews)
		return pass{}, err
	}
	return pass{g, probe}, nil
}

// join takes a place in the queue, if there is one and it leads anywhere.
func (g *gate) join() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return err
	}
	if g.inside > g.queue {
		return fmt.Errorf("%w: %d wait already", ErrBusy, g.queue)
	}
	g.inside++
	return nil
}

// admit looks again whether the breaker is closed, for a call that has waited, and says whether the call is the
// probe.
func (g *gate) admit() (probe bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return false, err
	}
	g.probing = g.failed >= g.limit.Failures
	return g.probing, nil
}

// open is the error of a call that comes while the breaker is open.
func (g *gate) open() error {
	if g.failed < g.limit.Failures {
		return nil
	}
	if left := time.Until(g.until); left > 0 {
		return fmt.Errorf("%w: it failed %d times in a row; next try in %v", ErrOpen, g.failed, left.Round(time.Millisecond))
	}
	if g.probing {
		return fmt.Errorf("%w: it failed %d times in a row, and is being tried now", ErrOpen, g.failed)
	}
	return nil
}

func (g *gate) drop() {
	g.mu.Lock()
	g.inside--
	g.mu.Unlock()
}

// leave ends the call.
func (p pass) leave(n news) {
	g := p.gate
	g.mu.Lock()
	g.inside--
	if p.probe {
		g.probing = false
	}
	switch n {
	case goodNews:
		g.failed = 0
	case badNews:
		if g.failed++; g.failed >= g.limit.Failures {
			g.until = time.Now().Add(g.limit.Cooldown)
		}
	}
	g.mu.Unlock()
	<-g.slot
}
