//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// allocated is the space that a file takes on disk, in bytes.
func allocated(info fs.FileInfo) float64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return float64(s.Blocks) * 512
	}
	return float64(info.Size())
}
