//go:build !unix

package graphstore

import "io/fs"

// allocated is the size of a file, which is what systems without sparse files take for it.
func allocated(info fs.FileInfo) int64 { return info.Size() }

// syncDir does nothing: such systems have no way to ask for it.
func syncDir(string) error { return nil }
