package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// ErrNotModel is returned for a file that holds no model.
var ErrNotModel = errors.New("not a model")

// Library is the models that an Ollama server has.
type Library struct{ server }

// NewLibrary checks the address, as in OllamaOptions. It does not speak to the server yet.
func NewLibrary(host string) (*Library, error) {
	srv, err := reach(host)
	if err != nil {
		return nil, err
	}
	return &Library{srv}, nil
}

// Host is the server's address, without a password that may be in it.
func (l *Library) Host() string { return l.where() }

// Models lists what the server has, by name.
func (l *Library) Models(ctx context.Context) ([]Model, error) {
	ctx, cancel := l.quickly(ctx)
	defer cancel()
	list, err := l.client.List(ctx)
	if err != nil {
		return nil, l.fault(ctx, err)
	}
	var out []Model
	for _, m := range list.Models {
		out = append(out, Model{Name: m.Name, Digest: m.Digest, Size: m.Size, Parameters: m.Details.ParameterSize})
	}
	slices.SortFunc(out, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Package is a model in files.
type Package struct {
	Name     string   // what the server is to call it
	Template string   // its chat template; "": the one in its files, or none
	Root     string   // the folder that Files are in
	Files    []string // relative to Root
	Size     int64    // of all of them
}

// folderFiles are the kinds of files that make a model in a folder, where some file is .safetensors.
var folderFiles = []string{".safetensors", ".json", ".txt", ".model"}

// ReadPackage looks at a GGUF file, or at a folder with safetensors. The error is ErrNotModel for anything else.
func ReadPackage(path string) (Package, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Package{}, err
	}
	if info.IsDir() {
		return openFolder(path)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for who writes to it
		return Package{}, fmt.Errorf("%s is %w: it is no regular file", path, ErrNotModel)
	}
	if err := whole(path, readGGUF); err != nil {
		return Package{}, err
	}
	base := filepath.Base(path)
	return Package{Name: modelName(strings.TrimSuffix(base, filepath.Ext(base))), Root: filepath.Dir(path), Files: []string{base}, Size: info.Size()}, nil
}

// modelName makes of a file's name one that a server takes.
func modelName(file string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && class[r]&(alnum|under|dash|dot) != 0 {
			return unicode.ToLower(r)
		}
		return '-'
	}, file), "-._")
}

func openFolder(root string) (Package, error) {
	name := modelName(filepath.Base(root))
	root, err := filepath.EvalSymlinks(root) // which a walk does not follow; caches of downloads are full of them
	if err != nil {
		return Package{}, err
	}
	p := Package{Name: name, Root: root}
	weights := false
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(folderFiles, filepath.Ext(path)):
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %w: %s in it is no regular file", root, ErrNotModel, path)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".safetensors" {
			weights = true
			if err := whole(path, readSafetensors); err != nil {
				return err
			}
		}
		p.Files = append(p.Files, name)
		p.Size += info.Size()
		return nil
	})
	if err == nil && !weights {
		err = fmt.Errorf("%s is %w: no file in it ends with .safetensors", root, ErrNotModel)
	}
	return p, err
}

// Taken tells whether the server has a model of the package's name already, and if so whether it is the very one that
// an Import would make: nothing is sent to find out, but a model under a name of its own may be made of files that the
// server has, and deleted again. progress is told how many bytes more were read, of the package's size.
func (l *Library) Taken(ctx context.Context, p Package, progress func(bytes int)) (taken, same bool, err error) {
	digest, err := l.digest(ctx, p.Name)
	if err != nil || digest == "" {
		return false, false, err
	}
	files := map[string]string{}
	for _, name := range p.Files {
		path := filepath.Join(p.Root, name)
		file, err := digested(ctx, path, progress)
		if err != nil {
			return true, false, err
		}
		have, err := l.has(ctx, file)
		if err != nil || !have {
			return true, false, err
		}
		files[filepath.ToSlash(name)] = file
	}
	trial := p
	trial.Name = "ctxweaver-trial:" + rand.Text()
	defer func() { err = errors.Join(err, l.delete(context.WithoutCancel(ctx), trial.Name)) }()
	if err := l.create(ctx, trial, files); err != nil {
		return true, false, err
	}
	made, err := l.digest(ctx, trial.Name)
	return true, made == digest, err
}

// digest is that of the model of a name, "" if the server has none.
func (l *Library) digest(ctx context.Context, name string) (string, error) {
	models, err := l.Models(ctx)
	for _, m := range models {
		if model.ParseName(m.Name).EqualFold(model.ParseName(name)) {
			return m.Digest, err
		}
	}
	return "", err
}

// delete deletes a model, if there is one of that name.
func (l *Library) delete(ctx context.Context, name string) error {
	ctx, cancel := l.quickly(ctx)
	defer cancel()
	err := l.client.Delete(ctx, &api.DeleteRequest{Model: name})
	var status api.StatusError
	if err == nil || errors.As(err, &status) && status.StatusCode == http.StatusNotFound {
		return nil
	}
	return fmt.Errorf("the server did not delete %s: %w", name, l.fault(ctx, err))
}

// Import brings a model into the server, where it takes the place of one of that name: see Taken. Its files go by their
// digests, so what is there already is not sent again. progress is told how many bytes more are done, of twice the
// package's size: each is read once for its digest and once to be sent.
func (l *Library) Import(ctx context.Context, p Package, progress func(bytes int)) error {
	if !model.ParseName(p.Name).IsValid() { // the server would say so at the end
		return fmt.Errorf("%q is no name of a model: give one such as qwen2.5:1.5b", p.Name)
	}
	if err := l.there(ctx); err != nil {
		return err
	}
	files := map[string]string{}
	for _, name := range p.Files {
		digest, err := l.push(ctx, filepath.Join(p.Root, name), progress)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)] = digest
	}
	return l.create(ctx, p, files)
}

// create makes a model of files that the server has, which are given by their digests.
func (l *Library) create(ctx context.Context, p Package, files map[string]string) error {
	done := false
	err := l.client.Create(ctx, &api.CreateRequest{Model: p.Name, Files: files, Template: p.Template}, func(r api.ProgressResponse) error {
		done = done || r.Status == "success"
		return nil
	})
	if err == nil && !done {
		err = errors.New("it ended before it was done")
	}
	if err != nil {
		return fmt.Errorf("the server did not make %s: %w", p.Name, l.fault(ctx, err))
	}
	return nil
}

// there makes sure that the server answers.
func (l *Library) there(ctx context.Context) error {
	ctx, cancel := l.quickly(ctx)
	defer cancel()
	if err := l.client.Heartbeat(ctx); err != nil {
		return l.fault(ctx, err)
	}
	return nil
}

// push sends a file, unless the server has it, and returns its digest.
func (l *Library) push(ctx context.Context, path string, progress func(int)) (digest string, err error) {
	if digest, err = digested(ctx, path, progress); err != nil {
		return "", err
	}
	have, err := l.has(ctx, digest)
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if have {
		info, err := file.Stat()
		if err == nil {
			progress(int(info.Size()))
		}
		return digest, err
	}
	if err := l.client.CreateBlob(ctx, digest, metered(ctx, file, progress)); err != nil {
		return "", fmt.Errorf("the server did not take %s: %w", path, l.fault(ctx, err))
	}
	return digest, nil
}

// digested is a file's digest, as a server knows it.
func digested(ctx context.Context, path string, progress func(int)) (digest string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, metered(ctx, file, progress)); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// metered reads a file until ctx ends.
func metered(ctx context.Context, file io.Reader, progress func(int)) io.Reader {
	return meter{file, func(n int) error {
		progress(n)
		return ctx.Err()
	}}
}

// has reports whether the server has a file of this digest.
func (l *Library) has(ctx context.Context, digest string) (bool, error) {
	ctx, cancel := l.quickly(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, l.base.JoinPath("api", "blobs", digest).String(), nil)
	if err != nil {
		return false, err
	}
	response, err := l.http.Do(r)
	if err != nil {
		return false, l.fault(ctx, err)
	}
	return response.StatusCode == http.StatusOK, response.Body.Close()
}

// meter tells how much of a file was read.
type meter struct {
	io.Reader
	tell func(bytes int) error
}

func (m meter) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if stop := m.tell(n); stop != nil {
		return n, stop
	}
	return n, err
}
