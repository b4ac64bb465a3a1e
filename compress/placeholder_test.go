package compress_test

import (
	"testing"

	"github.com/ctxweaver/ctxweaver/compress"
)

func TestPlaceholder(t *testing.T) {
	for _, row := range []struct {
		text   string
		images int
		want   string
		why    string
	}{
		{"", 0, "Old environment output: (1 lines omitted)", "an empty text is one line"},
		{"a", 0, "Old environment output: (1 lines omitted)", "the paper has no singular"},
		{"a\n", 0, "Old environment output: (2 lines omitted)", "newlines plus one"},
		{"a\nb\r\nc", 0, "Old environment output: (3 lines omitted)", "a carriage return is no line"},
		{"a\nb", 2, "Old environment output: (2 lines omitted) (2 images omitted)", "images are named when there are any"},
		{"", 1, "Old environment output: (1 lines omitted) (1 images omitted)", "nothing but an image"},
		{"a", -1, "Old environment output: (1 lines omitted)", "fewer than none is none"},
	} {
		if got := compress.Placeholder(compress.Lines(row.text), row.images); got != row.want {
			t.Errorf("Placeholder(%q, %d) = %q, want %q: %s", row.text, row.images, got, row.want, row.why)
		}
	}
}
