package evidence

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestReplace: a file is there whole, or as it was before, and nothing else is left behind.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "file")
	torn := errors.New("torn")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"one", nil, "one"}, {"two", torn, "one"}, {"three", nil, "three"}} {
		err := Replace(path, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.text, err)
		}
		if got, err := os.ReadFile(path); string(got) != c.want {
			t.Errorf("after %s it holds %q, %v", c.text, got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o444 != 0o444 {
		t.Errorf("not everybody may read it: %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
