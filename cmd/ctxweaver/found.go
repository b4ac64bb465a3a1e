package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ctxweaver/ctxweaver/engine/importer"
)

// offered lists where agents keep their sessions, and gives the folders to import: all of them, or those
// that the person at the terminal chooses.
func (a *app) offered(all bool) ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	found := importer.Discover(home)
	if len(found) == 0 {
		return nil, usage("no agent's sessions were found in the usual places; name a file or a folder to import")
	}
	if all {
		return choose(found, "all")
	}
	if a.json {
		return nil, a.printJSON(found)
	}
	a.listFound(found)
	if !interactive() {
		if !a.quiet {
			a.print("To import them: ctxweaver import --found, or name the folders.")
		}
		return nil, nil
	}
	answer, err := a.ask("Which? Numbers, or all:")
	if err != nil {
		return nil, err
	}
	return choose(found, answer)
}

func (a *app) listFound(found []importer.Found) {
	t := table{heads: []column{{head: "", right: true}, {head: "AGENT"}, {head: "SESSIONS", right: true}, {head: "NEWEST"}, {head: "FOLDER", stretch: true}}}
	for i, f := range found {
		t.add(plain(fmt.Sprint(i+1), f.Agent, fmt.Sprint(f.Sessions), ago(f.Newest, time.Now()), oneLine(f.Path))...)
	}
	a.printTable(&t)
}

// choose reads an answer such as "1 3", "2,4" or "all". An empty one chooses nothing.
func choose(found []importer.Found, answer string) ([]string, error) {
	var paths []string
	if strings.EqualFold(answer, "all") {
		for _, f := range found {
			paths = append(paths, f.Path)
		}
		return paths, nil
	}
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(found) {
			return nil, usage("%q: want numbers from 1 to %d, or all", word, len(found))
		}
		paths = append(paths, found[n-1].Path)
	}
	return paths, nil
}
