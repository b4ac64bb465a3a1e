package graphstore

// FormatVersion is the version of the store's layout (FORMAT.md) that this package reads and writes.
const FormatVersion = format
