package validation

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

var (
	goVerdict = regexp.MustCompile(`^((?:    )*)--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)`)
	goPackage = regexp.MustCompile(`^(?:ok  \t|ok[ \t]+|FAIL\t|FAIL +)(\S+)[ \t]+(\(cached\)|\d+\.\d+s|\[(?:build|setup) failed\])(.*)$`)
)

var goStatus = map[string]Status{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped, "pass": Passed, "fail": Failed, "skip": Skipped}

// A package's name is known only from the line that closes it, so its tests wait for that.
func parseGo(lines []string, r *run) {
	var waiting []Result
	flush := func(pkg string) {
		for _, t := range waiting {
			name := t.Name
			if pkg != "" {
				name = pkg + " " + name
			}
			r.add(name, t.Status)
		}
		waiting = nil
	}
	panicked := false
	failing := map[string]bool{} // packages of which a test has failed, with -json
	for _, line := range lines {
		if strings.HasPrefix(line, "{") {
			goEvent(line, r, failing)
			continue
		}
		if strings.HasPrefix(line, "panic: ") {
			panicked = true
		}
		if m := goVerdict.FindStringSubmatch(line); m != nil {
			r.believed = true
			waiting = append(waiting, Result{Name: m[3], Status: goStatus[m[2]]})
			continue
		}
		m := goPackage.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		pkg, failed := m[1], line[0] == 'F'
		r.believed = true
		named, passes := false, false
		for _, t := range waiting {
			named = named || t.Status.Failing()
			passes = passes || t.Status == Passed
		}
		flush(pkg)
		if !passes || failed && !named { // a verbose run names the tests that pass
			goClose(r, pkg, m[2]+m[3], failed, named, panicked)
		}
		panicked = false
	}
	flush("")
}

// goClose concludes from the line that closes a package.
func goClose(r *run, pkg, how string, failed, named, panicked bool) {
	switch {
	case strings.Contains(how, "[no tests to run]"), strings.Contains(how, "[no test files]"):
	case strings.HasPrefix(how, "[") && failed:
		r.add(pkg, Errored)
	case failed && !named:
		r.add(pkg+some, Failed)
	case failed && panicked:
		// What would have run after the panic is not known.
	default:
		r.group(pkg, failed)
	}
}

// goEvent reads one line of go test -json.
func goEvent(line string, r *run, failing map[string]bool) {
	action := gjson.Get(line, "Action").Str
	status, ok := goStatus[action]
	pkg := gjson.Get(line, "Package").Str
	if !ok || pkg == "" {
		return
	}
	r.believed = true
	if test := gjson.Get(line, "Test").Str; test != "" {
		r.add(pkg+" "+test, status)
		failing[pkg] = failing[pkg] || status == Failed
		return
	}
	if status == Failed && !failing[pkg] {
		if gjson.Get(line, "FailedBuild").Exists() {
			r.add(pkg, Errored)
		} else {
			r.add(pkg+some, Failed)
		}
	}
}
