package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows on a terminal how far work that takes over a second has come; elsewhere it says so in a line a minute. It
// is safe for concurrent use; a nil one shows nothing.
type progress struct {
	label string
	lines io.Writer // where there is no terminal
	began time.Time

	mu    sync.Mutex
	total int64 // 0: not known
	done  int64
	told  time.Time     // the last line
	timer *time.Timer   // shows the bar when a second has passed; nil where there is no terminal
	all   *mpb.Progress // nil while nothing shows
	bar   *mpb.Bar
}

// patience is how long work may take before its progress shows, and between is how long a line of it is enough.
const (
	patience = time.Second
	between  = time.Minute
)

// progress begins to watch work of so many units, 0 if that is not known. The caller stops it.
func (a *app) progress(label string, total int) *progress {
	if a.quiet || a.json {
		return nil
	}
	now := time.Now()
	p := &progress{label: label, total: int64(total), began: now, told: now}
	if errorsOnTerminal() {
		p.timer = time.AfterFunc(patience, p.show)
	} else {
		p.lines = a.err
	}
	return p
}

// announce says in a line, where no bar can, that work begins which may take minutes.
func (a *app) announce(format string, args ...any) {
	if !a.quiet && !a.json && !errorsOnTerminal() {
		fmt.Fprintln(a.err, oneLine(fmt.Sprintf(format, args...)))
	}
}

func errorsOnTerminal() bool { return term.IsTerminal(int(os.Stderr.Fd())) }

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
	left := decor.Any(func(s decor.Statistics) string { return ahead(s.Current, s.Total, time.Since(p.began)) })
	p.bar = p.all.AddBar(p.total, before, mpb.AppendDecorators(decor.CountersNoUnit("%d/%d"), left))
	p.bar.SetCurrent(p.done)
}

// ahead says how long work will take yet, after so many of its units took so long; "" while nobody can know.
func ahead(done, total int64, took time.Duration) string {
	if done <= 0 || done >= total {
		return ""
	}
	return fmt.Sprintf(", %v left", (took / time.Duration(done) * time.Duration(total-done)).Round(time.Second))
}

// line says how far the work has come, if nothing was said for a while.
func (p *progress) line(now time.Time) {
	if p.lines == nil || now.Sub(p.told) < between {
		return
	}
	p.told = now
	of := ""
	if p.total > 0 {
		of = fmt.Sprintf(" of %d%s", p.total, ahead(p.done, p.total, now.Sub(p.began)))
	}
	fmt.Fprintf(p.lines, "%s: %d%s\n", oneLine(p.label), p.done, of)
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
	p.line(time.Now())
}

// stop takes the bar away, for something else to be printed or for good.
func (p *progress) stop() {
	if p == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
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
	if p != nil && p.timer != nil {
		p.timer.Reset(patience)
	}
}
