package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// cached is the file that keeps a result of the session, "" where none is kept. All that decides the
// result is in its name.
func (b *bench) cached(policy string) string {
	other := ""
	if b.other != nil {
		other = b.other.session.Hash + b.other.fit.ID
	}
	return b.kept(policy, b.fit.ID, other, fmt.Sprint(b.options.Stability, b.options.Misses, b.options.Seed))
}

// naive is cached for a policy that was measured together with others.
func (b *bench) naive(policy string) string {
	return b.kept(policy, "naive", fmt.Sprint(b.options.Engine.Budget))
}

func (b *bench) kept(parts ...string) string {
	if b.options.Cache == "" {
		return ""
	}
	key := fmt.Sprintf("%q", append(parts, Version, b.options.Program, b.session.Hash, fmt.Sprint(b.options.First)))
	return filepath.Join(b.options.Cache, sum([]byte(key))[:32]+".json.gz")
}

// readCached reads a kept result. One that is damaged is not there, and is measured again.
func readCached(path string) (Result, bool) {
	var r Result
	if path == "" {
		return r, false
	}
	file, err := os.Open(path)
	if err != nil {
		return r, false
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return r, false
	}
	return r, json.NewDecoder(z).Decode(&r) == nil
}

// writeCached keeps a result.
func writeCached(path string, r Result) error {
	if path == "" {
		return nil
	}
	return Replace(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(json.NewEncoder(z).Encode(r), z.Close())
	})
}
