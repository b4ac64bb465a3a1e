package validation

import (
	"regexp"
	"strings"
)

// pytestFile is a path at the start of a line: not behind a diff's mark, nor behind a search's position.
const pytestFile = `[^\s:+|>#-][^\s:]*\.py`

var (
	pytestVerbose = regexp.MustCompile(`^(` + pytestFile + `::.+?)[ \t]+(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?:[ \t]+\(.*\))?(?:[ \t]*\[ *\d+%\])?$`)
	pytestWorker  = regexp.MustCompile(`^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (` + pytestFile + `::.+)$`)
	pytestAlone   = regexp.MustCompile(`^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?:[ \t]+\(.*\))?(?:[ \t]*\[ *\d+%\])?$`)
	pytestStarted = regexp.MustCompile(`^(` + pytestFile + `::\S+)(?: |$)`)
	pytestShort   = regexp.MustCompile(`^(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S.*)$`)
	pytestDots    = regexp.MustCompile(`^(` + pytestFile + `) ([.sxXFER]+)(?:[ \t]*\[ *\d+%\])?$`)
	pytestSection = regexp.MustCompile(`^_{3,} (.+?) _{3,}$`)
	pytestWhere   = regexp.MustCompile(`^(\S+\.py):\d+: `)
	pytestClosing = regexp.MustCompile(`^(?:=+ )?((?:\d+ [a-z]+, )*\d+ [a-z]+)(?:, \d+ [a-z ]+)* in [\d.]+ ?s(?:econds)?\b.*$|^(?:=+ )?no tests ran in [\d.]+ ?s`)
	pytestCount   = regexp.MustCompile(`(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b`)
)

var pytestStatus = map[string]Status{
	"PASSED": Passed, "FAILED": Failed, "ERROR": Errored, "SKIPPED": Skipped,
	"XFAIL": Skipped, "XPASS": Passed,
}

// pytest is the state of reading one pytest output.
type pytest struct {
	*run
	// files is set where a line of dots is about all tests of its file.
	files   bool
	started string // the test whose verdict follows its own output (-s)
	// section is the failure that is being told, where its file is still looked for. Sections count only
	// where the summary that names the failures was cut off.
	section  string
	sections []Result
}

func parsePytest(lines []string, r *run) {
	p := &pytest{run: r, files: r.selection.known && !strings.Contains(r.selection.whole(), "::")}
	for _, line := range lines {
		if line != "" {
			p.line(line)
		}
	}
	p.tell()
}

func (p *pytest) line(line string) {
	switch line[0] {
	case '=':
		p.header(line)
		return
	case '_':
		if m := pytestSection.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], ".py:") {
			p.open(m[1])
		}
		return
	case '!':
		if strings.HasPrefix(line, "!!!!") && strings.Contains(line, "stopping after") {
			p.stopped = true
		}
		return
	case '[':
		if m := pytestWorker.FindStringSubmatch(line); m != nil {
			p.believed = true
			p.add(path(m[2]), pytestStatus[m[1]])
		}
		return
	}
	if isDigit(line[0]) {
		p.closing(line)
		return
	}
	switch line[0] {
	case 'P', 'F', 'E', 'S', 'X':
		if m := pytestAlone.FindStringSubmatch(line); m != nil {
			p.add(p.started, pytestStatus[m[1]])
			p.started = ""
			return
		}
		if m := pytestShort.FindStringSubmatch(line); m != nil && p.short(m[1], m[2]) {
			return
		}
	}
	if !strings.Contains(line, ".py") {
		return
	}
	if m := pytestVerbose.FindStringSubmatch(line); m != nil {
		p.believed = true
		p.add(path(m[1]), pytestStatus[m[2]])
	} else if m := pytestStarted.FindStringSubmatch(line); m != nil {
		p.started = path(m[1])
	} else if m := pytestDots.FindStringSubmatch(line); m != nil && strings.Contains(m[2], ".") {
		if p.files {
			p.group(path(m[1]), strings.ContainsAny(m[2], "FE"))
		}
	} else if m := pytestWhere.FindStringSubmatch(line); m != nil {
		p.locate(m[1])
	}
}

func (p *pytest) header(line string) {
	switch {
	case strings.Contains(line, " test session starts "):
		p.believed = true
		p.tell()
		p.next()
	case strings.Contains(line, " short test summary info "), strings.Contains(line, "= FAILURES ="), strings.Contains(line, "= ERRORS ="):
		p.believed = true
		p.section = ""
	default:
		p.closing(line)
	}
}

// short reads a line of the short summary: "FAILED path::test[a - b] - message", "ERROR path - message".
func (p *pytest) short(verdict, text string) bool {
	name := text
	from := 0
	if i := strings.IndexByte(text, '['); i >= 0 && !strings.Contains(text[:i], " - ") {
		if j := strings.Index(text[i:], "] - "); j >= 0 {
			from = i + j
		} else if strings.HasSuffix(text, "]") {
			from = len(text)
		}
	}
	if i := strings.Index(text[from:], " - "); i >= 0 {
		name = text[:from+i]
	}
	file, _, test := strings.Cut(name, "::")
	if strings.Contains(file, " ") || !strings.HasSuffix(file, ".py") && !(test && strings.Contains(file, ".")) {
		return false
	}
	if test {
		p.believed = true
	}
	p.add(path(name), pytestStatus[verdict])
	return true
}

func (p *pytest) open(title string) {
	p.section = ""
	status := Failed
	for _, prefix := range []string{"ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "} {
		if cut, ok := strings.CutPrefix(title, prefix); ok {
			title, status = cut, Errored
			break
		}
	}
	if strings.HasSuffix(title, ".py") {
		p.sections = append(p.sections, Result{p.name, path(title), Errored})
		return
	}
	if strings.Contains(title, " ") && !strings.Contains(title, "[") {
		return // a title of something else
	}
	head, params, _ := strings.Cut(title, "[")
	p.section = strings.ReplaceAll(head, ".", "::")
	if params != "" {
		p.section += "[" + params
	}
	p.sections = append(p.sections, Result{p.name, p.section, status})
}

func (p *pytest) locate(file string) {
	if p.section == "" {
		return
	}
	p.sections[len(p.sections)-1].Name = path(file) + "::" + p.section
	p.section = ""
}

// tell adds the failures that only their sections name.
func (p *pytest) tell() {
	if failed, _ := p.count(p.start); failed == 0 {
		for _, s := range p.sections {
			p.add(s.Name, s.Status)
		}
	}
	p.section, p.sections = "", nil
}

func (p *pytest) closing(line string) {
	if !pytestClosing.MatchString(line) {
		return
	}
	var s Summary
	for _, m := range pytestCount.FindAllStringSubmatch(line, -1) {
		switch n := number(m[1]); m[2] {
		case "passed", "xpassed":
			s.Passed += n
		case "failed":
			s.Failed += n
		case "error", "errors":
			s.Errors += n
		case "skipped", "xfailed":
			s.Skipped += n
		case "deselected":
			p.selection.narrowed = true
		}
	}
	p.tell()
	p.close(s)
}

// path takes "./" off.
func path(name string) string { return strings.TrimPrefix(name, "./") }
