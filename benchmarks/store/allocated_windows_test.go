package store

import "io/fs"

// allocated is the size of a file, in bytes.
func allocated(info fs.FileInfo) float64 { return float64(info.Size()) }
