package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// Texts that speak of tests and announce no verdict.
func TestNothingAnnounced(t *testing.T) {
	for _, c := range []struct{ why, command, text string }{
		{"words in prose", "", "All tests passed, but the login test failed with an error.\nFAILED to understand\nERROR: no such file\nPASS the salt\nok then\n"},
		{"an agent's own marks", "python check.py", "✓ PASS\n✗ FAIL: extra.js should not exist\nTest 1: PASSED\nTest 2: FAILED\nPASSED\nFAILED\nAll tests passed!\n"},
		{"an agent's own counts", "python check.py", "Results: 3 passed, 1 failed\n3/4 tests passed\nTotal: 4, Failed: 1\n"},
		{"a numbered view of a file", "cat -n out_test.go", "    12\t--- FAIL: TestX (0.00s)\n    13\tFAIL\texample.com/x\t0.01s\n"},
		{"a view without line numbers, of source", "cat run_test.go", "--- FAIL: TestX (0.00s)\nFAIL\texample.com/x\t0.01s\n"},
		{"a view by a tool", `Read {"file_path": "/repo/README.md"}`, "=== test session starts ===\ntests/a.py::x FAILED\n=== 1 failed in 0.1s ===\n"},
		{"a part of source", "sed -n '1,20p' /repo/tests/test_out.py", "FAILED tests/a.py::x - boom\n1 failed in 0.10s\n"},
		{"a web page", `WebFetch {"url": "https://example.com/pytest"}`, "FAILED tests/a.py::x - boom\n1 failed in 0.10s\n"},
		{"search results", "grep -rn FAIL .", "run_test.go:12:--- FAIL: TestX (0.00s)\nout.txt:3:FAILED tests/a.py::x - boom\na.log:9:test result: FAILED. 1 passed; 2 failed; 0 ignored;\n"},
		{"a diff", "git diff", "diff --git a/out.golden b/out.golden\n--- a/out.golden\n+++ b/out.golden\n--- FAIL: TestX (0.00s)\n+--- FAIL: TestX (0.00s)\n ok  \texample.com/x\t0.1s\n"},
		{"a diff by any command", "make diff", "-FAILED tests/a.py::x - boom\n+1 failed in 0.10s\n --- FAIL: TestX (0.00s)\n+test a::b ... FAILED\n"},
		{"quoted", "gh issue view 1", "> --- FAIL: TestX (0.00s)\n> FAILED tests/a.py::x - boom\n| 1 failed in 0.10s |\n"},
		{"JSON", "curl localhost", `{"status":"failed","tests":[{"name":"x","outcome":"FAILED"}],"Action":"deploy"}` + "\n"},
		{"a list of steps", "cat TODO", "1) write the parser\n2) make the test fail\n  - slow\n  3) done\n"},
		{"a build's marks", "npm run build", "✓ 2253 modules transformed.\n✓ built in 3.30s\n✖ 1 problem\n"},
		{"go's words in another place", "", "I ran it and --- FAIL: TestX (0.00s) came out\nok so far\nFAIL\n"},
		{"unittest's words", "", "test_x does ... ok, I think\nERROR: test_x (maybe)\nFAIL: it did\n"},
		{"TAP without a plan", "", "ok 1 - the first thing to do\nnot ok 2 - this was rejected\n"},
		{"cargo's words", "", "test the waters ... FAILED\ntest a ... ok\n"},
		{"headings", "", "===== Results =====\n_____ test_x _____\n===== done =====\n"},
	} {
		got := validation.Parse(c.text, c.command)
		if len(got.Results) > 0 || len(got.Summaries) > 0 {
			t.Errorf("%s: saw %+v %+v", c.why, got.Results, got.Summaries)
		}
	}
}

// Whatever is put before a line of a real output hides its verdict: every sample, indented by a quote, a
// diff's mark, a line number or a file's name, says nothing.
func TestSamplesQuoted(t *testing.T) {
	for _, s := range samples(t) {
		for _, mark := range []string{"> ", "+", "-", "| ", "out.txt:12:", "  12\t", "// ", "# "} {
			var b strings.Builder
			for line := range strings.Lines(s.output) {
				b.WriteString(mark + strings.TrimPrefix(line, "\x1b"))
			}
			if got := validation.Parse(b.String(), s.command); len(got.Results) > 0 {
				t.Errorf("%s behind %q: saw %+v", s.name, mark, got.Results[0])
			}
		}
	}
}

// Escapes, carriage returns and a harness's wrapper do not hide a verdict.
func TestSamplesWrapped(t *testing.T) {
	for _, s := range samples(t) {
		for why, wrap := range map[string]func(string) string{
			"CRLF":     func(o string) string { return strings.ReplaceAll(o, "\n", "\r\n") },
			"colours":  func(o string) string { return "\x1b[1;31m" + strings.ReplaceAll(o, "\n", "\x1b[0m\n\x1b[32m") },
			"wrapper":  func(o string) string { return "<returncode>1</returncode>\n<output>\n" + o + "</output>" },
			"heading":  func(o string) string { return "Exit code: 1\nWall time: 2 seconds\nOutput:\n" + o },
			"twice":    func(o string) string { return o + o },
			"NUL":      func(o string) string { return o + "\x00\xff\n" },
			"trailing": func(o string) string { return strings.ReplaceAll(o, "\n", "  \n") },
		} {
			got, want := validation.Parse(wrap(s.output), s.command), validation.Parse(s.output, s.command)
			g, w := failing(got), failing(want)
			if fmt.Sprint(g) != fmt.Sprint(w) {
				t.Errorf("%s with %s: failing %v, want %v", s.name, why, g, w)
			}
		}
	}
}

func failing(r validation.Report) map[string]bool {
	out := map[string]bool{}
	for _, t := range r.Results {
		if t.Status.Failing() {
			out[t.Runner+" "+t.Name] = true
		}
	}
	return out
}

// A harness may cut an output anywhere. What is left is no reason to see a failure that is not there.
func TestSamplesCut(t *testing.T) {
	for _, s := range samples(t) {
		whole := validation.Parse(s.output, s.command)
		bad := map[string]bool{}
		for name := range failing(whole) {
			bad[name] = true
		}
		lines := strings.SplitAfter(s.output, "\n")
		for i := range lines {
			for _, part := range []string{strings.Join(lines[:i], ""), strings.Join(lines[i:], "")} {
				for name := range failing(validation.Parse(part, s.command)) {
					if !known(name, bad) {
						t.Fatalf("%s cut at line %d: saw %q", s.name, i, name)
					}
				}
			}
		}
	}
}

// known reports whether a failure seen in a part is one of the whole: under a name that may have lost its file
// or suite, as the suite itself, or standing for failures without a name.
func known(name string, whole map[string]bool) bool {
	runner, _, _ := strings.Cut(name, " ")
	if strings.HasSuffix(name, "(some)") {
		return len(whole) > 0
	}
	for w := range whole {
		if strings.HasPrefix(w, runner) && strings.Contains(w, name[strings.LastIndexAny(name, " >:.")+1:]) {
			return true
		}
	}
	return false
}

func FuzzParse(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.output, s.command)
	}
	f.Add("\x1b[", "pytest 'x")
	f.Add("\x1b]0;title", `Bash {"command": 1}`)
	f.Fuzz(func(t *testing.T, output, command string) {
		report := validation.Parse(output, command)
		var tracker validation.Tracker
		tracker.Add("1", report.Results)
		tracker.Add("2", report.Results)
		tracker.Add("2", nil)
		validation.StatusLine(tracker.Results(), 5)
		for _, r := range report.Results {
			if r.Name == "" || r.Runner == "" || r.Status == "" {
				t.Errorf("result with an empty part: %+v", r)
			}
		}
	})
}
