package controller

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// whole reads the header of a model's file as far as is needed to know that the file is whole: servers of today
// (Ollama 0.17) end in a panic when they are given a torn one, and with them all that runs on them.
func whole(path string, read func(r io.Reader, size int64) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := read(file, info.Size()); err != nil {
		return fmt.Errorf("%s is %w: %w", path, ErrNotModel, err)
	}
	return nil
}

// readSafetensors reads a header: its length in 8 bytes, then JSON that says where in the rest each tensor is.
func readSafetensors(r io.Reader, size int64) error {
	var n uint64
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return errors.New("it has no header; it was not copied or downloaded whole")
	}
	if n > mostHeader || int64(n) > size-8 {
		return fmt.Errorf("its header has %d bytes, of %d in the file", n, size)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return fmt.Errorf("its header cannot be read: %w", err)
	}
	var tensors map[string]struct {
		Offsets [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(text, &tensors); err != nil {
		return fmt.Errorf("its header cannot be read: %w", err)
	}
	furthest := int64(0)
	for name, t := range tensors {
		if t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] {
			return fmt.Errorf("tensor %.40s is from %d to %d", name, t.Offsets[0], t.Offsets[1])
		}
		furthest = max(furthest, t.Offsets[1])
	}
	if left := size - 8 - int64(n); furthest > left {
		return fmt.Errorf("it says that it has %d bytes of tensors, and %d are there; it was not copied or downloaded whole", furthest, left)
	}
	return nil
}

const mostHeader = 100 << 20 // bytes, as the format has it

// What a header may have. Real ones stay far below.
const (
	mostEntries    = 1 << 20  // of its tables
	mostElements   = 1 << 24  // of an array; vocabularies have some hundred thousand
	mostText       = 16 << 20 // bytes of a text; chat templates have some thousand
	mostDimensions = 8
	mostNested     = 2 // arrays in arrays
)

// gguf reads a header: numbers with the lowest byte first. After the first error it gives zeroes.
type gguf struct {
	from   *bufio.Reader
	left   int64 // bytes of the file behind what was read
	err    error
	extent uint64 // of general.alignment
}

// readGGUF reads a header, version 2 or 3, and checks that the file is as long as it says.
func readGGUF(r io.Reader, size int64) error {
	g := &gguf{from: bufio.NewReaderSize(r, 64<<10), left: size, extent: 32}
	if magic := g.bytes(4); string(magic) != "GGUF" {
		return fmt.Errorf("a GGUF file begins with GGUF, this one with %q", magic)
	}
	if version := g.u32(); g.err == nil && version != 2 && version != 3 {
		return fmt.Errorf("its GGUF version is %d, and servers read 2 and 3", version)
	}
	tensors, entries := g.u64(), g.u64()
	if g.err == nil && tensors == 0 {
		return errors.New("it has no tensors")
	}
	if tensors > mostEntries || entries > mostEntries {
		return fmt.Errorf("it says that it has %d tensors and %d entries", tensors, entries)
	}
	for range entries {
		if g.entry(); g.err != nil {
			return g.torn()
		}
	}
	furthest := uint64(0)
	for range tensors {
		if furthest = max(furthest, g.tensor()); g.err != nil {
			return g.torn()
		}
	}
	if g.err != nil {
		return g.torn()
	}
	// Tensors begin at the next multiple of the alignment, each at its offset, and none is empty.
	pad := (g.extent - uint64(size-g.left)%g.extent) % g.extent
	if left := uint64(g.left); pad >= left || furthest >= left-pad {
		return errors.New("it ends before its last tensor begins; it was not copied or downloaded whole")
	}
	return nil
}

func (g *gguf) torn() error { return fmt.Errorf("its header is torn: %w", g.err) }

func (g *gguf) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

// bytes reads at most n bytes: fewer where the file ends.
func (g *gguf) bytes(n int) []byte {
	if g.err != nil {
		return nil
	}
	b := make([]byte, n)
	got, err := io.ReadFull(g.from, b)
	if g.left -= int64(got); err != nil {
		g.fail("it ends after %d bytes of %d", got, n)
	}
	return b[:got]
}

func (g *gguf) number(n int) uint64 {
	var b [8]byte
	copy(b[:], g.bytes(n))
	return binary.LittleEndian.Uint64(b[:])
}

func (g *gguf) u32() uint32 { return uint32(g.number(4)) }
func (g *gguf) u64() uint64 { return g.number(8) }

// skip passes over n bytes, which must be there.
func (g *gguf) skip(n uint64) {
	if g.err != nil {
		return
	}
	if n > uint64(max(g.left, 0)) {
		g.fail("%d bytes are wanted, and %d are left", n, g.left)
		return
	}
	got, err := io.CopyN(io.Discard, g.from, int64(n))
	if g.left -= got; err != nil {
		g.fail("it ends after %d bytes of %d", got, n)
	}
}

func (g *gguf) length(most uint64, what string) uint64 {
	n := g.u64()
	if n > most {
		g.fail("%s of %d", what, n)
		return 0
	}
	return n
}

// alignmentKey is the one entry that says how the file is laid out.
const alignmentKey = "general.alignment"

func (g *gguf) entry() {
	key := string(g.bytes(int(g.length(1<<16, "a key's length"))))
	kind := g.u32()
	if key == alignmentKey && kind == 4 {
		if g.extent = uint64(g.u32()); g.extent == 0 {
			g.extent = 1
			g.fail("%s is 0", alignmentKey)
		}
		return
	}
	g.value(kind, 0)
}

// The kinds of values: numbers and truths have a size, texts and arrays a length.
const (
	textValue  = 8
	arrayValue = 9
)

var sizes = map[uint32]uint64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

func (g *gguf) value(kind uint32, depth int) {
	switch size, fixed := sizes[kind]; {
	case g.err != nil:
	case fixed:
		g.skip(size)
	case kind == textValue:
		g.skip(g.length(mostText, "a text's length"))
	case kind == arrayValue && depth < mostNested:
		of, n := g.u32(), g.length(mostElements, "an array's length")
		if size, fixed := sizes[of]; fixed {
			g.skip(size * n)
			return
		}
		for range n {
			if g.value(of, depth+1); g.err != nil {
				return
			}
		}
	default:
		g.fail("a value of kind %d", kind)
	}
}

// tensor reads what is said of a tensor, and returns where it begins.
func (g *gguf) tensor() (offset uint64) {
	g.skip(g.length(1<<16, "a name's length"))
	n := g.u32()
	if n > mostDimensions {
		g.fail("a tensor of %d dimensions", n)
		return 0
	}
	g.skip(8 * uint64(n))
	g.skip(4)
	return g.u64()
}
