package controller

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

func TestReadSafetensors(t *testing.T) {
	file := func(text string, data int) []byte {
		h := (&header{}).put(text)
		h.Write(make([]byte, data))
		return h.Bytes()
	}
	const two = `{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F16","shape":[2],"data_offsets":[8,12]}}`
	for _, test := range []struct {
		why, want string
		file      []byte
	}{
		{"a whole file", "", file(two, 12)},
		{"its last bytes are missing", "12 bytes of tensors, and 11 are there", file(two, 11)},
		{"its header is cut", "its header has", file(two, 0)[:40]},
		{"nothing", "it has no header", nil},
		{"a text", "its header has", []byte("version https://git-lfs.github.com/spec/v1")},
		{"a header that is longer than memory", "its header has", (&header{}).put(uint64(1<<63), "{}").Bytes()},
		{"a header that is no JSON", "its header cannot be read", file("weights", 12)},
		{"a tensor that ends before it begins", "tensor a is from 8 to 0", file(`{"a":{"data_offsets":[8,0]}}`, 12)},
	} {
		err := readSafetensors(bytes.NewReader(test.file), int64(len(test.file)))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

func FuzzReadSafetensors(f *testing.F) {
	f.Add((&header{}).put(`{"a":{"data_offsets":[0,4]}}`, float32(1)).Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		whole := readSafetensors(bytes.NewReader(file), int64(len(file)))
		longer := append(bytes.Clone(file), make([]byte, 64)...)
		if err := readSafetensors(bytes.NewReader(longer), int64(len(longer))); whole == nil && err != nil {
			t.Errorf("taken as it is, but with 64 bytes more: %v", err)
		}
	})
}

// header writes GGUF headers for tests.
type header struct{ bytes.Buffer }

func (h *header) put(values ...any) *header {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			h.put(uint64(len(v)))
			h.WriteString(v)
		default:
			_ = binary.Write(&h.Buffer, binary.LittleEndian, v) // a buffer takes all numbers
		}
	}
	return h
}

func begun(version uint32, tensors, entries uint64) *header {
	h := &header{}
	h.WriteString("GGUF")
	return h.put(version, tensors, entries)
}

// tinyGGUF is a file with values of all kinds and two tensors of 32 bytes.
func tinyGGUF() []byte {
	h := begun(3, 2, 7).put(
		"general.architecture", uint32(8), "llama",
		"general.alignment", uint32(4), uint32(16),
		"llama.context_length", uint32(10), uint64(2048),
		"flag", uint32(7), uint8(1),
		"scores", uint32(9), uint32(6), uint64(2), float32(1), float32(2),
		"tokens", uint32(9), uint32(8), uint64(2), "a", "b",
		"nested", uint32(9), uint32(9), uint64(1), uint32(4), uint64(1), uint32(7),
		"first", uint32(2), uint64(4), uint64(2), uint32(0), uint64(0),
		"second", uint32(1), uint64(8), uint32(0), uint64(32))
	for h.Len()%16 != 0 {
		h.WriteByte(0)
	}
	h.Write(make([]byte, 64))
	return h.Bytes()
}

func TestReadGGUF(t *testing.T) {
	whole := tinyGGUF()
	if err := readGGUF(bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	for n := range len(whole) - 32 { // where the second tensor begins
		if err := readGGUF(bytes.NewReader(whole[:n]), int64(n)); err == nil {
			t.Errorf("a file of %d bytes, cut to %d, is taken for whole", len(whole), n)
		}
	}
	for _, test := range []struct {
		why  string
		file []byte
		want string
	}{
		{"no GGUF at all", []byte("<!DOCTYPE html>"), `this one with "<!DO"`},
		{"the first version, or one with the highest byte first", begun(1<<24, 1, 0).Bytes(), "its GGUF version is 16777216"},
		{"text behind the magic", []byte("GGUF and no more"), "its GGUF version is"},
		{"nothing but a vocabulary", begun(3, 0, 1).put("k", uint32(8), "v").Bytes(), "it has no tensors"},
		{"more tensors than there can be", begun(3, 1<<60, 0).Bytes(), "tensors"},
		{"a key that is longer than memory", begun(3, 1, 1).put(uint64(1 << 62)).Bytes(), "a key's length of"},
		{"a text that is longer than the file", begun(3, 1, 1).put("k", uint32(8), uint64(1<<20)).Bytes(), "bytes are wanted"},
		{"an array that is longer than memory", begun(3, 1, 1).put("k", uint32(9), uint32(8), uint64(1<<61)).Bytes(), "an array's length"},
		{"arrays in arrays without end", begun(3, 1, 1).put("k", uint32(9), uint32(9), uint64(1), uint32(9), uint64(1), uint32(9), uint64(1)).Bytes(), "a value of kind 9"},
		{"a kind of value that there is not", begun(3, 1, 1).put("k", uint32(99)).Bytes(), "a value of kind 99"},
		{"an alignment that divides nothing", begun(3, 1, 1).put(alignmentKey, uint32(4), uint32(0)).Bytes(), "alignment is 0"},
		{"a tensor of too many dimensions", begun(3, 1, 0).put("t", uint32(1<<30)).Bytes(), "dimensions"},
		{"a tensor behind the end", begun(3, 1, 0).put("t", uint32(0), uint32(0), uint64(1<<50)).Bytes(), "ends before its last tensor"},
	} {
		if err := readGGUF(bytes.NewReader(test.file), int64(len(test.file))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

// Whatever is in a file, reading it ends, in little memory, and what is behind a whole one changes nothing.
func FuzzReadGGUF(f *testing.F) {
	f.Add(tinyGGUF())
	f.Add(begun(2, 0, 0).Bytes())
	f.Add([]byte("GGUF and no more"))
	f.Fuzz(func(t *testing.T, file []byte) {
		whole := readGGUF(bytes.NewReader(file), int64(len(file)))
		longer := append(bytes.Clone(file), make([]byte, 64)...)
		if err := readGGUF(bytes.NewReader(longer), int64(len(longer))); whole == nil && err != nil {
			t.Errorf("taken as it is, but with 64 bytes more: %v", err)
		}
	})
}
