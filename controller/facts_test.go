package controller

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func args(t *testing.T, kv ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExtract(t *testing.T) {
	sh := func(line string) string { return args(t, "command", line) }
	for _, test := range []struct {
		why, name, args string
		kind            Kind
		files, edited   []string
	}{
		// The tools of agents.
		{"Claude Code reads", "Read", args(t, "file_path", "/a/b.go", "offset", 5), View, []string{"/a/b.go"}, nil},
		{"Claude Code edits", "Edit", args(t, "file_path", "/a/b.go", "old_string", "x", "new_string", "y"), Edit, []string{"/a/b.go"}, []string{"/a/b.go"}},
		{"Claude Code edits much", "MultiEdit", args(t, "file_path", "/a/b.go", "edits", []any{}), Edit, []string{"/a/b.go"}, []string{"/a/b.go"}},
		{"Claude Code writes", "Write", args(t, "file_path", "n.md", "content", "see /x/y.go"), Edit, []string{"n.md"}, []string{"n.md"}},
		{"Claude Code searches a folder", "Grep", args(t, "pattern", "func main", "path", "/a"), Search, nil, nil},
		{"Claude Code searches a file", "Grep", args(t, "pattern", "func main", "path", "/a/b.go"), Search, []string{"/a/b.go"}, nil},
		{"Claude Code globs", "Glob", args(t, "pattern", "**/*.go"), List, nil, nil},
		{"Claude Code plans", "TodoWrite", args(t, "todos", []any{}), Ask, nil, nil},
		{"Codex runs", "exec_command", args(t, "cmd", "sed -n '1,80p' src/http.c", "workdir", "/r"), View, []string{"src/http.c"}, nil},
		{"Codex runs a list of words", "shell", args(t, "command", []string{"bash", "-lc", "cd /r && go test ./..."}), Test, nil, nil},
		{"Codex patches", "apply_patch", "*** Begin Patch\n*** Update File: a/b.ts\n@@\n-x\n+y\n*** Add File: c.ts\n+z\n*** End Patch", Edit, []string{"a/b.ts", "c.ts"}, []string{"a/b.ts", "c.ts"}},
		{"Codex patches in a shell", "shell_command", sh("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: old.py\n*** End Patch\nEOF"), Edit, []string{"old.py"}, []string{"old.py"}},
		{"Gemini reads", "read_file", args(t, "file_path", "package.json"), View, []string{"package.json"}, nil},
		{"Gemini replaces", "replace", args(t, "file_path", "a.md", "old_string", "x"), Edit, []string{"a.md"}, []string{"a.md"}},
		{"Gemini runs", "run_shell_command", sh("npm test"), Test, nil, nil},
		{"SWE-agent opens", "", "open src/app.py 120", View, []string{"src/app.py"}, nil},
		{"SWE-agent edits what is open", "", "edit 26:34\nreturn x\nend_of_edit", Edit, nil, nil},
		{"SWE-agent creates", "", "create reproduce.py\n", Edit, []string{"reproduce.py"}, []string{"reproduce.py"}},
		{"SWE-agent's editor in a line", "", "str_replace_editor view /testbed/a.py", View, []string{"/testbed/a.py"}, nil},
		{"its editor looks at a folder", "str_replace_editor", args(t, "command", "view", "path", "/testbed"), List, nil, nil},
		{"its editor replaces", "str_replace_editor", args(t, "command", "str_replace", "path", "/t/a.py", "old_str", "x"), Edit, []string{"/t/a.py"}, []string{"/t/a.py"}},
		{"marked-up calls", "str_replace_editor", "<parameter=command>create</parameter>\n<parameter=path>/t/a.py</parameter>", Edit, []string{"/t/a.py"}, []string{"/t/a.py"}},
		{"marked-up calls in text", "", "Look:\n<function=bash>\n<parameter=command>cat a.py</parameter>\n</function>", View, []string{"a.py"}, nil},
		{"OpenHands runs", "run", sh("pytest -x tests/test_a.py::test_b"), Test, []string{"tests/test_a.py"}, nil},
		{"OpenHands reads", "read", args(t, "path", "/w/a.py"), View, []string{"/w/a.py"}, nil},
		{"OpenHands' notebook edits", "run_ipython", args(t, "code", "edit_file_by_replace(\n'/w/App.tsx',\nto_replace='x')"), Edit, []string{"/w/App.tsx"}, []string{"/w/App.tsx"}},
		{"OpenHands' notebook computes", "run_ipython", args(t, "code", "print(1)"), Run, nil, nil},
		{"opencode edits", "edit", args(t, "filePath", "/s/a.ts", "oldString", "x"), Edit, []string{"/s/a.ts"}, []string{"/s/a.ts"}},
		{"copilot views", "view", args(t, "path", "/s/a.ts"), View, []string{"/s/a.ts"}, nil},
		{"cline reads", "", "Reading.\n<read_file>\n<path>src/a.ts</path>\n</read_file>", View, []string{"src/a.ts"}, nil},
		{"cline runs", "", "<execute_command>\n<command>cargo test</command>\n</execute_command>", Test, nil, nil},
		{"aider edits", "", "Here:\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```", Edit, []string{"src/a.py"}, []string{"src/a.py"}},
		{"terminus types", "bash_command", args(t, "keystrokes", "cat a.py\n", "duration", 1), View, []string{"a.py"}, nil},
		{"terminus types several", "execute", args(t, "commands", []any{map[string]any{"keystrokes": "cd x\n"}, map[string]any{"keystrokes": "make test\n"}}), Test, nil, nil},
		{"a shop's tool", "get_user_details", args(t, "user_id", "mia_li_3668"), Other, nil, nil},
		{"a server's tool", "mcp__fs__read_file", args(t, "path", "a.txt"), View, []string{"a.txt"}, nil},
		{"the web: click", "", "Action: Click [16]", Run, nil, nil},
		{"the web: search", "", "Search[The Guest]", Search, nil, nil},
		{"the web: go to", "goto", args(t, "url", "https://a.b/c"), View, nil, nil},
		{"a fenced line", "", "I look.\n```bash\ncat a.c\n```", View, []string{"a.c"}, nil},
		{"prose", "", "I think the files are fine.", Other, nil, nil},

		// Shell lines.
		{"lists", "bash", sh("ls -la src"), List, nil, nil},
		{"finds", "bash", sh(`find . -name "*.go" | head -20`), List, nil, nil},
		{"searches through a pipe", "bash", sh(`grep -rn "def f" src --include='*.py' | head`), Search, nil, nil},
		{"searches what it found", "bash", sh(`find . -name '*.c' | xargs grep -n foo`), Search, nil, nil},
		{"a filter does not search", "bash", sh("cat a.txt | grep x | head -5"), View, []string{"a.txt"}, nil},
		{"a pattern is no file", "bash", sh("sed 's/a.b/c.d/' x.txt"), View, []string{"x.txt"}, nil},
		{"changes in place", "bash", sh("sed -i 's/a/b/' x.txt y.txt"), Edit, []string{"x.txt", "y.txt"}, []string{"x.txt", "y.txt"}},
		{"writes a here-document, whose text is not run", "bash", sh("cat > f.py <<'EOF'\nimport os\nrm -rf /a/b.py\nEOF\n"), Edit, []string{"f.py"}, []string{"f.py"}},
		{"writes by echo", "bash", sh("echo hi >> notes.txt"), Edit, []string{"notes.txt"}, []string{"notes.txt"}},
		{"writes by tee", "bash", sh("make 2>&1 | tee build.log"), Edit, []string{"build.log"}, []string{"build.log"}},
		{"a log of tests is still a test", "bash", sh("python -m pytest tests > out.log 2>&1"), Test, []string{"out.log"}, []string{"out.log"}},
		{"errors thrown away are no file", "bash", sh("cat a.py 2>/dev/null"), View, []string{"a.py"}, nil},
		{"quotes hide operators", "bash", sh(`grep "a && b > c.txt" d.py`), Search, []string{"d.py"}, nil},
		{"edits and then tests", "bash", sh("cd /r && sed -i s/a/b/ m.c && make check"), Edit, []string{"m.c"}, []string{"m.c"}},
		{"prefixes", "bash", sh("cd /r && FOO=1 timeout 60 sudo env BAR=2 pytest -q"), Test, nil, nil},
		{"runs through a runner", "bash", sh("uv run pytest tests/test_x.py"), Test, []string{"tests/test_x.py"}, nil},
		{"a test script", "bash", sh("python ./tests/runtests.py admin"), Test, []string{"tests/runtests.py"}, nil},
		{"a script", "bash", sh("python reproduce.py"), Run, []string{"reproduce.py"}, nil},
		{"code in a word is no test", "bash", sh(`python -c "import pytest; test()"`), Run, nil, nil},
		{"a task named for tests", "bash", sh("npm run test:unit -- src/a.test.ts"), Test, []string{"src/a.test.ts"}, nil},
		{"a build", "bash", sh("go build ./..."), Run, nil, nil},
		{"the shell's test tests no code", "bash", sh("test -f a.txt && cat a.txt"), View, []string{"a.txt"}, nil},
		{"an old version", "bash", sh("git show HEAD~1:src/a.c"), View, []string{"src/a.c"}, nil},
		{"a restored file", "bash", sh("git checkout -- src/a.c"), Edit, []string{"src/a.c"}, []string{"src/a.c"}},
		{"a branch is no file", "bash", sh("git checkout -b fix/a-b"), Run, nil, nil},
		{"a removed file", "bash", sh("rm -f a.py b.py"), Edit, []string{"a.py", "b.py"}, []string{"a.py", "b.py"}},
		{"a copied file", "bash", sh("cp a.py b.py"), Edit, []string{"a.py", "b.py"}, []string{"b.py"}},
		{"a comment before", "bash", sh("# run it\n./run.sh"), Run, []string{"run.sh"}, nil},
		{"nothing to run", "bash", "", Run, nil, nil},
	} {
		f := Extract(Turn{Calls: []Call{{Name: test.name, Args: test.args}}})
		if f.Kind != test.kind {
			t.Errorf("%s: %s %.80q: kind %s, want %s", test.why, test.name, test.args, f.Kind, test.kind)
		}
		if diff := cmp.Diff(test.files, f.Files); diff != "" {
			t.Errorf("%s: %s %.80q: files (-want +got):\n%s", test.why, test.name, test.args, diff)
		}
		if diff := cmp.Diff(test.edited, f.Edited); diff != "" {
			t.Errorf("%s: %s %.80q: edited (-want +got):\n%s", test.why, test.name, test.args, diff)
		}
	}
}

func TestExtractSeveralCalls(t *testing.T) {
	f := Extract(Turn{Thought: "see parse_header", Calls: []Call{
		{Name: "Read", Args: args(t, "file_path", "a.go")},
		{Name: "Bash", Args: args(t, "command", "cat b.go && go test ./x")},
	}})
	want := []Action{
		{Kind: View, Call: 0, Target: "a.go", Files: []string{"a.go"}},
		{Kind: View, Call: 1, Target: "cat b.go", Files: []string{"b.go"}},
		{Kind: Test, Call: 1, Target: "go test ./x"},
	}
	if diff := cmp.Diff(want, f.Actions); diff != "" {
		t.Error(diff)
	}
	if f.Kind != Test {
		t.Errorf("kind %s: a turn that views and tests is a test", f.Kind)
	}
	for _, w := range []string{"parse_header", "file_path", "b.go"} {
		if !slices.Contains(f.Words, w) {
			t.Errorf("words %q lack %q", f.Words, w)
		}
	}
	if f := Extract(Turn{Thought: "Done."}); f.Kind != Ask {
		t.Errorf("a turn without calls is %s, want %s", f.Kind, Ask)
	}
}

// Whatever a call says, its facts are consistent: at least one action, edited files are files, none is
// named twice, and all is on one line.
func FuzzExtract(f *testing.F) {
	for _, seed := range [][2]string{
		{"bash", `{"command":"cat > a <<'E'\nx\nE\nsed -i 's/a/b/' c.d | tee \"e f\" && $(g) || h; bash -c 'i > j'"}`},
		{"apply_patch", "*** Begin Patch\n*** Update File: a\n*** End Patch"},
		{"", "Action: Click [16]"}, {"", "<read_file><path>a</path>"}, {"", "<function=bash>ls"}, {"edit", "1:2\nx"},
		{"shell", `{"command":["bash","-lc","ls"]}`}, {"str_replace_editor", `{"command":"view","path":"/a"}`},
		{"", "```bash\nls `x` 'y\n"}, {"bash", `{"command":"a <<<b <<- c 2>&1 &> d >| e \\"}`}, {"run_ipython", "open_file('a.b')"},
		{"read", "a\x00b.go"}, {"write", "x/.."}, {"bash", "./a\x00.sh && a/.././."}, {"run_ipython", "open_file('a\x00.b')"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		got := Extract(Turn{Calls: []Call{{Name: name, Args: text}}})
		if len(got.Actions) == 0 {
			t.Fatal("no action")
		}
		if weight[got.Kind] == 0 {
			t.Fatalf("kind %q", got.Kind)
		}
		for i, p := range got.Files {
			if p == "" || strings.ContainsAny(p, "\n\r") || slices.Contains(got.Files[:i], p) {
				t.Fatalf("files %q", got.Files)
			}
		}
		for _, p := range got.Edited {
			if !slices.Contains(got.Files, p) {
				t.Fatalf("%q is edited and not among %q", p, got.Files)
			}
		}
		for _, a := range got.Actions {
			if strings.ContainsAny(a.Target, "\n\r") || len(a.Target) > longest+len(" …") || weight[a.Kind] == 0 {
				t.Fatalf("action %+v", a)
			}
		}
	})
}
