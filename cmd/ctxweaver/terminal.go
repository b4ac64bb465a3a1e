package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// interactive reports whether a person can be asked.
func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// onTerminal reports whether the output goes to a person's terminal.
func onTerminal() bool { return term.IsTerminal(int(os.Stdout.Fd())) }

// screen is how many columns the terminal has, or 0 if the output goes elsewhere and nobody said.
func screen() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 40)
	}
	if n, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && n > 0 {
		return max(n, 40)
	}
	return 0
}

// width is how many columns a line of output may take.
func width() int {
	if n := screen(); n > 0 {
		return n
	}
	return 100
}

// ascii reports whether the locale says that the terminal does not show more than ASCII.
func ascii() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return true
}
