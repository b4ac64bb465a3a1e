package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/engine/validation"
)

// BenchmarkParse reads texts that hold no test output, as most observations do, and one that does.
func BenchmarkParse(b *testing.B) {
	var source, search, log strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&source, "\tif err := store.Put(ctx, key%d, value); err != nil {\n", i)
		fmt.Fprintf(&search, "internal/store/put.go:%d:\tfailed := errors.Is(err, ErrFailed)\n", i)
		fmt.Fprintf(&log, "\x1b[32m2026-01-02T03:04:05Z INFO\x1b[0m request %d passed in 3ms, error=nil\r\n", i)
	}
	output := ""
	for _, s := range samples(b) {
		if s.name == "pytest/verbose" {
			output = strings.Repeat(s.output, 300)
		}
	}
	for _, c := range []struct{ name, text string }{
		{"source", source.String()}, {"search", search.String()}, {"colored log", log.String()}, {"pytest", output},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				validation.Parse(c.text, "make")
			}
		})
	}
}
