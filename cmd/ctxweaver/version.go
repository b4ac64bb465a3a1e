package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ctxweaver/ctxweaver/compress"
	"github.com/ctxweaver/ctxweaver/graphstore"
)

// build says what this program is.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Encoding string `json:"encoding"`
	Store    int    `json:"store_format"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say what this program is",
		Example: "  ctxweaver version --json",
		Args:    arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			b := buildVersion()
			if a.json {
				return a.printJSON(b)
			}
			a.print("ctxweaver %s", b.Version)
			if b.Commit != "" {
				a.print("commit       %s", b.Commit)
			}
			a.print("go           %s %s", b.Go, b.Platform)
			a.print("tokens       %s", b.Encoding)
			a.print("store format %d", b.Store)
			return nil
		},
	}
}

// buildVersion reads what the Go tool wrote into the program.
func buildVersion() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Encoding: compress.DefaultEncoding, Store: graphstore.FormatVersion}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}
