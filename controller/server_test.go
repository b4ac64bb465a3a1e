package controller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// speakers are all ways to speak to a server that need no model, by what they are.
func speakers(t *testing.T, host string) map[string]func(context.Context) error {
	o, err := NewOllama(OllamaOptions{Host: host, Model: "tiny", Breaker: Breaker{Failures: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLibrary(host)
	if err != nil {
		t.Fatal(err)
	}
	o.soon, l.soon = 50*time.Millisecond, 50*time.Millisecond
	root := t.TempDir()
	write(t, root, map[string]string{"a.gguf": string(tinyGGUF())})
	p, err := ReadPackage(root + "/a.gguf")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(context.Context) error{
		"look at a model": func(ctx context.Context) error { _, err := o.Model(ctx); return err },
		"select":          func(ctx context.Context) error { _, err := o.Select(ctx, three()); return err },
		"examine":         func(ctx context.Context) error { _, err := Exam{}.Examine(ctx, o, nil); return err },
		"list":            func(ctx context.Context) error { _, err := l.Models(ctx); return err },
		"import":          func(ctx context.Context) error { return l.Import(ctx, p, func(int) {}) },
	}
}

// A server that does not say what it has is not waited for, though nobody set a deadline; and nothing is sent on to
// where a server points.
func TestStrangeServers(t *testing.T) {
	leaked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked = true }))
	defer other.Close()
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // in each error; "": any
	}{
		{"hangs", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }, "has not answered within 50ms"},
		{"begins and hangs", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"models":[`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, ""},
		{"sends on", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}, "it sends on to 127.0.0.1:"},
		{"wants a password", fails(http.StatusUnauthorized, `{"error":"no"}`), "it wants a sign-in: status 401"},
		{"is a web page", sends("<html>\n<body>\x1b[31m"), ""},
		{"has nothing of the kind", http.NotFound, "may be no Ollama server: status 404"},
		{"breaks off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		srv := httptest.NewServer(tt.answer)
		for what, speak := range speakers(t, strings.Replace(srv.URL, "//", "//user:secret@", 1)) {
			if tt.name == "begins and hangs" && what == "import" || tt.name == "is a web page" && what == "import" || tt.name == "wants a password" && what == "import" || tt.name == "has nothing of the kind" && what == "import" {
				continue // it looks at no more than the status of a HEAD
			}
			err := speak(t.Context())
			if !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), "secret") {
				t.Errorf("a server that %s, %s: %v", tt.name, what, err)
			}
		}
		srv.CloseClientConnections()
		srv.Close()
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for what, speak := range speakers(t, strings.Replace(plain.URL, "http:", "https:", 1)) {
		if err := speak(t.Context()); !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), "speaks http, not https") {
			t.Errorf("a server without encryption, %s: %v", what, err)
		}
	}
	if leaked {
		t.Error("a request went to a server that nobody named")
	}
	for what, speak := range speakers(t, "http://user:secret@127.0.0.1:1") {
		if err := speak(t.Context()); !errors.Is(err, ErrNoServer) || strings.Contains(err.Error(), "secret") {
			t.Errorf("no server, %s: %v", what, err)
		}
	}
}
