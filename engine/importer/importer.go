// Package importer reads the traces that agents leave behind into steps, one file a format.
package importer

// format is one kind of trace.
type format struct {
	name string // as users name it with --format
	// detect says how sure it is, from 0 (no) to 1, that head, the first bytes of a file, is its own.
	// name is the file's base name, which may be empty.
	detect func(name string, head []byte) float64
	parse  func(data []byte) ([]*Trajectory, error)
}
