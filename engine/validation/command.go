package validation

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// shell gives the shell command in a tool's name and JSON arguments, or else the name and all text among the
// arguments. What is no such pair is a shell command already.
func shell(command string) string {
	i := strings.IndexByte(command, '{')
	if i < 0 || strings.ContainsAny(strings.TrimSpace(command[:i]), " \t\n") || !gjson.Valid(command[i:]) {
		return command
	}
	args := gjson.Parse(command[i:])
	for _, key := range []string{"command", "cmd", "keystrokes", "script"} {
		switch v := args.Get(key); {
		case v.Type == gjson.String:
			return v.Str
		case v.IsArray(): // an argument vector: bash -lc '…'
			last := ""
			for _, w := range v.Array() {
				last = w.String()
			}
			return last
		}
	}
	words := []string{command[:i]}
	args.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			words = append(words, v.Str)
		}
		return true
	})
	return strings.Join(words, " ")
}

// selection is what a command asked a runner for.
type selection struct {
	known    bool     // the command starts this runner, once
	args     []string // files, folders, packages, test ids
	flags    []string // that choose among tests
	narrowed bool     // by such flags: a scope was not run whole
	stops    bool     // at the first failures
	// launched is the command that ran the runner by another name, "make test", where it is plain which.
	launched string
}

// scopes lists what was asked for, or "all tests".
func (s selection) scopes() []string {
	if !s.known || len(s.args) == 0 || s.narrowed {
		return []string{s.whole()}
	}
	return s.args
}

// whole names the run itself.
func (s selection) whole() string {
	switch {
	case s.launched != "":
		return s.launched
	case len(s.args) == 0:
		return allTests
	}
	return strings.Join(s.args, " ")
}

// selected reads from a shell command what it asks the runner for.
func (r *runner) selected(command string) selection {
	var s selection
	for _, words := range commands(command) {
		after, ok := r.starts(words)
		if !ok {
			continue
		}
		if s.known {
			return selection{} // two runs: whose output is whose cannot be told
		}
		s.known = true
		r.arguments(after, &s)
	}
	if !s.known && len(r.words) > 0 {
		s.launched = launched(command)
	}
	return s
}

// longestLaunch is how many bytes of a command may stand for its run.
const longestLaunch = 120

// launched gives the one command of a line that can have run tests, or "".
func launched(line string) string {
	found := ""
	for _, words := range commands(line) {
		name := words[0]
		if slices.Contains(viewers, name) || name == "cd" || name == "export" {
			continue
		}
		if found != "" {
			return ""
		}
		words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "<>&") })
		found = strings.Join(words, " ")
	}
	if len(found) > longestLaunch {
		return ""
	}
	return found
}

// starts finds the words that start the runner, in the place of a command, and gives those after them.
func (r *runner) starts(words []string) ([]string, bool) {
	for i, w := range words {
		base := w[strings.LastIndexByte(w, '/')+1:]
		for _, start := range r.words {
			first, second, two := strings.Cut(start, " ")
			if base != first {
				continue
			}
			if !two {
				return words[i+1:], true
			}
			if i+1 < len(words) && words[i+1] == second {
				return words[i+2:], true
			}
		}
		if i+1 < len(words) && !leads(words, i) {
			break
		}
	}
	return nil, false
}

// launchers start the command that follows them.
var launchers = []string{
	"python", "python2", "python3", "py", "uv", "uvx", "run", "poetry", "pipenv", "hatch", "pdm", "coverage", "conda", "mamba", "npx", "pnpx", "bunx", "pnpm", "yarn", "npm", "exec", "dlx",
	"bundle", "vendor/bin", "timeout", "time", "env", "sudo", "nice", "xvfb-run", "stdbuf", "php", "node", "bash", "sh",
}

// leads reports whether a command may still follow the word at i: it is a launcher, a flag, its value, a
// number or an assignment.
func leads(words []string, i int) bool {
	w := words[i]
	base := w[strings.LastIndexByte(w, '/')+1:]
	return slices.Contains(launchers, base) || strings.HasPrefix(base, "python3.") || w[:1] == "-" || isDigit(w[0]) || strings.Contains(w, "=") || i > 0 && words[i-1][:1] == "-"
}

func (r *runner) arguments(words []string, s *selection) {
	for i := 0; i < len(words); i++ {
		flag, _, valued := strings.Cut(words[i], "=")
		switch {
		case slices.Contains(r.narrowing, flag):
			s.narrowed = true
			s.flags = append(s.flags, words[i])
			if !valued && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				i++
				s.flags = append(s.flags, words[i])
			}
		case slices.Contains(r.stopping, flag):
			s.stops = true
			if slices.Contains(r.valued, flag) && !valued {
				i++
			}
		case slices.Contains(r.valued, flag):
			if !valued {
				i++
			}
		case strings.HasPrefix(words[i], "-"), strings.ContainsAny(words[i], "<>&"):
		default:
			s.args = append(s.args, strings.TrimPrefix(words[i], "./"))
		}
	}
}

// commands cuts a shell line into simple commands and their words, quotes taken off. It does not expand
// anything: what it is not sure of stays a word that names no test.
func commands(line string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	var quote byte
	inWord := false
	flush := func() {
		if inWord && word.Len() > 0 {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '\\' && i+1 < len(line):
			if i++; line[i] != '\n' {
				word.WriteByte(line[i])
				inWord = true
			}
		case c == ' ' || c == '\t':
			flush()
		case c == ';' || c == '|' || c == '\n' || c == '(' || c == ')' || c == '&' && (i+1 == len(line) || line[i+1] == '&' || i > 0 && line[i-1] == '&'):
			flush()
			if len(words) > 0 {
				out = append(out, words)
			}
			words = nil
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	flush()
	if len(words) > 0 {
		out = append(out, words)
	}
	return out
}

// viewers are commands and tools that show stored text: a verdict in it is a quotation.
var viewers = []string{
	"cat", "sed", "grep", "egrep", "rg", "ag", "head", "tail", "less", "more", "nl", "bat", "awk", "diff", "ls", "tree", "find", "fd", "wc", "file", "echo", "printf",
	"read", "read_file", "readfile", "read_many_files", "view", "open", "open_file", "view_file", "file_read", "fs_read", "goto", "scroll_up", "scroll_down",
	"search_file", "search_dir", "find_file", "search", "search_files", "glob", "list_files", "list_directory", "list_dir",
	"webfetch", "web_fetch", "websearch", "web_search", "fetch", "browse", "browser", "curl", "wget",
	"edit", "multiedit", "write", "write_file", "create_file", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "file_editor", "apply_patch",
}

// documents are endings of files that hold source or prose, not a run's output.
var documents = []string{
	".go", ".py", ".pyi", ".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".java", ".kt", ".rb", ".php", ".cs", ".swift", ".c", ".h", ".cc", ".cpp", ".hpp",
	".sh", ".md", ".rst", ".html", ".htm", ".adoc", ".toml", ".yaml", ".yml", ".xml", ".ipynb", ".vue", ".svelte", ".sql", ".diff", ".patch", ".golden", ".snap",
}

// shows reports whether a command only shows stored source or prose. A log that is shown is a run's output
// read later, so viewing any other file counts as a run.
func shows(command string) bool {
	cmds := commands(command)
	if len(cmds) == 0 {
		return false
	}
	viewed := false
	for _, words := range cmds {
		switch name := strings.ToLower(words[0][strings.LastIndexByte(words[0], '/')+1:]); {
		case name == "cd" || name == "export" || name == "pwd" || name == "true" || name == "set" || name == "sort" || name == "uniq" || name == "xargs":
		case name == "git" && len(words) > 1 && slices.Contains([]string{"show", "diff", "log", "grep", "blame", "status"}, words[1]):
			viewed = true
		case slices.Contains(viewers, name):
			viewed = viewed || stored(name, words[1:])
		default:
			return false
		}
	}
	return viewed
}

// stored reports whether a viewer's words name no file that may hold a run's output.
func stored(name string, words []string) bool {
	for _, w := range words {
		for _, d := range documents {
			if strings.HasSuffix(w, d) || strings.Contains(w, d+`"`) || strings.Contains(w, d+"'") {
				return true
			}
		}
		if strings.Contains(w, "http://") || strings.Contains(w, "https://") {
			return true
		}
	}
	switch name {
	case "cat", "sed", "grep", "egrep", "head", "tail", "less", "more", "nl", "bat", "awk", "rg", "ag", "read", "read_file", "readfile", "view", "open", "view_file", "open_file":
		return false
	}
	return true
}
