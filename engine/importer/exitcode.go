package importer

import (
	"regexp"
	"strconv"
)

// How harnesses write an exit code into an observation, each only where that harness puts it, so that
// a program which prints such words somewhere else is not believed.
var (
	exitFirstLine  = regexp.MustCompile(`\A(?:Error: )?Exit code:? (-?\d+)`)                                                          // Claude Code, Codex
	exitProcess    = regexp.MustCompile(`\A(?:(?:Chunk ID|Wall time|Command|Session ID): .*\n){0,4}Process exited with code (-?\d+)`) // Codex
	exitReturncode = regexp.MustCompile(`\A\s*<returncode>(-?\d+)</returncode>`)                                                      // mini-swe-agent
	exitRC         = regexp.MustCompile(`\Arc=(-?\d+)(?:\n|\z)`)
	exitLine       = regexp.MustCompile(`(?m)^Exit Code: (-?\d+)$`)                                        // Gemini CLI
	exitShell      = regexp.MustCompile(`<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*\z`) // Copilot CLI
)

// exitCodeIn reads the exit code that one of the patterns finds in text, nil if none does.
func exitCodeIn(text string, patterns ...*regexp.Regexp) *int {
	for _, p := range patterns {
		if m := p.FindStringSubmatch(text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				return &n
			}
		}
	}
	return nil
}
