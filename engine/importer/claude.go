package importer

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// claudeFormat is a session of Claude Code: ~/.claude/projects/DIR/SESSION.jsonl, and agent-*.jsonl
// of a sub-agent.
var claudeFormat = format{
	name: "claude-code-jsonl",
	detect: func(_ string, head []byte) float64 {
		score := 0.0
		for _, r := range records(head, 50) {
			switch kind := r.Get("type").Str; {
			case (kind == "user" || kind == "assistant") && has(r, "uuid", "message.content"):
				return 0.95
			case kind == "file-history-snapshot" || kind == "summary" && has(r, "leafUuid"):
				score = 0.8
			}
		}
		return score
	},
	parse: parseClaude,
}

// claudeThread holds the records of the main thread or of one sub-agent, in the file's order.
type claudeThread struct {
	records []gjson.Result
	tree    []leaf
	calls   map[string]string // tool_use id to the reply that made the call
}

func (c *claudeThread) add(r gjson.Result) {
	kind := r.Get("type").Str
	l := leaf{
		id:     r.Get("uuid").Str,
		parent: cmp.Or(r.Get("parentUuid").Str, r.Get("logicalParentUuid").Str),
		talk:   kind == "user" || kind == "assistant" || r.Get("attachment.type").Str == "queued_command",
	}
	// What is told of a sub-agent's messages as progress has no links, and old compactions cut theirs.
	if loose := !has(r, "parentUuid") || r.Get("isCompactSummary").Bool(); l.parent == "" && loose && len(c.tree) > 0 {
		l.parent = cmp.Or(c.tree[len(c.tree)-1].id, unlinked)
	}
	if kind == "assistant" {
		l.group = r.Get("message.id").Str
	}
	if c.calls == nil {
		c.calls = map[string]string{}
	}
	if l.talk {
		for _, b := range blocks(r.Get("message.content")) {
			if id := b.Get("id").Str; kind == "assistant" && id != "" {
				c.calls[id] = l.group
			}
			if id := b.Get("tool_use_id").Str; kind == "user" && id != "" {
				l.group = cmp.Or(l.group, c.calls[id])
			}
		}
	}
	c.records = append(c.records, r)
	c.tree = append(c.tree, l)
}

// claudeSession is a file taken apart into its threads.
type claudeSession struct {
	id, dir, title string
	main           claudeThread
	agents         []string // ids of the sub-agents, in order
	byAgent        map[string]*claudeThread
	agentOf        map[string]string // uuid of a sidechain record to its agent
	seen           map[string]bool   // uuids, which a resume may write again
}

func parseClaude(data []byte) ([]*Trajectory, error) {
	s := claudeSession{byAgent: map[string]*claudeThread{}, agentOf: map[string]string{}, seen: map[string]bool{}}
	var skipped thread
	for _, r := range lines(data, skipped.broken) {
		s.add(r)
	}
	name := cmp.Or(s.id, ":")
	ts := s.trajectories(s.main, name, "")
	for _, id := range s.agents {
		ts = append(ts, s.trajectories(*s.byAgent[id], strings.TrimSuffix(name, ":")+":agent-"+id, name)...)
	}
	if len(ts) > 0 {
		ts[0].Notes.Broken = skipped.t.Notes.Broken
	}
	return ts, nil
}

func (s *claudeSession) add(r gjson.Result) {
	if id := r.Get("uuid").Str; id != "" {
		if s.seen[id] {
			return
		}
		s.seen[id] = true
	}
	s.id = cmp.Or(r.Get("sessionId").Str, s.id)
	s.dir = cmp.Or(s.dir, r.Get("cwd").Str)
	switch r.Get("type").Str {
	case "summary":
		s.title = cmp.Or(s.title, r.Get("summary").Str)
	case "custom-title":
		s.title = cmp.Or(r.Get("customTitle").Str, s.title)
	}
	if r.Get("isSidechain").Bool() {
		s.agent(s.sidechain(r)).add(r)
		return
	}
	if d := r.Get("data"); d.Get("type").Str == "agent_progress" {
		if id := cmp.Or(d.Get("agentId").Str, r.Get("parentToolUseID").Str); id != "" && d.Get("message").IsObject() {
			s.agent(id).add(d.Get("message"))
		}
	}
	if r.Get("uuid").Exists() || r.Get("message").Exists() {
		s.main.add(r)
	}
}

// sidechain names the sub-agent that a record is of. Older versions give it no id; then it is the first
// record of the chain.
func (s *claudeSession) sidechain(r gjson.Result) string {
	id := cmp.Or(r.Get("agentId").Str, s.agentOf[r.Get("parentUuid").Str])
	if id == "" {
		id = r.Get("uuid").Str
		id = id[:min(len(id), 8)]
	}
	s.agentOf[r.Get("uuid").Str] = id
	return id
}

func (s *claudeSession) agent(id string) *claudeThread {
	t := s.byAgent[id]
	if t == nil {
		t = &claudeThread{}
		s.byAgent[id] = t
		s.agents = append(s.agents, id)
	}
	return t
}

// trajectories are the live branch of a thread, which has its name, and the dead ones.
func (s *claudeSession) trajectories(c claudeThread, name, parent string) []*Trajectory {
	var ts []*Trajectory
	for i, br := range branches(c.tree) {
		b := newThread()
		b.t.Name, b.t.Parent = name, parent
		if i > 0 {
			first := c.tree[br.records[0]].id
			b.t.Name = strings.TrimSuffix(name, ":") + ":branch-" + first[:min(len(first), 8)]
			b.t.Parent = name
			if br.from > 0 {
				b.t.Parent = ts[br.from].Name
			}
		}
		b.t.Title, b.t.Agent, b.t.Dir = s.title, "claude-code", s.dir
		for _, j := range br.records {
			b.claude(c.records[j])
		}
		ts = append(ts, b.done())
	}
	return ts
}

// claude adds a record to the thread.
func (b *thread) claude(r gjson.Result) {
	at := stamp(r.Get("timestamp"))
	if b.t.Start.IsZero() {
		b.t.Start = at
	}
	m := r.Get("message")
	switch {
	case r.Get("type").Str == "attachment":
		b.message(said(graphstore.User, r.Get("attachment.prompt")))
	case r.Get("isCompactSummary").Bool():
		c := said(graphstore.User, m.Get("content"))
		c.Compaction = true
		b.message(c)
	case r.Get("type").Str == "user":
		b.heard(m.Get("content"), func(text string) graphstore.Role {
			if r.Get("isMeta").Bool() {
				return graphstore.System
			}
			return claudeRole(text)
		})
		b.open = false
	case r.Get("isApiErrorMessage").Bool() || m.Get("model").Str == "<synthetic>":
		b.message(said(graphstore.System, m.Get("content")))
	default:
		// Every block of a reply is a line of its own, and results may come between them.
		if !b.continues(m.Get("id").Str) {
			s := b.turn()
			s.Model, s.Time = m.Get("model").Str, at
			b.t.Model = cmp.Or(b.t.Model, s.Model)
		}
		b.reply(m.Get("content"))
	}
}

// continues reports whether a block belongs to the turn that is being built: the client's id of the
// reply says so, or, without one, that nobody else spoke meanwhile.
func (b *thread) continues(reply string) bool {
	same := b.open && reply == "" || reply != "" && reply == b.turnID
	b.turnID = reply
	if same {
		b.open = true
	}
	return same
}

// claudeRole tells what the person wrote from what the client wrote in their name.
func claudeRole(text string) graphstore.Role {
	for _, wrapper := range []string{"<command-name>", "<command-message>", "<command-args>", "<local-command-", "<system-reminder>", "<bash-", "<task-notification>", "<user-prompt-submit-hook>", "Caveat: The messages below"} {
		if strings.HasPrefix(strings.TrimSpace(text), wrapper) {
			return graphstore.System
		}
	}
	return graphstore.User
}
