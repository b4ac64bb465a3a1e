//go:build linux || darwin

package graphstore

import "syscall"

// freeSpace is how many bytes the user may still write to the disk that dir is on.
func freeSpace(dir string) (left int64, known bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
