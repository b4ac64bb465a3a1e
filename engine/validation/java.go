package validation

import (
	"regexp"
	"strings"
)

const mavenLevel = `^(?:\[(?:INFO|ERROR|WARNING)\] +)?`

var (
	mavenCounts = regexp.MustCompile(mavenLevel + `Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(.*)$`)
	mavenClass  = regexp.MustCompile(`(?: - in|-- in) ([\w.$]+)$`)
	// Surefire 3 writes "Class.method -- Time elapsed: …", before that "method(Class)  Time elapsed: …".
	mavenTest    = regexp.MustCompile(mavenLevel + `([\w.$]+)\.([\w$]+)(\S*) +-- Time elapsed: .* <<< (FAILURE|ERROR)!$`)
	mavenOldTest = regexp.MustCompile(mavenLevel + `([\w$]+)(\S*)\(([\w.$]+)\) +Time elapsed: .* <<< (FAILURE|ERROR)!$`)
	mavenList    = regexp.MustCompile(mavenLevel + `(Failures|Errors|Failed tests|Tests in error): *$`)
	mavenListed  = regexp.MustCompile(`^\[ERROR\] +([\w.$]+)\.([\w$]+)(?:\[.*?\])?:\d+(?:->|[ »]|$)`)
)

var mavenStatus = map[string]Status{"FAILURE": Failed, "ERROR": Errored, "Failures": Failed, "Failed tests": Failed, "Errors": Errored, "Tests in error": Errored}

// parseMaven reads Surefire and Failsafe. A class's counts stand before the tests of it that failed.
func parseMaven(lines []string, r *run) {
	list := Failed // of the closing lists, the one that is being read
	for _, line := range lines {
		if m := mavenCounts.FindStringSubmatch(line); m != nil {
			mavenCount(r, Summary{Failed: number(m[2]), Errors: number(m[3]), Skipped: number(m[4])}, number(m[1]), m[5])
		} else if m := mavenTest.FindStringSubmatch(line); m != nil {
			r.believed = true
			r.add(m[1]+"."+m[2]+m[3], mavenStatus[m[4]])
		} else if m := mavenOldTest.FindStringSubmatch(line); m != nil {
			r.believed = true
			r.add(m[3]+"."+m[1]+m[2], mavenStatus[m[4]])
		} else if m := mavenList.FindStringSubmatch(line); m != nil {
			list = mavenStatus[m[1]]
		} else if m := mavenListed.FindStringSubmatch(line); m != nil {
			r.again(m[1]+"."+m[2], list, mavenShort)
		}
	}
}

func mavenCount(r *run, s Summary, ran int, after string) {
	s.Passed = max(0, ran-s.Failed-s.Errors-s.Skipped)
	switch m := mavenClass.FindStringSubmatch(after); {
	case m == nil && !strings.Contains(after, "Time elapsed"):
		r.close(s)
	case m != nil:
		r.believed = true
		if s.Passed > 0 {
			r.group(m[1], s.Failed+s.Errors > 0)
		}
	}
}

// mavenShort cuts the package off a test's name, as the closing list does.
func mavenShort(name string) string {
	test := lastOf(name, ".")
	return lastOf(strings.TrimSuffix(name, "."+test), ".") + "." + test
}

var (
	gradleTest    = regexp.MustCompile(`^(\w[\w.$]*(?: > .+?)?) > (.+?) (PASSED|FAILED|SKIPPED)$`)
	gradleTask    = regexp.MustCompile(`^> Task :\S+|^BUILD (?:SUCCESSFUL|FAILED)\b`)
	gradleClosing = regexp.MustCompile(`^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$`)
)

var gradleStatus = map[string]Status{"PASSED": Passed, "FAILED": Failed, "SKIPPED": Skipped}

// parseGradle reads Gradle's console, which names failures only unless the build asks for more.
func parseGradle(lines []string, r *run) {
	for _, line := range lines {
		if m := gradleTest.FindStringSubmatch(line); m != nil {
			r.add(m[1]+" > "+m[2], gradleStatus[m[3]])
		} else if m := gradleClosing.FindStringSubmatch(line); m != nil {
			s := Summary{Failed: number(m[2]), Skipped: number(m[3])}
			s.Passed = max(0, number(m[1])-s.Failed-s.Skipped)
			r.close(s)
		} else if gradleTask.MatchString(line) {
			r.believed = true
		}
	}
}

var (
	junitSource = regexp.MustCompile(`MethodSource \[className = '([^']+)', methodName = '([^']+)'`)
	junitCount  = regexp.MustCompile(`^\[ +(\d+) tests (skipped|aborted|successful|failed) +\]$`)
)

// parseJUnit reads JUnit's console launcher.
func parseJUnit(lines []string, r *run) {
	var s Summary
	counted := false
	for _, line := range lines {
		if m := junitSource.FindStringSubmatch(line); m != nil {
			r.add(m[1]+"."+m[2], Failed)
		} else if m := junitCount.FindStringSubmatch(line); m != nil {
			r.believed, counted = true, true
			switch n := number(m[1]); m[2] {
			case "successful":
				s.Passed = n
			case "failed":
				s.Failed = n
			default:
				s.Skipped += n
			}
		}
	}
	if counted {
		r.close(s)
	}
}
