package importer

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Found is a place where an agent keeps its sessions.
type Found struct {
	Agent    string
	Path     string    // a folder, for Walk
	Sessions int       // files, or folders of events
	Newest   time.Time // when the newest of them was written
}

// store is where an agent keeps its sessions.
type store struct {
	agent string
	env   string   // names the variable that moves the first root elsewhere; "" for none
	roots []string // folders below the home folder
	files string   // pattern of the sessions below a root
}

// stores are the agents that Discover knows. opencode is not among them: its store is not what
// opencode export prints.
var stores = []store{
	{"claude-code", "CLAUDE_CONFIG_DIR", []string{".claude", ".config/claude"}, "projects/*/*.jsonl"},
	{"codex", "CODEX_HOME", []string{".codex"}, "sessions/*/*/*/rollout-*.jsonl"},
	{"codex", "CODEX_HOME", []string{".codex"}, "archived_sessions/rollout-*.jsonl"},
	{"gemini-cli", "", []string{".gemini"}, "tmp/*/chats/session-*.json*"},
	{"qwen-code", "", []string{".qwen"}, "tmp/*/chats/session-*.json*"},
	{"copilot-cli", "COPILOT_HOME", []string{".copilot"}, "session-state/*/events.jsonl"},
	{"copilot-cli", "COPILOT_HOME", []string{".copilot"}, "session-state/*.jsonl"},
	{"pi", "PI_CODING_AGENT_DIR", []string{".pi/agent"}, "sessions/*/*.jsonl"},
	{"cline", "", editors("saoudrizwan.claude-dev"), "tasks/*/api_conversation_history.json"},
	{"roo-code", "", editors("rooveterinaryinc.roo-cline"), "tasks/*/api_conversation_history.json"},
	{"mini-swe-agent", "MSWEA_GLOBAL_CONFIG_DIR", []string{".config/mini-swe-agent", "Library/Application Support/mini-swe-agent", "AppData/Local/mini-swe-agent"}, "*.traj.json"},
	{"openhands", "", []string{".openhands"}, "conversations/*/events"},
	{"openhands", "", []string{".openhands"}, "conversations/*/events.jsonl"},
}

// editors are the folders where VS Code and its kin keep an extension's data.
func editors(extension string) []string {
	var out []string
	for _, base := range []string{".config", "Library/Application Support", "AppData/Roaming"} {
		for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
			out = append(out, filepath.Join(base, editor, "User/globalStorage", extension))
		}
	}
	return append(out, filepath.Join(".vscode-server/data/User/globalStorage", extension))
}

// Discover looks where the known agents keep their sessions below a home folder. Variables by which
// users move those folders are honoured: those of the agents, and XDG_CONFIG_HOME.
func Discover(home string) []Found {
	var out []Found
	at := map[string]int{}
	for _, s := range stores {
		for _, root := range s.folders(home) {
			f := s.look(root)
			if f.Sessions == 0 {
				continue
			}
			if i, again := at[f.Path]; again {
				out[i].Sessions += f.Sessions
				if f.Newest.After(out[i].Newest) {
					out[i].Newest = f.Newest
				}
				continue
			}
			at[f.Path] = len(out)
			out = append(out, f)
		}
	}
	return out
}

// folders are the roots that apply.
func (s store) folders(home string) []string {
	if s.env != "" && os.Getenv(s.env) != "" {
		return []string{os.Getenv(s.env)}
	}
	var out []string
	config := os.Getenv("XDG_CONFIG_HOME")
	for _, r := range s.roots {
		if rest, ok := cutFolder(r, ".config"); ok && config != "" {
			out = append(out, filepath.Join(config, rest))
			continue
		}
		out = append(out, filepath.Join(home, r))
	}
	return out
}

func cutFolder(path, folder string) (rest string, ok bool) {
	rest, err := filepath.Rel(folder, path)
	return rest, err == nil && filepath.IsLocal(rest)
}

// look counts the sessions below a root. What cannot be read is not there.
func (s store) look(root string) Found {
	f := Found{Agent: s.agent, Path: filepath.Join(root, s.fixed())}
	sessions, err := filepath.Glob(filepath.Join(escapeGlob(root), s.files))
	if err != nil {
		return f
	}
	for _, path := range sessions {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			continue
		}
		f.Sessions++
		if info.ModTime().After(f.Newest) {
			f.Newest = info.ModTime()
		}
	}
	return f
}

// fixed is the folder below a root that all sessions are in.
func (s store) fixed() string {
	before, _, _ := strings.Cut(s.files, "*")
	return filepath.Dir(before + "x")
}
