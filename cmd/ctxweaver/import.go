package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ctxweaver/ctxweaver/controller"
	"github.com/ctxweaver/ctxweaver/engine"
	"github.com/ctxweaver/ctxweaver/engine/importer"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// intake is an import under way: how files are read and what has been taken in.
type intake struct {
	options  importer.Options
	redact   bool
	patterns []*regexp.Regexp

	speaker // a controller to be asked for what rules leave open; without a name none is
	trust   bool

	engine   *engine.Engine
	progress *progress

	cascade *controller.Cascade // nil: rules alone

	mu      sync.Mutex
	claimed map[string]engine.NodeID // names given in this run, with the session's first step
}

func newImport(a *app) *cobra.Command {
	in := intake{claimed: map[string]engine.NodeID{}}
	var patterns []string
	var found, follow bool
	cmd := &cobra.Command{
		Use:   "import [FILE|DIR|-]...",
		Short: "Take in the traces that agents leave behind",
		Long: `Take in trajectories from files, folders or standard input (-), plain or compressed with gzip or zstd. Importing
again adds what is new. Without arguments it looks where the known agents keep their sessions and offers them.
With --json it writes a line of JSON for each file, with its sessions, or with the error that kept it from being read.

With --follow it keeps up with one file while an agent writes to it, until Ctrl-C. The turn that is still being
written is held back until something follows it or the file has been idle for 2 seconds.

With --controller a model is asked for what rules leave open, the parents of steps for which they find none, or none
for certain, in at most a quarter of the steps; and, if it can write, for the summaries of all. In all it reads and writes
half as many tokens as the session has, at most. It must have passed its examination (see doctor) for either, which is held
now if it was not before. What it is refused for is left to rules. It is asked once all files are stored; when it cannot be,
they stay stored, and the exit code is 1.

The formats, which are found out unless --format names one:
  ` + wrapped(importer.Formats(), 100),
		Example: `  ctxweaver import
  ctxweaver import ~/.claude/projects
  zstdcat run.jsonl.zst | ctxweaver import - --format codex-rollout
  ctxweaver import session.jsonl --follow
  ctxweaver import runs/ --redact --redact-pattern 'cust-[0-9]+'`,
		Args:        arguments(0, -1),
		Annotations: map[string]string{afterInterrupt: "; what was imported is kept, and the same command goes on from there"},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, p := range patterns {
				re, err := regexp.Compile(p)
				if err != nil {
					return usage("--redact-pattern %q: %w", p, err)
				}
				in.patterns = append(in.patterns, re)
			}
			in.redact = in.redact || len(patterns) > 0
			if err := checkFormat(in.options.Format); err != nil {
				return err
			}
			switch {
			case follow && in.name != "":
				return usage("--follow does not wait for a model; ask it afterwards, with ctxweaver reweave")
			case follow && (len(args) != 1 || args[0] == "-"):
				return usage("--follow keeps up with one file; name it")
			case follow && isDir(args[0]):
				return usage("--follow wants one file; %s is a folder", args[0])
			case follow:
				return a.follow(cmd.Context(), args[0], &in)
			case len(args) == 0:
				var err error
				if args, err = a.offered(found); err != nil || len(args) == 0 {
					return err
				}
			}
			return a.importAll(cmd.Context(), args, &in)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.options.Format, "format", "", "format of the files (default: found out)")
	f.BoolVar(&found, "found", false, "without arguments: take all that is found")
	f.BoolVar(&follow, "follow", false, "keep up with a file that grows")
	f.BoolVar(&in.redact, "redact", false, "drop credentials before anything is stored")
	in.flags(f, "a model that is asked for parents that rules leave open, and for summaries (default: none)")
	f.StringArrayVar(&patterns, "redact-pattern", nil, "drop credentials and what this regular expression matches; may be repeated")
	return cmd
}

// checkFormat refuses a format that there is not before anything is read.
func checkFormat(name string) error {
	if name == "" {
		return nil
	}
	for _, f := range importer.Formats() {
		if f == name {
			return nil
		}
	}
	return usage("--format %q: no such format; ctxweaver import --help lists them", name)
}

// wrapped sets words in lines of at most so many columns.
func wrapped(words []string, most int) string {
	var b strings.Builder
	column := 0
	for i, w := range words {
		if i > 0 && column+len(w)+2 > most {
			b.WriteString(",\n  ")
			column = 0
		} else if i > 0 {
			b.WriteString(", ")
			column += 2
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String()
}

// imported tells what became of one file.
type imported struct {
	File     string            `json:"file"`
	Format   string            `json:"format,omitempty"`
	Sessions []importedSession `json:"sessions"`
	Notes    importer.Notes    `json:"notes"`
	Redacted int               `json:"redacted,omitempty"`
	Cut      bool              `json:"interrupted,omitempty"` // before all of it was stored
	Error    string            `json:"error,omitempty"`

	err error
}

type importedSession struct {
	Name  string `json:"name"`
	Steps int    `json:"steps"`
	Calls int    `json:"calls"`
	New   int    `json:"new"`
}

// sum adds up the sessions.
func (r imported) sum() (steps, calls, added int) {
	for _, s := range r.Sessions {
		steps, calls, added = steps+s.Steps, calls+s.Calls, added+s.New
	}
	return steps, calls, added
}

// importAll imports what the arguments name, two files at a time, and reports in their order. A file that
// cannot be read does not stop the others; a store that fails does.
func (a *app) importAll(ctx context.Context, args []string, in *intake) (err error) {
	paths, skipped, failures := gatherFiles(args)
	if err := in.wellNamed(); err != nil {
		return err
	}
	for _, err := range failures {
		a.report(unread("", err))
	}
	if in.engine, err = a.create(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.engine.Close()) }()
	in.progress = a.progress("import", 0)
	defer in.progress.stop()

	reports := make([]chan imported, len(paths))
	for i := range reports {
		reports[i] = make(chan imported, 1)
	}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(3) // two files and who hands them out
	group.Go(func() error {
		for i, path := range paths {
			group.Go(func() error {
				r, err := a.importFile(working, path, in)
				reports[i] <- r
				return err
			})
		}
		return nil
	})
	total := tally{skipped: skipped, failed: len(failures)}
	for _, report := range reports {
		if r := <-report; r.err != nil || len(r.Sessions) > 0 { // else it was not begun
			in.progress.stop()
			a.report(r)
			in.progress.resume()
			total.add(r)
		}
	}
	if err := group.Wait(); err != nil {
		return cancelled(ctx, err)
	}
	in.progress.stop()
	a.sumUp(total)
	a.out.Flush() // its error stays, and run sees it
	if err := a.consult(ctx, in, total.stored); err != nil {
		return cancelled(ctx, err)
	}
	if total.failed > 0 {
		return errReported
	}
	return nil
}

// engage gets the controller ready that is to be asked, unless it is refused.
func (a *app) engage(ctx context.Context, in *intake) error {
	if err := in.find(ctx); err != nil {
		return err
	}
	parents, summaries := true, in.model.Completion
	if !in.noGate {
		var err error
		if parents, summaries, err = a.trusted(ctx, &in.speaker, true, summaries); err != nil || !parents && !summaries {
			return err
		}
		in.trust = true
	}
	in.cascade = &controller.Cascade{Name: in.speaker.name}
	if parents {
		in.cascade.Chooser = in.ollama
	}
	if summaries {
		in.cascade.Writer = in.ollama
	}
	return nil
}

// gatherFiles finds the files that the arguments name, each once.
func gatherFiles(args []string) (paths []string, skipped int, failures []error) {
	seen := map[string]bool{}
	add := func(path string) {
		key := path
		if abs, err := filepath.Abs(path); err == nil && path != "-" {
			key = abs
		}
		if !seen[key] {
			seen[key] = true
			paths = append(paths, path)
		}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			add(arg)
		case err != nil:
			failures = append(failures, err)
		case info.IsDir():
			found, err := importer.Walk(arg)
			if err != nil {
				failures = append(failures, err)
				continue
			}
			failures = append(failures, found.Unread...)
			if len(found.Paths)+len(found.Unread) == 0 {
				failures = append(failures, fmt.Errorf("%s: no trajectories in it (%s of other kinds)", arg, plural(found.Skipped, "file")))
				continue
			}
			skipped += found.Skipped
			for _, p := range found.Paths {
				add(p)
			}
		default:
			add(arg)
		}
	}
	return paths, skipped, failures
}

// importFile reads a file and stores its trajectories. The error is one that ends the whole import; what
// is wrong with the file is in the report.
func (a *app) importFile(ctx context.Context, path string, in *intake) (imported, error) {
	r := imported{File: path, Sessions: []importedSession{}}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	ts, err := a.read(ctx, path, in.options)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		return unread(path, err), nil
	}
	return r, in.store(ctx, source(path), ts, &r)
}

// unread reports a file that could not be read. The error may know better which it was.
func unread(path string, err error) imported {
	var of *fs.PathError
	if errors.As(err, &of) && path == "" {
		path = of.Path
	}
	return imported{File: path, Sessions: []importedSession{}, Error: worded(err), err: err}
}

// source is what the catalog says of where a session came from: "" for standard input.
func source(path string) string {
	if path == "-" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// store stores the trajectories of one file, and reports them.
func (in *intake) store(ctx context.Context, source string, ts []*importer.Trajectory, r *imported) (err error) {
	defer func() { r.Cut = err != nil && ctx.Err() != nil }()
	names := map[string]string{} // as they are stored, by the file's own
	for _, t := range ts {
		if in.redact {
			r.Redacted += importer.Redact(t, in.patterns)
		}
		name, err := in.claim(ctx, t, source)
		if err != nil {
			return err
		}
		names[t.Name] = name
		in.progress.grow(len(t.Steps))
	}
	for _, t := range ts {
		parent := t.Parent // of another file, unless this one has it
		if name, here := names[parent]; here {
			parent = name
		}
		added, err := in.sync(ctx, t, names[t.Name], parent, source)
		r.Format, r.Notes = t.Format, together(r.Notes, t.Notes)
		r.Sessions = append(r.Sessions, importedSession{names[t.Name], len(t.Steps), t.Calls(), added})
		if err != nil {
			return err
		}
	}
	return nil
}

// claim finds the name under which a trajectory is stored: its own, unless another source has taken it
// for something that begins otherwise.
func (in *intake) claim(ctx context.Context, t *importer.Trajectory, source string) (string, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for n := 1; ; n++ {
		name := t.Name
		if n > 1 {
			name = fmt.Sprintf("%s~%d", t.Name, n)
		}
		first := graphstore.Identify(graphstore.Root(name), t.Steps[0])
		ours, err := in.ours(ctx, name, first, source)
		if err != nil {
			return "", err
		}
		if ours {
			in.claimed[name] = first
			return name, nil
		}
	}
}

// ours reports whether the name is free or stands for the session that begins with first.
func (in *intake) ours(ctx context.Context, name string, first engine.NodeID, source string) (bool, error) {
	if other, taken := in.claimed[name]; taken {
		return other == first, nil
	}
	info, err := in.engine.Session(name).Info(ctx)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	case source != "" && info.Source == source:
		return true, nil
	}
	_, err = in.engine.Store().Get(ctx, name, first)
	if errors.Is(err, engine.ErrNotFound) {
		return info.Nodes == 0, nil
	}
	return err == nil, err
}

// sync adds what the session lacks and says in the catalog what it is, also where it was cut short.
func (in *intake) sync(ctx context.Context, t *importer.Trajectory, name, parent, source string) (int, error) {
	s := in.engine.Session(name)
	added, err := s.Sync(ctx, t.Steps, func(engine.Node) { in.progress.add(1) })
	if err != nil && ctx.Err() == nil {
		return added, err
	}
	described := s.Describe(context.WithoutCancel(ctx), engine.SessionInfo{
		Title: t.Title, Task: t.Task(), Format: t.Format, Source: source, Agent: t.Agent, Model: t.Model, Dir: t.Dir,
		Parent: parent, Created: t.Start,
	})
	return added, errors.Join(err, described)
}

// consult has the model's opinion of sessions that are stored: a model takes seconds where rules take microseconds, and nothing
// waits for it. When it fails, rules go on alone, and it is said how to ask it later.
func (a *app) consult(ctx context.Context, in *intake, sessions []importedSession) error {
	if !in.isModel() || len(sessions) == 0 {
		return nil
	}
	if err := a.engage(ctx, in); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return a.unasked(in, sessions, err)
	}
	if in.cascade == nil {
		return nil
	}
	steps, asked := 0, 0
	for _, s := range sessions {
		steps += s.Steps
	}
	a.announce("Asking %s about some of %s; this may take minutes.", in.name, plural(steps, "step"))
	bar := a.progress("ask "+in.name+": steps", steps)
	defer bar.stop()
	r := engine.Reweaving{By: in.name, Adopt: true, Trust: in.trust, Each: func(engine.Node, engine.Opinion) { bar.add(1) }}
	if in.cascade.Chooser != nil {
		r.Selector = in.cascade
	}
	if in.cascade.Writer != nil {
		r.Summarizer = in.cascade
	}
	for _, s := range sessions {
		sum, err := in.engine.Session(s.Name).Reweave(ctx, r)
		asked += sum.Asked
		if errors.Is(err, engine.ErrController) {
			bar.stop()
			return a.unasked(in, sessions, err)
		}
		if err != nil {
			return err
		}
	}
	bar.stop()
	if !a.quiet && !a.json {
		a.print("%s was asked about %s of %d", oneLine(in.name), plural(asked, "step"), steps)
	}
	return nil
}

// unasked says that a model was not asked, or not about all, and how to ask it yet.
func (a *app) unasked(in *intake, sessions []importedSession, err error) error {
	session := "SESSION"
	if len(sessions) == 1 {
		session = sessions[0].Name
	}
	host := ""
	if in.host != "" {
		host = " --host " + in.host
	}
	a.complain(fmt.Sprintf("%v; all is stored by rules; to ask it later: ctxweaver reweave %s --controller %s%s --summaries --adopt", worded(err), session, in.name, host))
	return errReported
}

// together adds up what is to be known about two trajectories of a file.
func together(a, b importer.Notes) importer.Notes {
	return importer.Notes{
		Orphans: a.Orphans + b.Orphans, Unanswered: a.Unanswered + b.Unanswered, Images: a.Images + b.Images, Failed: a.Failed + b.Failed,
		Compactions: a.Compactions + b.Compactions, Evicted: a.Evicted + b.Evicted, Truncated: a.Truncated + b.Truncated,
		Broken: append(a.Broken[:len(a.Broken):len(a.Broken)], b.Broken...),
	}
}

// report tells what became of a file, in one line.
func (a *app) report(r imported) {
	switch {
	case a.json:
		if err := a.printLine(r); err != nil {
			a.complain(err.Error())
		}
	case r.err != nil:
		a.complain(r.Error)
	default:
		a.print("%s", a.reportLine(r))
	}
	a.out.Flush() // its error stays, and run sees it
}

func (a *app) reportLine(r imported) string {
	steps, calls, added := r.sum()
	as := plural(len(r.Sessions), "session")
	if len(r.Sessions) == 1 {
		as = "session " + oneLine(r.Sessions[0].Name)
	}
	parts := append([]string{as, plural(steps, "step"), plural(calls, "call"), fmt.Sprintf("%d new", added)}, noted(r.Notes)...)
	if r.Redacted > 0 {
		parts = append(parts, fmt.Sprintf("%d redacted", r.Redacted))
	}
	if r.Cut {
		parts = append(parts, "interrupted: not all of it is stored")
	}
	return fmt.Sprintf("%s %s: %s", a.style().dim(r.Format), oneLine(r.File), strings.Join(parts, ", "))
}

// noted says what a reader should know about a file.
func noted(n importer.Notes) []string {
	var out []string
	for _, c := range []struct {
		n    int
		noun string
	}{
		{n.Orphans, "orphan result"}, {n.Unanswered, "unanswered call"}, {n.Images, "image"}, {n.Compactions, "compaction"},
		{n.Evicted, "evicted result"}, {n.Truncated, "truncated observation"},
	} {
		if c.n > 0 {
			out = append(out, plural(c.n, c.noun))
		}
	}
	const shown = 3
	for i, b := range n.Broken {
		if i == shown {
			out = append(out, fmt.Sprintf("and %d more like that", len(n.Broken)-shown))
			break
		}
		out = append(out, "skipped "+oneLine(b))
	}
	return out
}

// tally sums up an import.
type tally struct {
	files, sessions, steps, calls, added, failed, skipped int

	stored []importedSession
}

func (t *tally) add(r imported) {
	if r.err != nil {
		t.failed++
		return
	}
	steps, calls, added := r.sum()
	t.files++
	t.sessions += len(r.Sessions)
	t.stored = append(t.stored, r.Sessions...)
	t.steps, t.calls, t.added = t.steps+steps, t.calls+calls, t.added+added
}

func (a *app) sumUp(t tally) {
	if a.quiet || a.json {
		return
	}
	line := fmt.Sprintf("%s, %s, %s, %s: %d new", plural(t.files, "file"), plural(t.sessions, "session"), plural(t.steps, "step"), plural(t.calls, "call"), t.added)
	if t.skipped > 0 {
		line += fmt.Sprintf("; %s of other kinds left out", plural(t.skipped, "file"))
	}
	if t.failed > 0 {
		line += fmt.Sprintf("; %d failed", t.failed)
	}
	a.print("%s", a.style().bold(line))
}
