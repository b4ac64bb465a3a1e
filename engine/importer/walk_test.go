package importer

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWalk(t *testing.T) {
	root := t.TempDir()
	at := func(p string) string { return filepath.Join(root, p) }
	write(t, at("b/session.json"), small)
	write(t, at("a/deep/log.json.gz"), zipped(t, small))
	write(t, at("b/windows.json"), utf16Text(small, binary.LittleEndian))
	write(t, at("c/events/event-00001-x.json"), `{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}}`)
	write(t, at("c/base_state.json"), `{"kind":"state"}`)
	write(t, at("package.json"), `{"name":"x"}`)
	write(t, at("README.md"), "# Read me")
	write(t, at("notes.md"), "# Traces\n```\n# aider chat started at 2024\nQuestion: why\nThought 1: hm\n"+string(trace(t, "pi").Data[:200])+"\n```\n"+strings.Repeat("and so on\n", 9))
	write(t, at("empty.json"), "")
	write(t, at("picture.json"), "\x89PNG\x00")
	write(t, at(".git/session.json"), small)
	write(t, at("node_modules/x/session.json"), small)
	write(t, at("torn.json.gz"), zipped(t, small)[:12])
	got, err := Walk(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Unread) != 1 || !strings.Contains(got.Unread[0].Error(), at("torn.json.gz")+": damaged or cut off") {
		t.Errorf("what cannot be read: %v, want torn.json.gz", got.Unread)
	}
	got.Unread = nil
	want := Files{Paths: []string{at("a/deep/log.json.gz"), at("b/session.json"), at("b/windows.json"), at("c/events")}, Skipped: 6}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := Walk(at("nowhere")); !os.IsNotExist(err) {
		t.Errorf("a root that is not there: %v", err)
	}
}

func TestDiscover(t *testing.T) {
	home, moved := t.TempDir(), t.TempDir()
	for _, env := range []string{"CLAUDE_CONFIG_DIR", "COPILOT_HOME", "PI_CODING_AGENT_DIR", "MSWEA_GLOBAL_CONFIG_DIR", "XDG_CONFIG_HOME"} {
		t.Setenv(env, "")
	}
	t.Setenv("CODEX_HOME", moved)
	old, recent := time.Unix(1e9, 0), time.Unix(2e9, 0)
	for path, at := range map[string]time.Time{
		filepath.Join(home, ".claude/projects/p/s1.jsonl"):                                                                  recent,
		filepath.Join(home, ".claude/projects/q/s2.jsonl"):                                                                  old,
		filepath.Join(home, ".codex/sessions/2026/01/02/rollout-unused.jsonl"):                                              recent,
		filepath.Join(moved, "sessions/2026/01/02/rollout-1.jsonl"):                                                         old,
		filepath.Join(home, ".gemini/tmp/h/chats/session-1.json"):                                                           old,
		filepath.Join(home, ".copilot/session-state/s/events.jsonl"):                                                        old,
		filepath.Join(home, ".copilot/session-state/s.jsonl"):                                                               recent,
		filepath.Join(home, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json"): old,
		filepath.Join(home, ".openhands/conversations/c/events/event-00001-x.json"):                                         old,
	} {
		write(t, path, "{}")
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(home, ".openhands/conversations/c/events"), old, old); err != nil {
		t.Fatal(err)
	}
	want := []Found{
		{"claude-code", filepath.Join(home, ".claude/projects"), 2, recent},
		{"codex", filepath.Join(moved, "sessions"), 1, old},
		{"gemini-cli", filepath.Join(home, ".gemini/tmp"), 1, old},
		{"copilot-cli", filepath.Join(home, ".copilot/session-state"), 2, recent},
		{"cline", filepath.Join(home, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"), 1, old},
		{"openhands", filepath.Join(home, ".openhands/conversations"), 1, old},
	}
	if diff := cmp.Diff(want, Discover(home)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Discover(t.TempDir()); len(got) != 1 {
		t.Errorf("an empty home, but for CODEX_HOME: %v", got)
	}
}
