package graphstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// Stats says how large a store is.
type Stats struct {
	Sessions int
	Nodes    int
	Tokens   int
	Disk     int64 // bytes that its files take; 0 in memory
}

// Stats sums the catalog up and measures the files.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	err := s.view(ctx, func(txn *badger.Txn) error {
		entries, err := readEntries(txn)
		for _, e := range entries {
			st.Sessions++
			st.Nodes += e.Nodes
			st.Tokens += e.Tokens
		}
		return err
	})
	if err != nil {
		return st, err
	}
	st.Disk, err = s.disk()
	return st, err
}

// disk is what the files take. Badger's logs are sparse files with a size far above that.
func (s *Store) disk() (int64, error) {
	if s.dir == "" {
		return 0, nil
	}
	var n int64
	err := filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreGone(err)
		}
		info, err := d.Info()
		if err == nil {
			n += allocated(info)
		}
		return ignoreGone(err) // Badger deletes tables as we look
	})
	return n, err
}

func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
