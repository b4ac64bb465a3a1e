//go:build unix

package controller

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe to which nobody writes is refused, not waited for.
func TestPipeIsNoModel(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"m/model.safetensors": tinySafetensors})
	for _, path := range []string{"a.gguf", "m/config.json"} {
		if err := syscall.Mkfifo(filepath.Join(root, path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"a.gguf", "m"} {
		if _, err := ReadPackage(filepath.Join(root, path)); !errors.Is(err, ErrNotModel) {
			t.Errorf("%s: %v, want %v", path, err, ErrNotModel)
		}
	}
}
