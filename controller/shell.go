package controller

import (
	"path"
	"slices"
	"strings"
)

// shellCall reads a call whose argument is a shell line, a list of words, or keys to type.
func shellCall(a arguments, depth int) []Action {
	if argv := a.argv(); argv != nil {
		return orRun(command{argv: argv}.actions(depth), strings.Join(argv, " "))
	}
	return shell(a.shellLine(), depth)
}

// argv is a command given as a list of words, or nil.
func (a arguments) argv() []string {
	for _, key := range []string{"command", "cmd"} {
		if v := a.json.Get(key); v.IsArray() {
			argv := []string{}
			for _, w := range v.Array() {
				argv = append(argv, w.String())
			}
			return argv
		}
	}
	return nil
}

// shellLine is a command given as text, or as keys to type.
func (a arguments) shellLine() string {
	if list := a.json.Get("commands"); list.IsArray() {
		var lines []string
		for _, v := range list.Array() {
			if v.IsObject() {
				v = v.Get("keystrokes")
			}
			lines = append(lines, v.String())
		}
		return strings.Join(lines, "\n")
	}
	return a.first("command", "cmd", "script", "keystrokes", "input", "code", "")
}

// Command is the shell line that a call runs. Of a tool that is no shell it is the tool's name and
// arguments.
func Command(c Call) string {
	a := newArguments(c.Args)
	tool := plainName(c.Name)
	if !shells[tool] && !(tool == "" && a.json.Get("command").Exists()) {
		return strings.TrimSpace(c.Name + " " + c.Args)
	}
	if argv := a.argv(); argv != nil {
		return strings.Join(argv, " ")
	}
	return a.shellLine()
}

// shell reads a shell line, or several. It gives at least one action.
func shell(line string, depth int) []Action {
	var out []Action
	if depth < deepest {
		for _, c := range parseShell(line) {
			out = append(out, c.actions(depth)...)
		}
	}
	return orRun(out, line)
}

// orRun gives a line of which nothing is recognised as one action.
func orRun(list []Action, line string) []Action {
	if len(list) == 0 {
		return []Action{{Kind: Run, Target: oneLine(line)}}
	}
	return list
}

// command is one simple command of a shell line.
type command struct {
	argv    []string
	in, out []string // files redirected from and to
	body    string   // of a here-document
	piped   bool     // reads what the one before it prints
}

// prefixes are commands that run the one behind them; the number says how many words of their own
// come between.
var prefixes = map[string]int{
	"sudo": 0, "env": 0, "time": 0, "nohup": 0, "nice": 0, "command": 0, "exec": 0, "stdbuf": 0, "xargs": 0, "npx": 0, "bunx": 0, "xvfb-run": 0,
	"timeout": 1, "gtimeout": 1, "then": 0, "do": 0, "else": 0, "if": 0, "elif": 0, "while": 0, "until": 0, "!": 0, "{": 0,
}

// runners are commands that run the one behind their own first word: uv run pytest.
var runners = map[string]string{"uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run", "rye": "run", "bundle": "exec", "pnpm": "exec", "yarn": "exec"}

// bare strips a command of what only runs it.
func (c command) bare() []string {
	argv := c.argv
	for len(argv) > 0 {
		w := argv[0]
		own, isPrefix := prefixes[w]
		switch {
		case strings.Contains(w, "=") && !strings.HasPrefix(w, "-") && isName(w[:strings.IndexByte(w, '=')]):
			argv = argv[1:]
		case isPrefix:
			argv = argv[1:]
			for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
				argv = argv[1:]
			}
			argv = argv[min(own, len(argv)):]
		case len(argv) > 1 && runners[w] != "" && argv[1] == runners[w]:
			argv = argv[2:]
		default:
			return argv
		}
	}
	return argv
}

func isName(s string) bool {
	for i := range len(s) {
		if class[s[i]]&ident == 0 {
			return false
		}
	}
	return s != ""
}

// commands are the commands that do one kind of thing with the files they name.
var commands = kinds(map[Kind]string{
	View:   `cat head tail less more nl bat xxd hexdump od strings file stat wc diff cmp jq yq awk sed tac md5sum sha256sum sort uniq cut`,
	List:   `ls tree find fd locate du pwd`,
	Search: `grep egrep fgrep rg ag ack zgrep`,
	Edit:   `tee patch rm mv cp touch truncate ln`,
	Run: `make cmake gcc g++ cc clang go cargo rustc npm yarn pnpm bun node deno python python3 python2 pip pip3 ruby perl bash sh zsh
		java javac mvn mvnw gradle gradlew dotnet docker kubectl curl wget git gh ssh nc tar unzip zip gzip chmod chown mkdir rmdir kill pkill ps
		export source apt apt-get brew conda uv poetry tsc eslint ruff black mypy psql sqlite3 mysql redis-cli echo printf sleep which
		base64 tr openssl systemctl service nohup test date env whoami id df mount cd set read swift php composer bundle rake rails mix stack`,
})

// isCommand reports whether a word begins a shell line that is worth reading.
func isCommand(w string) bool {
	_, known := commands[path.Base(w)]
	_, prefix := prefixes[w]
	return known || prefix || testers[path.Base(w)] || strings.HasPrefix(w, "./") || strings.Contains(w, "=$(") || w == "apply_patch"
}

// patterned are commands whose first argument is a pattern or program, not a file.
var patterned = set("grep egrep fgrep rg ag ack zgrep sed awk jq yq perl tr")

// silent are commands that only prepare another, or print or filter a little.
var silent = set("cd export set source pwd echo printf sleep true false : read test [ [[ for done fi esac case unset alias trap wait return exit break continue local function tr shopt which clear")

// toolbox are the commands that some agents have in their shell beside the usual ones.
var toolbox = set("open goto scroll_up scroll_down create edit insert search_file search_dir find_file str_replace_editor submit")

// program is the file that a command runs, if it is one of the project: ./run.sh.
func program(argv []string) []string {
	if w := argv[0]; strings.Contains(w, "/") && path.Ext(w) != "" && pathLike(w) {
		return []string{clean(w)}
	}
	return nil
}

// actions reads what the command does; nothing if it only prepares or filters.
func (c command) actions(depth int) []Action {
	argv := c.bare()
	if len(argv) == 0 {
		if len(c.out) > 0 {
			return []Action{edit(c.out)}
		}
		return nil
	}
	name := path.Base(argv[0])
	if script, ok := quoted(name, argv, c.body); ok && depth < deepest {
		return shell(script, depth+1)
	}
	a := Action{Target: oneLine(strings.Join(argv, " ")), Files: union(program(argv), c.files(name, argv[1:]))}
	switch {
	case name == "apply_patch" || name == "applypatch":
		return []Action{patch(c.body + "\n" + strings.Join(argv[1:], "\n"))}
	case isTest(name, argv):
		a.Kind = Test
	case name == "git" || name == "gh":
		a = git(a, argv[1:])
	case name == "sed" && slices.ContainsFunc(argv, inPlace) || name == "perl" && slices.ContainsFunc(argv, inPlace):
		a.Kind, a.Edited = Edit, a.Files
	case name == "cp" && len(a.Files) > 1:
		a.Kind, a.Edited = Edit, a.Files[len(a.Files)-1:]
	case name == "patch":
		a = patch(c.body)
	case silent[name]:
		if len(c.out) > 0 {
			return []Action{edit(c.out)}
		}
		return nil
	case toolbox[argv[0]]:
		return actions(name, strings.Join(argv[1:], " "), depth+1)
	default:
		if a.Kind = commands[name]; a.Kind == "" {
			a.Kind = unknown(argv[0])
		}
		if a.Kind == Edit {
			a.Edited = a.Files
		}
	}
	if c.piped && len(a.Files) == 0 && len(c.out) == 0 && (a.Kind == View || a.Kind == Search) && c.argv[0] != "xargs" { // a filter
		return nil
	}
	if len(c.out) > 0 {
		if a.Kind == View && len(a.Files) == 0 {
			return []Action{edit(c.out)}
		}
		a.Files, a.Edited = union(a.Files, c.out), union(a.Edited, c.out)
	}
	a.Files = union(a.Files, c.in)
	return []Action{a}
}

// unknown is the kind of a command that is in no table: a program that is run, if it looks like one.
func unknown(word string) Kind {
	if word != "" && len(word) < 100 && class[word[0]]&(lower|dot|slash) != 0 && !strings.ContainsAny(word, " \n,!?'\"()") {
		return Run
	}
	return Other
}

func edit(files []string) Action {
	return Action{Kind: Edit, Files: files, Edited: files, Target: oneLine(strings.Join(files, ", "))}
}

func inPlace(flag string) bool {
	return strings.HasPrefix(flag, "-i") || flag == "-pi" || strings.HasPrefix(flag, "--in-place") || strings.HasPrefix(flag, "-pi")
}

// quoted finds the script that a shell is given as a word or a here-document.
func quoted(name string, argv []string, body string) (string, bool) {
	if !slices.Contains([]string{"bash", "sh", "zsh", "dash", "eval"}, name) {
		return "", false
	}
	for i, w := range argv {
		if i+1 < len(argv) && strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") || name == "eval" && i+1 < len(argv) {
			return argv[i+1], true
		}
	}
	return body, body != "" && len(argv) == 1
}

// files lists the files that a command's arguments name.
func (c command) files(name string, args []string) []string {
	var out []string
	pattern := patterned[name]
	for i, w := range args {
		switch {
		case strings.HasPrefix(w, "-"):
			if w == "-e" || w == "-f" || strings.HasPrefix(w, "--regexp") {
				pattern = false
			}
			continue
		case pattern:
			pattern = false
			continue
		case i > 0 && (args[i-1] == "-e" || args[i-1] == "-m" || args[i-1] == "-c" || args[i-1] == "--include" || args[i-1] == "--exclude"):
			continue
		case name == "find" || name == "fd" || name == "ls" || name == "tree" || name == "du" || name == "mkdir" || name == "curl" || name == "wget" || name == "cd":
			continue
		}
		w, _, _ = strings.Cut(w, "::") // a test in a file
		// Only where a command works on files is a name without an ending one: go test ./x is a package.
		onFiles := commands[name] == View || commands[name] == Edit
		named := pathLike(w) && (onFiles || path.Ext(w) != "") || onFiles && !numeric(w) && !patterned[name]
		if p := clean(w); p != "" && named {
			out = union(out, []string{p})
		}
	}
	return out
}

func numeric(w string) bool { return strings.Trim(w, "0123456789+-,.kKMG") == "" }

// pathLike reports whether a word looks like a file: a clean path with a slash inside, or a name with an ending.
func pathLike(w string) bool {
	if clean(w) == "" || len(w) > 300 || numeric(w) || strings.HasPrefix(w, "-") || strings.ContainsAny(w, " \n\t*?$`\"'<>|{}()[];&=,@%") || strings.Contains(w, "...") || strings.Contains(w, "://") {
		return false
	}
	ext := path.Ext(w)
	if len(ext) > 1 && len(ext) < 14 && !numeric(ext[1:]) {
		return true
	}
	return strings.Contains(strings.Trim(w, "/"), "/") && !strings.HasSuffix(w, "/")
}

// git reads what git does: look, or change files of the working tree, or something else.
func git(a Action, args []string) Action {
	a.Kind = Run
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		skip := 1
		if args[0] == "-C" || args[0] == "-c" {
			skip = 2
		}
		args = args[min(skip, len(args)):]
	}
	if len(args) == 0 {
		return a
	}
	switch args[0] {
	case "diff", "show", "log", "status", "blame", "branch", "reflog", "rev-parse", "pr", "issue", "api", "run":
		a.Kind = View
		for i, f := range a.Files {
			if _, p, ok := strings.Cut(f, ":"); ok { // revision:path
				a.Files[i] = p
			}
		}
	case "grep":
		a.Kind = Search
	case "ls-files", "ls-tree":
		a.Kind = List
	case "apply", "checkout", "restore", "mv", "rm":
		if args[0] == "checkout" && !slices.Contains(args, "--") { // else a branch may look like a path
			a.Files = slices.DeleteFunc(a.Files, func(f string) bool { return path.Ext(f) == "" })
		}
		if len(a.Files) > 0 {
			a.Kind, a.Edited = Edit, a.Files
		}
	case "add", "commit", "push", "fetch", "pull":
		a.Files = nil
	}
	a.Files = slices.DeleteFunc(a.Files, func(f string) bool { return f == "" })
	return a
}

// testers are programs that run tests whatever their arguments.
var testers = set(`pytest py.test pytest-3 unittest nosetests nose nose2 tox nox jest vitest mocha ava rspec phpunit ctest gotestsum bats trial busted ward
	runtests.py runtests pest cypress minitest`)

// builders run tests if one of their arguments says so.
var builders = set(`go cargo npm yarn pnpm bun deno dotnet swift mix zig make gmake mvn mvnw gradle gradlew rake rails just bazel meson ninja stack cabal sbt
	lein flutter dart composer hatch turbo nx playwright node manage.py setup.py django-admin task npm-run-all xcodebuild`)

// isTest reports whether a command runs tests.
func isTest(name string, argv []string) bool {
	switch {
	case testers[name]:
		return true
	case name == "node" && slices.Contains(argv, "--test"):
		return true
	case builders[name]:
		return slices.ContainsFunc(argv[1:], func(w string) bool { return isTestTask(name, w) })
	case strings.HasPrefix(name, "python") || name == "pypy" || name == "coverage":
		return pythonTest(argv[1:])
	case strings.Contains(argv[0], "/") && !strings.HasPrefix(argv[0], "/usr/bin"):
		return testNamed(name)
	case (name == "bash" || name == "sh" || name == "ruby" || name == "php" || name == "perl") && len(argv) > 1:
		return testNamed(path.Base(argv[1])) && pathLike(argv[1])
	}
	return false
}

// isTestTask reports whether a builder's argument names a task that tests: test, test:unit, :app:test.
func isTestTask(tool, arg string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(arg), ":"), func(w string) bool {
		switch {
		case strings.HasPrefix(w, "-") || strings.ContainsAny(w, "/."):
			return false
		case w == "check" || w == "verify":
			return tool == "make" || tool == "just" || strings.HasPrefix(tool, "gradle") || strings.HasPrefix(tool, "mvn")
		}
		return w == "nextest" || w == "tests" || strings.HasSuffix(w, "test") || strings.HasPrefix(w, "test-") || strings.HasPrefix(w, "test_")
	})
}

// pythonTest reads python's arguments: a module that tests, or a script that is named as a test.
func pythonTest(args []string) bool {
	for i, w := range args {
		switch {
		case w == "-c":
			return false
		case w == "-m" && i+1 < len(args):
			return testers[args[i+1]] || pythonTest(args[i+2:])
		case w == "run" || strings.HasPrefix(w, "-"):
			continue
		case path.Base(w) == "manage.py" || path.Base(w) == "setup.py":
			return slices.Contains(args[i:], "test")
		}
		return testers[path.Base(w)] || testNamed(path.Base(w))
	}
	return false
}

// testNamed reports whether a script's name has "test" for one of its parts.
func testNamed(base string) bool {
	base = strings.TrimSuffix(base, path.Ext(base))
	for _, part := range strings.FieldsFunc(base, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if part == "test" || part == "tests" || part == "runtests" || part == "spec" {
			return true
		}
	}
	return false
}
