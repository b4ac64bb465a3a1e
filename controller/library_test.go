package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/types/model"
)

// shelf is a server that takes files and makes models of them, each with the digest of what it is made of.
type shelf struct {
	blobs  map[string]int // how often each was sent
	models map[string]string
	made   struct {
		Model, Template string
		Files           map[string]string
	}
	refuse string // why it takes no files
	create string // what it says when a model is made
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digest, blob := strings.CutPrefix(r.URL.Path, "/api/blobs/")
	switch {
	case blob && r.Method == http.MethodHead:
		if s.blobs[digest] == 0 {
			w.WriteHeader(http.StatusNotFound)
		}
	case blob && s.refuse != "":
		http.Error(w, s.refuse, http.StatusInternalServerError)
	case blob:
		h := sha256.New()
		io.Copy(h, r.Body)
		if digest != "sha256:"+hex.EncodeToString(h.Sum(nil)) {
			http.Error(w, `{"error":"digest mismatch"}`, http.StatusBadRequest)
			return
		}
		s.blobs[digest]++
		w.WriteHeader(http.StatusCreated)
	case r.URL.Path == "/api/create":
		if err := json.NewDecoder(r.Body).Decode(&s.made); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if name := model.ParseName(s.made.Model).DisplayShortest(); strings.Contains(s.create, "success") && s.models != nil {
			s.models[name] = fmt.Sprint(s.made.Files, s.made.Template)
		}
		io.WriteString(w, s.create)
	case r.URL.Path == "/api/tags":
		var list []map[string]any
		for name, digest := range s.models {
			list = append(list, map[string]any{"name": name, "digest": digest})
		}
		json.NewEncoder(w).Encode(map[string]any{"models": list})
	case r.URL.Path == "/api/delete":
		var q struct{ Model string }
		json.NewDecoder(r.Body).Decode(&q)
		if s.models[q.Model] == "" {
			http.Error(w, `{"error":"model not found"}`, http.StatusNotFound)
		}
		delete(s.models, q.Model)
	}
}

const tinySafetensors = "\x1c\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"data_offsets":[0,4]}}` + "\x00\x00\x80\x3f"

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadPackage(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"Tiny Chat.Q4.gguf": string(tinyGGUF()), "page.gguf": "<html>", "empty.gguf": "", "short.gguf": "GG", "torn.gguf": "GGUF and no more",
		"MiniLM/config.json": "{}", "MiniLM/model.safetensors": tinySafetensors, "MiniLM/1_Pooling/config.json": "{}", "MiniLM/README.md": "Hello",
		"MiniLM/.cache/config.json": "{}", "notes/a.txt": "nothing here", "torn/model.safetensors": tinySafetensors[:20], "cache/config.json": "{}",
	})
	for _, link := range []string{"cache/model.safetensors", "linked"} {
		target := filepath.Join(root, "MiniLM", "model.safetensors")
		if link == "linked" {
			target = filepath.Join(root, "cache")
		}
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		path, why string
		name      string
		files     []string
		want      error
	}{
		{"Tiny Chat.Q4.gguf", "a file is called by its name, as far as a server takes it", "tiny-chat.q4", []string{"Tiny Chat.Q4.gguf"}, nil},
		{"MiniLM", "a folder is all its files but the ones for people, with two of one name", "minilm", []string{"1_Pooling/config.json", "config.json", "model.safetensors"}, nil},
		{"linked", "a folder of links, by a link", "linked", []string{"config.json", "model.safetensors"}, nil},
		{"page.gguf", "a page that was downloaded instead of a model", "", nil, ErrNotModel},
		{"torn.gguf", "text behind the magic", "", nil, ErrNotModel},
		{"torn", "a folder with weights that are not whole", "", nil, ErrNotModel},
		{"empty.gguf", "nothing", "", nil, ErrNotModel},
		{"short.gguf", "less than the magic", "", nil, ErrNotModel},
		{"notes", "a folder without weights", "", nil, ErrNotModel},
		{"gone.gguf", "no such file", "", nil, fs.ErrNotExist},
	} {
		p, err := ReadPackage(filepath.Join(root, test.path))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.why, err, test.want)
		}
		if err != nil {
			continue
		}
		for i, name := range p.Files {
			p.Files[i] = filepath.ToSlash(name)
		}
		if d := cmp.Diff(test.files, p.Files); p.Name != test.name || d != "" || p.Size < 2 {
			t.Errorf("%s: %+v: %s", test.why, p, d)
		}
	}
}

func TestImport(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"m/config.json": "{}", "m/model.safetensors": tinySafetensors, "m/1_Pooling/config.json": "[]"})
	p, err := ReadPackage(filepath.Join(root, "m"))
	if err != nil {
		t.Fatal(err)
	}
	p.Template = "{{ .Prompt }}"
	s := &shelf{blobs: map[string]int{}, create: `{"status":"reading"}` + "\n" + `{"status":"success"}` + "\n"}
	server := httptest.NewServer(s)
	defer server.Close()
	library, err := NewLibrary(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for range 2 {
		bytes := int64(0)
		if err := library.Import(ctx, p, func(n int) { bytes += int64(n) }); err != nil {
			t.Fatal(err)
		}
		if bytes != 2*p.Size {
			t.Errorf("told of %d bytes, want %d", bytes, 2*p.Size)
		}
	}
	for digest, n := range s.blobs {
		if n != 1 {
			t.Errorf("%s was sent %d times", digest, n)
		}
	}
	if s.made.Model != "m" || s.made.Template != p.Template || len(s.made.Files) != 3 || s.made.Files["1_Pooling/config.json"] == s.made.Files["config.json"] {
		t.Errorf("%+v", s.made)
	}

	clear(s.blobs)
	for _, name := range []string{"", "a b", "a\nb", "../../x", "a:b:c", "é", strings.Repeat("x", 3000)} {
		named := p
		named.Name = name
		if err := library.Import(ctx, named, func(int) {}); err == nil || !strings.Contains(err.Error(), "is no name of a model") || len(s.blobs) > 0 {
			t.Errorf("the name %.20q: %v; %d files were sent", name, err, len(s.blobs))
		}
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, test := range []struct {
		why            string
		ctx            context.Context
		refuse, create string
		want           string
	}{
		{"the server's disk is full", ctx, `{"error":"write blob: no space left on device"}`, "", "its disk is full"},
		{"the server refuses", ctx, `{"error":"not today"}`, "", "the Ollama server failed: status 500: not today"},
		{"what it makes it cannot read", ctx, "", `{"error":"unsupported architecture"}` + "\n", "the server did not make m: the Ollama server failed: unsupported architecture"},
		{"it ends in the middle", ctx, "", `{"status":"reading"}` + "\n", "it ended before it was done"},
		{"the user does not want to wait", ended, "", "", "context canceled"},
	} {
		s.blobs, s.refuse, s.create = map[string]int{}, test.refuse, test.create
		if err := library.Import(test.ctx, p, func(int) {}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
	server.Close()
	if err := library.Import(ctx, p, func(int) {}); !errors.Is(err, ErrNoServer) {
		t.Errorf("no server: %v", err)
	}
}

// A name is free, or another model's, or of the very same model, and finding out leaves nothing behind.
func TestTaken(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"m/config.json": "{}", "m/model.safetensors": tinySafetensors, "n/config.json": "[]", "n/model.safetensors": tinySafetensors})
	p, err := ReadPackage(filepath.Join(root, "m"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := ReadPackage(filepath.Join(root, "n"))
	if err != nil {
		t.Fatal(err)
	}
	const success = `{"status":"success"}` + "\n"
	s := &shelf{blobs: map[string]int{}, models: map[string]string{}, create: success}
	server := httptest.NewServer(s)
	defer server.Close()
	library, err := NewLibrary(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if taken, same, err := library.Taken(ctx, p, func(int) {}); taken || same || err != nil {
		t.Errorf("an empty server: %v, %v, %v", taken, same, err)
	}
	if err := library.Import(ctx, p, func(int) {}); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(s.models)
	for _, test := range []struct {
		why         string
		p           Package
		name        string
		template    string
		create      string
		taken, same bool
		wrong       string
	}{
		{"the same", p, "m", "", success, true, true, ""},
		{"the same, with the tag that it has all the same", p, "M:latest", "", success, true, true, ""},
		{"another tag", p, "m:2", "", success, false, false, ""},
		{"another name", p, "n", "", success, false, false, ""},
		{"another template", p, "m", "{{ .Prompt }}", success, true, false, ""},
		{"other files, which the server has not", q, "m", "", success, true, false, ""},
		{"a server that makes nothing of the files", p, "m", "", `{"error":"unsupported architecture"}` + "\n", true, false, "unsupported architecture"},
	} {
		test.p.Name, test.p.Template, s.create = test.name, test.template, test.create
		bytes := int64(0)
		taken, same, err := library.Taken(ctx, test.p, func(n int) { bytes += int64(n) })
		if taken != test.taken || same != test.same || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v, %v, %v", test.why, taken, same, err)
		}
		if bytes > test.p.Size || taken && same && bytes != test.p.Size {
			t.Errorf("%s: told of %d bytes of %d", test.why, bytes, test.p.Size)
		}
		if d := cmp.Diff(before, s.models); d != "" || len(s.blobs) != 2 {
			t.Errorf("%s: it left %d files and %s", test.why, len(s.blobs), d)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	s.create = success
	p.Name = "m"
	_, _, err = library.Taken(ended, p, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || cmp.Diff(before, s.models) != "" {
		t.Errorf("cut short: %v; %v", err, s.models)
	}
}
