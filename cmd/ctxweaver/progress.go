package main

import (
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows on a terminal how far work that takes over a second has come. It is safe for
// concurrent use; a nil one shows nothing.
type progress struct {
	label string

	mu    sync.Mutex
	total int64 // 0: not known
	done  int64
	timer *time.Timer   // shows the bar when a second has passed
	all   *mpb.Progress // nil while nothing shows
	bar   *mpb.Bar
}

// patience is how long work may take before its progress shows.
const patience = time.Second

// progress begins to watch work of so many units, 0 if that is not known. The caller stops it.
func (a *app) progress(label string, total int) *progress {
	if a.quiet || a.json || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	p := &progress{label: label, total: int64(total)}
	p.timer = time.AfterFunc(patience, p.show)
	return p
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		return
	}
	p.all = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithWidth(40))
	before := mpb.PrependDecorators(decor.Name(p.label + " "))
	if p.total == 0 {
		p.bar = p.all.AddSpinner(0, mpb.BarWidth(1), before)
		return
	}
	p.bar = p.all.AddBar(p.total, before, mpb.AppendDecorators(decor.CountersNoUnit("%d/%d "), decor.AverageETA(decor.ET_STYLE_GO)))
	p.bar.SetCurrent(p.done)
}

// grow adds n units to the work ahead.
func (p *progress) grow(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += int64(n)
	if p.bar != nil {
		p.bar.SetTotal(p.total, false)
	}
}

// add counts n more units as done.
func (p *progress) add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(n)
	if p.bar != nil {
		p.bar.SetCurrent(p.done)
	}
}

// stop takes the bar away, for something else to be printed or for good.
func (p *progress) stop() {
	if p == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Abort(true)
		p.all.Wait()
		p.all, p.bar = nil, nil
	}
}

// resume shows it again when more work takes over a second.
func (p *progress) resume() {
	if p != nil {
		p.timer.Reset(patience)
	}
}
