package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

const (
	pollEvery = 300 * time.Millisecond
	idleAfter = 2 * time.Second // a file at rest so long has finished its last turn
)

// errUnreadable is what is wrong with a file as it is now. It may pass.
var errUnreadable = errors.New("not readable yet")

// follower keeps up with a file that grows.
type follower struct {
	path string
	// take is handed what the file holds each time that changes. It may be called again with the same
	// after an error.
	take func(ctx context.Context, ts []*importer.Trajectory) error
	read func() ([]*importer.Trajectory, error)
	// trouble is told of what keeps the follower waiting: a file that cannot be read as it is, or a store
	// that another process has open.
	trouble func(error)
}

// run follows the file until ctx is done, which is not an error. It fails with take's error, unless the
// store is only in use by another process: then it tries again.
func (f follower) run(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var seen os.FileInfo // as the file was when last read
	var changed time.Time
	settled := true // whether all that is in it was taken
	told := ""      // the trouble told of last
	for {
		began := time.Now()
		info, err := os.Stat(f.path)
		switch {
		case err != nil:
			return err
		case seen == nil || info.Size() != seen.Size() || !info.ModTime().Equal(seen.ModTime()):
			seen, changed = info, time.Now()
			settled, err = f.step(ctx, false)
		case !settled && time.Since(changed) >= idleAfter:
			settled, err = f.step(ctx, true)
		}
		switch {
		case err == nil:
			told = ""
		case !errors.Is(err, errUnreadable) && !errors.Is(err, graphstore.ErrLocked):
			return err
		case told != err.Error():
			told = err.Error()
			f.trouble(err)
		}
		if errors.Is(err, graphstore.ErrLocked) {
			seen = nil
		}
		tick.Reset(max(pollEvery, 4*time.Since(began))) // a big file is read less often
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// step reads the file and hands on what is finished of it: everything if the file is idle, else all but the
// last turn of each thread. It reports whether that was everything.
func (f follower) step(ctx context.Context, idle bool) (all bool, err error) {
	ts, err := f.read()
	if errors.Is(err, importer.ErrEmpty) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	all = true
	var finished []*importer.Trajectory
	for _, t := range ts {
		part := *t
		if !idle {
			part.Steps = t.Steps[:len(t.Steps)-1]
			all = false
		}
		if len(part.Steps) > 0 {
			finished = append(finished, &part)
		}
	}
	return all, f.take(ctx, finished)
}

// isDir reports whether a path is that of a folder.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readGrowing reads what a file holds so far, but for a line that is still being written.
func readGrowing(path string, o importer.Options) ([]*importer.Trajectory, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, importer.DefaultLimit+1)) // what is more Read refuses
	if err != nil {
		return nil, err
	}
	ts, err := importer.Read(bytes.NewReader(written(data)), path, o)
	return ts, misnamed(err)
}

// written is what is written to its end of a file of JSON lines; of any other it is all.
func written(data []byte) []byte {
	first, _, several := bytes.Cut(data, []byte("\n"))
	end := bytes.LastIndexByte(data, '\n') + 1
	if !several || !json.Valid(first) || json.Valid(data[end:]) {
		return data
	}
	return data[:end]
}

// follow imports a file while it grows. The store is open only while something is written to it, so that
// other commands can be used meanwhile.
func (a *app) follow(ctx context.Context, path string, in *intake) error {
	f := follower{
		path: path,
		read: func() ([]*importer.Trajectory, error) { return readGrowing(path, in.options) },
		take: func(ctx context.Context, ts []*importer.Trajectory) (err error) {
			if in.engine, err = a.create(ctx); err != nil {
				return err
			}
			in.claimed = map[string]engine.NodeID{}
			defer func() { err = errors.Join(err, in.engine.Close()) }()
			r := imported{File: path, Sessions: []importedSession{}}
			if err := in.store(ctx, source(path), ts, &r); err != nil {
				return err
			}
			a.followed(r)
			return nil
		},
		trouble: func(err error) { a.complain(err.Error() + "; trying again") },
	}
	if !a.quiet && !a.json {
		fmt.Fprintf(a.err, "Following %s; Ctrl-C ends it.\n", path)
	}
	return f.run(ctx)
}

// followed reports what is new.
func (a *app) followed(r imported) {
	if _, _, added := r.sum(); added > 0 {
		a.report(r)
	}
}
