package validation

import (
	"regexp"
	"strings"
)

var (
	cargoTest    = regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b`)
	cargoLate    = regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. `)
	cargoBinary  = regexp.MustCompile(`^\s+Running .*\(\S*?([\w-]+)-[0-9a-f]{16}(?:\.exe)?\)$`)
	cargoDocs    = regexp.MustCompile(`^\s+Doc-tests (\S+)$`)
	cargoRunning = regexp.MustCompile(`^running \d+ tests?$`)
	cargoResult  = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoFailed  = regexp.MustCompile(`^    (\S.*)$`)
)

var cargoStatus = map[string]Status{"ok": Passed, "FAILED": Failed, "ignored": Skipped}

// Tests of several binaries of a crate may have the same path, so the binary's name stands before it.
func parseCargo(lines []string, r *run) {
	binary := ""
	late := ""       // a test whose own output came before its verdict
	listed := false  // inside the list of failures
	running := false // since a header, without a closing line
	name := func(test string) string {
		if binary == "" {
			return test
		}
		return binary + "::" + test
	}
	for _, line := range lines {
		if m := cargoBinary.FindStringSubmatch(line); m != nil {
			binary = m[1]
			continue
		}
		if m := cargoDocs.FindStringSubmatch(line); m != nil {
			binary = m[1]
			continue
		}
		switch {
		case cargoRunning.MatchString(line):
			r.believed, running = true, true
		case running && strings.Contains(line, "error: test failed, to rerun pass"):
			// A test took the whole binary down.
			if m := cargoLate.FindStringSubmatch(line); m != nil {
				late = m[1]
			}
			if late != "" {
				r.add(name(late), Errored)
			} else {
				r.add(name(allTests)+some, Failed)
			}
			running, late = false, ""
		case line == "failures:":
			listed = true
		case strings.HasPrefix(line, "test result: "):
			if m := cargoResult.FindStringSubmatch(line); m != nil {
				r.close(Summary{Passed: number(m[1]), Failed: number(m[2]), Skipped: number(m[3])})
			}
			listed, running, late = false, false, ""
		case strings.HasPrefix(line, "test "):
			if m := cargoTest.FindStringSubmatch(line); m != nil {
				r.add(name(m[1]), cargoStatus[m[2]])
			} else if m := cargoLate.FindStringSubmatch(line); m != nil {
				late = m[1]
			}
		case late != "" && cargoStatus[line] != "":
			r.add(name(late), cargoStatus[line])
			late = ""
		case listed:
			if m := cargoFailed.FindStringSubmatch(line); m != nil {
				r.add(name(m[1]), Failed)
			} else if line != "" {
				listed = false
			}
		}
	}
}
