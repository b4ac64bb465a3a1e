package graphstore

import (
	"fmt"
	"path/filepath"
)

// Badger writes its logs and tables through memory maps of sparse files. Where the disk is full, the write
// of a page has nowhere to report that, and the system ends the process instead. So nothing is written unless
// there is room to spare.
const (
	// spareToOpen is for the first page of a new log and for the seal.
	spareToOpen = 16 << 20
	// spareToPut is for the log of a memtable and the table that it becomes, of 64 MB each.
	spareToPut = 128 << 20
)

// Room is how many bytes the disk has left that a store in dir is on, or would be; -1 where the system does
// not say. The error is ErrFull if that is not enough to write a step.
func Room(dir string) (left int64, err error) {
	for ; ; dir = filepath.Dir(dir) {
		if left, known := freeSpace(dir); known {
			return left, room(dir, spareToPut)
		}
		if dir == filepath.Dir(dir) {
			return -1, nil
		}
	}
}

// room fails with ErrFull if the disk under dir has less than so many bytes left.
func room(dir string, spare int64) error {
	if left, known := freeSpace(dir); known && left < spare {
		return fmt.Errorf("%w: %d MB are left for %s, and %d are wanted; make room, or choose another folder",
			ErrFull, left>>20, dir, spare>>20)
	}
	return nil
}

// roomFor is room for a write of so many bytes. In memory there always is.
func (s *Store) roomFor(bytes int) error {
	if s.dir == "" {
		return nil
	}
	return room(s.dir, s.spare+int64(bytes))
}
