package controller

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Facts are what can be read off a turn's own words without a model, before anything answers it. They
// are the reading of many agents' tools and of shell lines: right on what is common, and Other where
// nothing is recognised.
type Facts struct {
	Kind    Kind     // of the turn: the weightiest of its actions
	Actions []Action // in order
	Files   []string // that any action names, as written, each once, in order
	Edited  []string // those of Files that are changed
	Words   []string // specific words of the thought and the calls (see Words)
}

// Action is one thing a turn does: a call, or one command of a call's shell line.
type Action struct {
	Kind   Kind
	Call   int      // index of the call in the turn
	Target string   // what it works on, on one line: a file, a pattern, a command
	Files  []string // that it names
	Edited []string // those of Files that it changes
}

// does reports whether any action of the turn is of the kind.
func (f Facts) does(k Kind) bool {
	return slices.ContainsFunc(f.Actions, func(a Action) bool { return a.Kind == k })
}

// weight orders kinds by how much they say about a turn that does several things.
var weight = map[Kind]int{Edit: 8, Test: 7, Run: 6, View: 5, Search: 4, List: 3, Ask: 2, Other: 1}

// Weight orders kinds by how much they say about a turn that does several things; more says more.
func (k Kind) Weight() int { return weight[k] }

// Extract reads the facts off a turn. It does not look at observations, so a turn can be read while its
// calls are still open.
func Extract(t Turn) Facts {
	f := Facts{Kind: Other}
	if len(t.Calls) == 0 {
		f.Kind = Ask
	}
	texts := []string{t.Thought}
	for i, c := range t.Calls {
		texts = append(texts, c.Name, c.Args)
		for _, a := range actions(c.Name, c.Args, 0) {
			a.Call = i
			f.add(a)
		}
	}
	seen := map[string]struct{}{}
	for _, text := range texts {
		for w := range words(text) {
			if _, ok := seen[w]; !ok {
				seen[w] = struct{}{}
				f.Words = append(f.Words, strings.Clone(w))
			}
		}
	}
	return f
}

func (f *Facts) add(a Action) {
	f.Actions = append(f.Actions, a)
	if weight[a.Kind] > weight[f.Kind] {
		f.Kind = a.Kind
	}
	f.Files = union(f.Files, a.Files)
	f.Edited = union(f.Edited, a.Edited)
}

// union appends to list what it lacks.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// deepest is how many shells may be quoted in each other before the innermost is left unread.
const deepest = 3

// actions reads one call.
func actions(name, text string, depth int) []Action {
	args := newArguments(text)
	tool := plainName(name)
	switch {
	case shells[tool]:
		return shellCall(args, depth)
	case editors[tool]:
		return []Action{editorCall(args)}
	case tool == "applypatch":
		return []Action{patch(args.first("input", "patch", "patchText", "command", ""))}
	case tool == "runipython" || tool == "executeipythoncell":
		return []Action{ipython(args.first("code", ""))}
	}
	if kind, ok := tools[tool]; ok {
		return []Action{toolCall(kind, args)}
	}
	if args.json.Exists() {
		if tool == "" && args.json.Get("command").Exists() {
			return shellCall(args, depth)
		}
		return []Action{toolCall(Other, args)}
	}
	return freeText(name, text, depth)
}

// plainName strips a tool's name of what differs between agents: case, marks, the server it is from.
func plainName(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 {
		name = name[i+1:]
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// shells are tools whose argument is a shell line.
var shells = set(`bash shell sh zsh console terminal run runcommand runshellcommand runterminalcmd runinterminal runterminalcommand
	shellcommand execcommand executecommand executebash bashcommand localshell localshellcall cmdrun execute powershell shellexec keystrokes`)

// editors are tools that look at or change a file as their argument "command" says.
var editors = set(`strreplaceeditor fileeditor strreplacebasededittool editor texteditor memory`)

// tools are the tools that do one kind of thing, by plain name.
var tools = kinds(map[Kind]string{
	View: `read readfile readfiles readmanyfiles view viewfile viewimage open openfile cat fileread notebookread fetch webfetch
		openurl visit browse browser goto gotourl gotoline navigate browsernavigate browsersnapshot goback back scroll scrolldown scrollup
		scrollpage getpage readurl extractcontent`,
	List: `ls list listdir listdirectory listfiles glob globtool tree findfile findfiles filesearch getfiletree`,
	Search: `grep greptool search searchfile searchfiles searchdir searchcode grepsearch codebasesearch websearch googlewebsearch
		googlesearch google bing searchweb searchfilecontent ripgrep rg lookup wikipedia searchclass searchmethod searchclassinfile
		searchmethodinfile searchcodeinfile searchmethodinclass semanticsearch toolsearchcall toolsearch`,
	Edit: `edit editfile multiedit multireplace write writefile writetofile create createfile replace replaceinfile strreplace
		searchreplace searchandreplace insert insertcontent insertedit insertatline editfilebyreplace appendfile applydiff patch
		deletefile removefile movefile renamefile notebookedit editnotebook undoedit writepatch`,
	Test: `runtests runtest test testfailure rununittests`,
	Run: `writestdin readbash stopbash bashoutput killshell killbash taskoutput click type inputtext typetext press presskey hover select selectoption
		drag fill submitform clickelement browserclick browsertype wait browserinteractive runcode python pythonexec executepython codeinterpreter
		jupyter decompile disassemble connectstart connectsendline debugstart debugexec`,
	Ask: `askuser askuserquestion askfollowupquestion ask question todowrite todoread updatetodolist updateplan plan taskcreate
		taskupdate task agent think finish submit attemptcompletion marktaskcomplete taskcomplete message respond exitplanmode answer
		exit done complete calculateplan reportprogress`,
})

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

func kinds(names map[Kind]string) map[string]Kind {
	m := map[string]Kind{}
	for k, list := range names {
		for _, n := range strings.Fields(list) {
			m[n] = k
		}
	}
	return m
}

// arguments are a call's: a JSON object, or text with or without marks around its parts.
type arguments struct {
	json gjson.Result
	text string
}

func newArguments(text string) arguments {
	a := arguments{text: text}
	if strings.HasPrefix(strings.TrimSpace(text), "{") && gjson.Valid(text) {
		a.json = gjson.Parse(text)
	}
	return a
}

// first returns the first of the named arguments that is there and not empty. The name "" stands for
// the whole of arguments that are plain text.
func (a arguments) first(names ...string) string {
	for _, n := range names {
		if v := a.get(n); v != "" {
			return v
		}
	}
	return ""
}

func (a arguments) get(name string) string {
	if a.json.Exists() {
		if name == "" {
			return ""
		}
		v := a.json.Get(name)
		if v.IsArray() || v.IsObject() {
			return ""
		}
		return v.String()
	}
	if name == "" {
		return a.text
	}
	for _, mark := range [][2]string{{"<parameter=" + name + ">", "</parameter>"}, {"<" + name + ">", "</" + name + ">"}} {
		if _, rest, ok := strings.Cut(a.text, mark[0]); ok {
			v, _, _ := strings.Cut(rest, mark[1])
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// paths lists the files that arguments name by the usual keys.
func (a arguments) paths() []string {
	var out []string
	for _, key := range []string{"file_path", "filePath", "path", "absolute_path", "filename", "file_name", "file", "target_file", "notebook_path", "relative_path", "dir_path"} {
		if p := clean(a.get(key)); p != "" {
			out = union(out, []string{p})
		}
	}
	for _, key := range []string{"paths", "files", "file_paths"} {
		for _, v := range a.json.Get(key).Array() {
			if v.IsObject() {
				v = v.Get("path")
			}
			if p := clean(v.String()); p != "" {
				out = union(out, []string{p})
			}
		}
	}
	return out
}

// clean makes a path comparable, and is empty for what is no single path.
func clean(p string) string {
	p = strings.TrimSpace(p)
	if p == "" || len(p) > 400 || strings.ContainsAny(p, "\n\r\t\x00*?$`\"'<>|{}") || strings.Contains(p, "://") || strings.HasPrefix(p, "data:") {
		return ""
	}
	p = strings.ReplaceAll(p, `\`, "/")
	switch p = path.Clean(p); p {
	case ".", "..", "/", "/dev/null", "/dev/stderr", "/dev/stdout":
		return ""
	}
	return p
}

// toolCall reads a call of a tool that does one kind of thing.
func toolCall(kind Kind, a arguments) Action {
	out := Action{Kind: kind}
	switch kind {
	case View, Edit:
		out.Files = a.paths()
		if len(out.Files) == 0 && !a.json.Exists() {
			word, _, _ := strings.Cut(strings.TrimSpace(a.text), "\n")
			word, _, _ = strings.Cut(word, " ")
			if word = strings.Trim(word, `"'`); pathLike(word) {
				out.Files = []string{clean(word)}
			}
		}
		if kind == Edit {
			out.Edited = out.Files
		}
		out.Target = strings.Join(out.Files, ", ")
	case Search, List:
		// A folder that is searched is no file that is touched.
		for _, p := range a.paths() {
			if path.Ext(p) != "" && kind == Search {
				out.Files = append(out.Files, p)
			}
		}
		out.Target = a.first("pattern", "query", "regex", "q", "search_term", "path", "dir_path", "")
	case Test, Run:
		out.Files = a.paths()
	}
	if out.Target == "" {
		out.Target = a.first("url", "command", "code", "description", "subject", "query", "question", "thought", "title", "message", "")
	}
	out.Target = oneLine(out.Target)
	return out
}

// editorCall reads a call of a tool whose argument "command" says what it does: view, create, …
func editorCall(a arguments) Action {
	command := a.get("command")
	files := a.paths()
	if command == "" && !a.json.Exists() {
		fields := strings.Fields(a.text)
		if len(fields) > 0 {
			command = fields[0]
		}
		if len(fields) > 1 && clean(fields[1]) != "" {
			files = []string{clean(fields[1])}
		}
	}
	out := Action{Kind: Edit, Files: files, Target: oneLine(strings.Join(files, ", "))}
	if command == "view" || command == "" && !a.json.Get("old_str").Exists() && !a.json.Get("file_text").Exists() {
		out.Kind = View
		if len(files) == 1 && path.Ext(files[0]) == "" && !a.json.Get("view_range").Exists() {
			out.Kind, out.Files = List, nil
		}
		return out
	}
	out.Edited = files
	return out
}

// patch reads the headers of a patch: of the apply_patch tool, or of a unified diff.
func patch(text string) Action {
	out := Action{Kind: Edit}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/"} {
			if name, ok := strings.CutPrefix(line, head); ok {
				if p := clean(name); p != "" {
					out.Files = union(out.Files, []string{p})
				}
			}
		}
	}
	out.Edited = out.Files
	out.Target = oneLine(strings.Join(out.Files, ", "))
	return out
}

// ipython reads a notebook cell: the file helpers that some agents have there, or any code.
func ipython(code string) Action {
	out := Action{Kind: Run, Target: oneLine(code)}
	name, rest, ok := strings.Cut(strings.TrimSpace(code), "(")
	kind, known := tools[plainName(name)]
	if !ok || !known {
		return out
	}
	out.Kind = kind
	rest = strings.TrimLeft(rest, " \n\t")
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		if p, _, ok := strings.Cut(rest[1:], rest[:1]); ok && pathLike(p) && clean(p) != "" {
			out.Files = []string{clean(p)}
			out.Target = out.Files[0]
			if kind == Edit {
				out.Edited = out.Files
			}
		}
	}
	return out
}

// freeText reads an action that is no JSON: a marked-up call, blocks to search and replace, a patch, a
// fenced shell line, a verb with brackets, a bare command.
func freeText(name, text string, depth int) []Action {
	trimmed := strings.TrimSpace(text)
	if strings.Contains(text, "<<<<<<< SEARCH") {
		return []Action{searchReplace(text)}
	}
	if strings.Contains(text, "*** Begin Patch") && !strings.HasPrefix(trimmed, "apply_patch") {
		return []Action{patch(text)}
	}
	if name != "" {
		// A command's first word taken for a tool's name.
		if got := shell(name+" "+text, depth); got[0].Kind != Other {
			return got
		}
		return []Action{{Kind: Other, Target: oneLine(name + " " + text)}}
	}
	if tool, inner, ok := markup(trimmed); ok && depth < deepest {
		return actions(tool, inner, depth+1)
	}
	if verb, inner, ok := bracketed(trimmed); ok && depth < deepest {
		return actions(verb, inner, depth+1)
	}
	for _, open := range []string{"```bash\n", "```sh\n", "```shell\n"} {
		if _, rest, ok := strings.Cut(text, open); ok {
			line, _, _ := strings.Cut(rest, "```")
			return shell(line, depth)
		}
	}
	if i := strings.IndexAny(trimmed+" ", " \n"); i > 0 && depth < deepest {
		first, rest := trimmed[:i], trimmed[i:]
		if tool := plainName(first); editors[tool] || tools[tool] != "" && !isCommand(first) {
			return actions(first, rest, depth+1)
		}
		if isCommand(first) {
			return shell(text, depth)
		}
	}
	return []Action{{Kind: Other, Target: oneLine(text)}}
}

// markup finds the first <function=tool> or <tool> element of a tool that is known.
func markup(text string) (tool, inner string, ok bool) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "<")
		if !found {
			return "", "", false
		}
		rest = after
		tag, inner, found := strings.Cut(after, ">")
		if !found || len(tag) > 60 {
			continue
		}
		name := strings.TrimPrefix(tag, "function=")
		if plain := plainName(name); name != tag || strings.Contains(text, "</"+tag+">") && (shells[plain] || editors[plain] || tools[plain] != "") {
			return name, inner, true
		}
	}
}

// bracketed reads verb[argument] and verb [argument].
func bracketed(text string) (verb, inner string, ok bool) {
	if _, after, found := strings.Cut(text, "Action: "); found {
		text = after
	}
	verb, inner, ok = strings.Cut(text, "[")
	verb = strings.TrimSpace(verb)
	if !ok || verb == "" || len(verb) > 20 || strings.ContainsAny(verb, " \n\"'$/") {
		return "", "", false
	}
	if i := strings.LastIndexByte(inner, ']'); i >= 0 {
		inner = inner[:i]
	}
	return verb, inner, true
}

// searchReplace reads blocks to search and replace: the line before each, but for fences, names the file.
func searchReplace(text string) Action {
	out := Action{Kind: Edit}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "<<<<<<< SEARCH"):
			if p := clean(strings.Trim(last, "`*: ")); pathLike(p) {
				out.Files = union(out.Files, []string{p})
			}
		case line != "" && !strings.HasPrefix(line, "```"):
			last = line
		}
	}
	out.Edited = out.Files
	out.Target = oneLine(strings.Join(out.Files, ", "))
	return out
}

// longest is how many bytes of a target are worth showing.
const longest = 160

// oneLine is text on one line, cut between words if it is long.
func oneLine(text string) string {
	text, whole := firstPart(text, 4*longest)
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, " ")), " ")
	if len(text) > longest {
		text, whole = firstPart(text, longest)
	}
	if !whole {
		text = strings.TrimSpace(text + " …")
	}
	return text
}

// firstPart is as much of text as fits in n bytes and ends before white space, and whether that is all.
func firstPart(text string, n int) (string, bool) {
	if len(text) <= n {
		return text, true
	}
	return text[:max(0, strings.LastIndexAny(text[:n], " \n\t"))], false
}
