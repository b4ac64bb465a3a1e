package controller

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	stepWords       = 60
	dependencyWords = 70
	targetWords     = 14
	lineWords       = 18
	// What decides a long observation stands at its ends, so no more than these bytes of each are read.
	endBytes = 16 << 10
)

// rests stands between the facts of a dependency summary: what is left of it rests on what is right of it.
const rests = " ← "

// Summarize says in one line of plain text what the turn did and what came of it, given the task (§3.1):
// the kind and target of each call, and the lines of its observation that decide (a verdict, the first
// error, the line that shares most with the task). All words are taken from the turn. The dependency
// summary is built from the parents' and this line alone, newest fact first. The error is always nil.
func (r Rules) Summarize(_ context.Context, q SummaryQuestion) (Summary, error) {
	step := r.step(q)
	return Summary{Step: step, Dependency: r.dependency(step, q.Parents), By: "rules"}, nil
}

func (r Rules) step(q SummaryQuestion) string {
	limit := r.StepWords
	if limit <= 0 {
		limit = stepWords
	}
	if len(q.Turn.Calls) == 0 {
		return clip("said: "+plainText(q.Turn.Thought), limit)
	}
	task := map[string]bool{}
	for w := range words(q.Turn.Task) {
		task[w] = true
	}
	share := max(10, limit/len(q.Turn.Calls))
	var parts []string
	for i, c := range q.Turn.Calls {
		did := doing(c, i, q.Facts)
		if came := outcome(c, task); came != "" {
			did += " → " + came
		}
		parts = append(parts, clip(did, share))
	}
	return clip(strings.Join(parts, "; "), limit)
}

var did = map[Kind]string{View: "viewed", List: "listed", Search: "searched", Edit: "edited", Test: "tested", Run: "ran", Ask: "asked"}

// doing says what a call does.
func doing(c Call, call int, f Facts) string {
	var parts []string
	for _, a := range f.Actions {
		if a.Call != call || len(parts) == 3 {
			continue
		}
		target := a.Target
		if a.Kind == Edit && len(a.Edited) > 0 {
			target = strings.Join(a.Edited, ", ")
		}
		verb := did[a.Kind]
		if verb == "" || target == "" {
			verb, target = strings.TrimSpace(verb+" "+c.Name), oneLine(c.Args)
		}
		parts = append(parts, clip(plainText(verb+" "+target), targetWords))
	}
	if len(parts) == 0 {
		return clip(plainText(c.Name+" "+oneLine(c.Args)), targetWords)
	}
	return strings.Join(parts, ", ")
}

var (
	// A verdict is a runner's own, and stands at a line's start or between its rules.
	verdict = regexp.MustCompile(`^[\s=*✓✗✘×-]*(\d+ (passed|failed|passing|failing|failures?|errors?|examples?)\b|Tests?( Files| Suites)?:?\s+\d|Tests run:|test result:|Ran \d+ tests?|ok\s+\S+\s+[\d.(]|--- (FAIL|PASS)|(FAIL(ED|URES?!?)?|OK|PASS(ED)?)\b|(BUILD|Build) (FAILED|SUCCE|failed|succe))`)
	failure = regexp.MustCompile(`^(E\s|[\w.]*(Error|Exception|Warning|Panic)\b\s*[:(]|(?i:error|fatal|panic|err!)(\[\w+\])?\b[: ]|ERROR\b|(?i:exit code:? |<returncode>|process exited with code )[1-9-]|\S+: (line \d+: )?(.*: )?(No such file|command not found|not found|Permission denied|cannot )|\S+:\d+(:\d+)?: (?i:fatal error|error|undefined|cannot ))`)
	// What harnesses put around every observation decides nothing.
	wrapping = regexp.MustCompile(`^(</?[\w-]+>|<returncode>0</returncode>|OBSERVATION:|Chunk ID: .*|Wall time: .*|Output:|(?i:exit code:? 0)|(Process|Command) exited with code 0|Original token count: .*|<.* exit code 0>)$`)
)

// signs are what a failure cannot do without. Looking for them is much faster than the pattern.
var signs = []string{"rror", "RROR", "xception", "Warning", "anic", "ANIC", "atal", "ATAL", "rr!", "No such file", "not found", "ermission denied", "annot ", "undefined", "xit code", "xit Code", "exited with", "returncode"}

func isFailure(line string) bool {
	return (line[0] == 'E' || slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(line, s) })) && failure.MatchString(line)
}

func isVerdict(line string) bool {
	return (line[0] >= utf8.RuneSelf || strings.IndexByte("0123456789=*-TtRoFOPBx", line[0]) >= 0) && verdict.MatchString(line)
}

func isWrapping(line string) bool {
	return strings.IndexByte("<OCWEePp", line[0]) >= 0 && wrapping.MatchString(line)
}

// outcome takes the lines of an observation that decide: the last verdict, the first failure, and the
// line that shares most with the task; without any of these the first line and the last.
func outcome(c Call, task map[string]bool) string {
	if !c.Answered {
		return ""
	}
	var first, last, decided, fault, shared string
	most := 0
	for _, line := range ends(c.Observation) {
		line = strings.TrimSpace(uncoloured(line))
		if !strings.ContainsFunc(line, alphanumeric) || isWrapping(line) {
			continue
		}
		first, last = cmp.Or(first, line), line
		if isVerdict(line) {
			decided = line
		} else if isFailure(line) {
			fault = cmp.Or(fault, line)
		} else if n := sharing(line, task); n > most {
			shared, most = line, n
		}
	}
	lines := []string{decided, fault, shared}
	if decided == "" && fault == "" && shared == "" {
		lines = slices.Compact([]string{cmp.Or(first, "no output"), last})
	}
	var parts []string
	if c.Failed && fault == "" {
		parts = append(parts, "failed")
	}
	for _, line := range lines {
		if line != "" {
			parts = append(parts, clip(plainText(line), lineWords))
		}
	}
	return strings.Join(parts, "; ")
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// sharing counts the specific words of a line that the task has too.
func sharing(line string, task map[string]bool) int {
	n := 0
	for w := range words(line) {
		if task[w] {
			n++
		}
	}
	return n
}

// ends gives the lines of text, or of its two ends if it is long.
func ends(text string) []string {
	if len(text) <= 2*endBytes {
		return strings.Split(text, "\n")
	}
	head, tail := text[:endBytes], text[len(text)-endBytes:]
	var lines []string
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		lines = strings.Split(head[:i], "\n")
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		lines = append(lines, strings.Split(tail[i+1:], "\n")...)
	}
	return lines
}

var colour = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)

// uncoloured puts a space for each of a terminal's escape sequences, so that no two words become one.
func uncoloured(text string) string {
	if strings.IndexByte(text, '\x1b') < 0 {
		return text
	}
	return colour.ReplaceAllLiteralString(text, " ")
}

// plainText is text as a summary may hold it: on one line, without colours and control characters.
func plainText(text string) string {
	text, _ = firstPart(text, 8*longest)
	text = uncoloured(strings.ToValidUTF8(text, " "))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '←' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// clip keeps the first n words, and never a part of one.
func clip(text string, n int) string {
	fields := strings.Fields(text)
	if len(fields) <= n {
		return strings.Join(fields, " ")
	}
	return strings.TrimRight(strings.Join(fields[:n], " "), ";,…") + "…"
}

// dependency puts the step before its parents' facts: the newest of each parent, best parent first, then
// the next of each, as many as fit. Long facts are cut, so that there is room for older ones.
func (r Rules) dependency(step string, parents []string) string {
	limit := r.DependencyWords
	if limit <= 0 {
		limit = dependencyWords
	}
	own := limit
	if len(parents) > 0 {
		own = max(1, limit/2)
	}
	facts := []string{clip(step, own)}
	left := limit - len(strings.Fields(facts[0]))
	older := make([][]string, len(parents))
	depths := 0
	for i, p := range parents {
		older[i] = strings.Split(plainFacts(p), rests)
		depths = max(depths, len(older[i]))
	}
	for depth := range depths {
		for _, list := range older {
			if depth >= len(list) || left < 6 {
				continue
			}
			fact := clip(list[depth], min(limit/4, left-1))
			if fact == "" || repeats(facts, fact) {
				continue
			}
			facts = append(facts, fact)
			left -= 1 + len(strings.Fields(fact))
		}
	}
	return strings.Join(facts, rests)
}

// plainFacts is a dependency summary on one line, whoever wrote it.
func plainFacts(text string) string { return strings.Join(strings.Fields(text), " ") }

// repeats reports whether the fact, or what is left of it, is there already.
func repeats(facts []string, fact string) bool {
	for _, f := range facts {
		cut, isCut := strings.CutSuffix(f, "…")
		stem, isStem := strings.CutSuffix(fact, "…")
		if f == fact || isStem && strings.HasPrefix(f, stem) || isCut && strings.HasPrefix(fact, cut) {
			return true
		}
	}
	return false
}
