//go:build unix

package graphstore

import (
	"io/fs"
	"syscall"
)

// allocated is the space that a file takes on the disk.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
