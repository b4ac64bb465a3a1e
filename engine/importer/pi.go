package importer

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// piFormat is a session of pi (or gajae-code): ~/.pi/agent/sessions/DIR/*.jsonl, a tree of entries.
var piFormat = format{
	name: "pi-session",
	detect: func(_ string, head []byte) float64 {
		score := 0.0
		for _, r := range records(head, 20) {
			switch kind := r.Get("type").Str; {
			case kind == "session" && has(r, "id", "cwd"):
				return 0.95
			case kind == "message" && has(r, "message.role"):
				score = 0.8
			}
		}
		return score
	},
	parse: parsePi,
}

func parsePi(data []byte) ([]*Trajectory, error) {
	var skipped thread
	var head gjson.Result
	var entries []gjson.Result
	var tree []leaf
	for _, r := range lines(data, skipped.broken) {
		kind := r.Get("type").Str
		if kind == "session" {
			head = r
			continue
		}
		l := leaf{id: r.Get("id").Str, parent: r.Get("parentId").Str}
		l.talk = kind == "message" || kind == "compaction" || kind == "branch_summary" || kind == "custom_message"
		if l.id == "" && len(tree) > 0 { // version 1 is a plain list
			l.parent = unlinked
		}
		entries, tree = append(entries, r), append(tree, l)
	}
	name := cmp.Or(head.Get("id").Str, ":")
	var ts []*Trajectory
	for i, br := range branches(tree) {
		b := newThread()
		b.t.Agent, b.t.Dir, b.t.Start = "pi", head.Get("cwd").Str, stamp(head.Get("timestamp"))
		b.t.Name, b.t.Parent = name, piParent(head)
		if i > 0 {
			b.t.Name = strings.TrimSuffix(name, ":") + ":branch-" + tree[br.records[0]].id
			b.t.Parent = ts[max(br.from, 0)].Name
		}
		for _, j := range br.records {
			b.pi(entries[j])
		}
		ts = append(ts, b.done())
	}
	if len(ts) > 0 {
		ts[0].Notes.Broken = skipped.t.Notes.Broken
	}
	return ts, nil
}

// piParent is the session that this one was forked from, which the file names by its path:
// …/TIME_SESSION.jsonl.
func piParent(head gjson.Result) string {
	p := head.Get("parentSession").Str
	if p == "" {
		return ""
	}
	p = stem(filepath.ToSlash(p))
	if _, id, ok := strings.Cut(p, "_"); ok {
		return id
	}
	return p
}

// pi adds an entry to the thread.
func (b *thread) pi(e gjson.Result) {
	switch e.Get("type").Str {
	case "compaction":
		m := said(graphstore.User, e.Get("summary"))
		m.Text = cmp.Or(m.Text, "(history compacted)")
		m.Compaction = true
		b.message(m)
		return
	case "branch_summary":
		b.message(said(graphstore.System, e.Get("summary")))
		return
	case "custom_message":
		b.message(said(graphstore.System, e.Get("content")))
		return
	}
	m := e.Get("message")
	switch m.Get("role").Str {
	case "assistant":
		s := b.turn()
		s.Model, s.Time = m.Get("model").Str, stamp(e.Get("timestamp"))
		b.t.Model = cmp.Or(b.t.Model, s.Model)
		for _, c := range blocks(m.Get("content")) {
			switch c.Get("type").Str {
			case "thinking":
				s.Thinking = joinText(s.Thinking, c.Get("thinking").String())
			case "text":
				s.Thought = joinText(s.Thought, c.Get("text").String())
			case "toolCall":
				b.call(c.Get("id").Str, c.Get("name").Str, plain(c.Get("arguments")))
			}
		}
	case "toolResult":
		b.answer(m.Get("toolCallId").Str, b.piResult(e))
	case "bashExecution": // the person's own command
		b.message(graphstore.Message{Role: graphstore.User, Text: joinText("!"+m.Get("command").String(), m.Get("output").String())})
	case "custom", "branchSummary", "compactionSummary":
		b.message(said(graphstore.System, m.Get("content")))
	default:
		b.message(said(graphstore.User, m.Get("content")))
	}
}

// piResult reads a result. One that the client has thrown away since is empty: the text in its
// place is not the tool's.
func (b *thread) piResult(e gjson.Result) graphstore.Observation {
	m := e.Get("message")
	o := graphstore.Observation{Failed: m.Get("isError").Bool(), ExitCode: exitCode(m.Get("details.exitCode"))}
	evicted := e.Get("evictedContent").IsObject()
	if evicted {
		b.t.Notes.Evicted++
	}
	for _, c := range blocks(m.Get("content")) {
		part := readContent(c)
		o.Images += part.images
		if !evicted || !strings.HasPrefix(part.text, "[Compacted history content evicted") {
			o.Text = joinText(o.Text, part.text)
		}
	}
	return o
}
