//go:build ollama

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// With the tag ollama a real server is needed: benchmarks/ollama/serve --run go test -tags ollama ./...
func TestOllamaScripts(t *testing.T) {
	host, files := os.Getenv("CTXWEAVER_OLLAMA"), os.Getenv("CTXWEAVER_OLLAMA_FILES")
	if host == "" || files == "" {
		t.Fatal("CTXWEAVER_OLLAMA and CTXWEAVER_OLLAMA_FILES are not set: run the test by benchmarks/ollama/serve --run")
	}
	p := scripts("testdata/ollama")
	own := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("OLLAMA_HOST", host)
		env.Setenv("FILES", files)
		return own(env)
	}
	testscript.Run(t, p)
}
