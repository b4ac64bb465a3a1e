package validation

import (
	"regexp"
	"strings"
)

var (
	// "test_x (mod.Class)", since Python 3.11 "test_x (mod.Class.test_x)"; a subtest's parameters follow.
	unittestVerbose = regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)((?: [\[(].*?[\])])*) \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b`)
	unittestName    = regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)((?: [\[(].*[\])])*)(?: \.\.\.)?$`)
	unittestDoc     = regexp.MustCompile(` \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)(?: .*)?$`)
	unittestHeader  = regexp.MustCompile(`^(FAIL|ERROR): (\w+) \(([\w.<>]+)\)((?: [\[(].*[\])])*)$`)
	unittestRan     = regexp.MustCompile(`^Ran (\d+) tests? in [\d.]+s`)
	unittestEnd     = regexp.MustCompile(`^(OK|FAILED)(?: \((.*)\))?$`)
	unittestCount   = regexp.MustCompile(`(failures|errors|skipped|expected failures|unexpected successes)=(\d+)`)
)

var unittestStatus = map[string]Status{
	"ok": Passed, "FAIL": Failed, "ERROR": Errored, "skipped": Skipped,
	"expected failure": Skipped, "unexpected success": Failed,
}

func parseUnittest(lines []string, r *run) {
	doc := ""      // the test whose docstring, with the verdict, is on the next line
	ran := -1      // what "Ran N tests" said, until the closing line
	ruled := false // the line before was a rule of "="
	for _, line := range lines {
		_, body := indent(line)
		if m := unittestVerbose.FindStringSubmatch(body); m != nil {
			r.add(unittestID(m[1], m[2], m[3]), unittestStatus[m[4]])
			doc = ""
			continue
		}
		switch m := unittestHeader.FindStringSubmatch(line); {
		case m != nil:
			r.believed = r.believed || ruled
			r.add(unittestID(m[2], m[3], m[4]), unittestStatus[m[1]])
		case unittestRan.MatchString(line):
			r.believed = true
			ran = number(unittestRan.FindStringSubmatch(line)[1])
		case ran >= 0 && unittestEnd.MatchString(line):
			r.close(unittestSummary(ran, unittestEnd.FindStringSubmatch(line)[2]))
			ran = -1
		case doc != "":
			if m := unittestDoc.FindStringSubmatch(line); m != nil {
				r.add(doc, unittestStatus[m[1]])
			}
			doc = ""
		default:
			if m := unittestName.FindStringSubmatch(body); m != nil {
				doc = unittestID(m[1], m[2], m[3])
			}
		}
		if line != "" {
			ruled = strings.HasPrefix(line, "==========") && strings.Trim(line, "=") == ""
		}
	}
}

// unittestID gives the dotted name by which a test can be asked for.
func unittestID(test, class, params string) string {
	if strings.HasPrefix(class, "unittest.loader.") {
		return test // a module that could not be loaded
	}
	if class == test || strings.HasSuffix(class, "."+test) {
		return class + params
	}
	return class + "." + test + params
}

func unittestSummary(ran int, counts string) Summary {
	s := Summary{Passed: ran}
	for _, m := range unittestCount.FindAllStringSubmatch(counts, -1) {
		switch n := number(m[2]); m[1] {
		case "failures", "unexpected successes":
			s.Failed += n
		case "errors":
			s.Errors += n
		case "skipped", "expected failures":
			s.Skipped += n
		}
	}
	// Subtests and class fixtures fail more often than they are counted as run.
	s.Passed = max(0, ran-s.Failed-s.Errors-s.Skipped)
	return s
}
