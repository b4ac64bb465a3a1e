package importer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

	// By these a text says how it is encoded.
	utf8Mark    = []byte{0xef, 0xbb, 0xbf}
	utf16Little = []byte{0xff, 0xfe}
	utf16Big    = []byte{0xfe, 0xff}
)

// load reads a file whole, decompressed, as valid UTF-8 with plain line ends. Carriage returns
// inside JSON strings are escaped there, and so stay. Of a file that is damaged or cut off it gives what
// there is before that, and in cut what is wrong with it.
func load(r io.Reader, limit int64) (data []byte, cut, err error) {
	if r, err = decompressed(r, limit); err != nil {
		return nil, nil, fmt.Errorf("damaged or cut off: %w", err)
	}
	data, err = io.ReadAll(io.LimitReader(r, limit+1))
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("%w: over %d MB", ErrTooLarge, limit>>20)
	}
	if err != nil && len(data) == 0 {
		return nil, nil, fmt.Errorf("damaged or cut off: %w", err)
	}
	cut = err
	data = decoded(data)
	if bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil, ErrEmpty
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	return data, cut, nil
}

// decoded takes the byte order mark off. What it says is UTF-16, as shells of Windows write it, becomes UTF-8.
func decoded(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, utf16Little):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, utf16Big):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(data, utf8Mark)
	}
	out := make([]byte, 0, len(data))
	for i := 2; i+1 < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) && i+3 < len(data) {
			if both := utf16.DecodeRune(r, rune(order.Uint16(data[i+2:]))); both != utf8.RuneError {
				r, i = both, i+2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func decompressed(r io.Reader, limit int64) (io.Reader, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		return gzip.NewReader(b)
	case bytes.HasPrefix(magic, zstdMagic):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)+1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return b, nil
}

// looks says in a few words what data is that no format knows.
func looks(data []byte) string {
	trimmed := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(data, []byte("SQLite format 3")):
		return "an SQLite database"
	case bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0:
		return "a binary file (" + http.DetectContentType(data) + ")"
	case trimmed[0] == '[':
		return "a JSON list of " + keys(records(data, 1))
	case trimmed[0] == '{' && bytes.Contains(trimmed, []byte("\n{")):
		return "JSON lines of " + keys(records(data, 1))
	case trimmed[0] == '{':
		return "a JSON object of " + keys(records(data, 1))
	case strings.HasPrefix(http.DetectContentType(data), "text/html"):
		return "a web page"
	}
	line, _, _ := strings.Cut(string(trimmed[:min(len(trimmed), 256)]), "\n")
	if r := []rune(line); len(r) > 40 {
		line = string(r[:40]) + "…"
	}
	return fmt.Sprintf("text that begins %q", line)
}

func keys(rs []gjson.Result) string {
	var names []string
	for _, r := range rs {
		r.ForEach(func(k, _ gjson.Result) bool {
			names = append(names, k.Str)
			return len(names) < 6
		})
	}
	if len(names) == 0 {
		return "something else"
	}
	return fmt.Sprintf("%q", names)
}

// eventFiles are the events of an OpenHands conversation in order, none if the folder holds none.
func eventFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "event-*.json"))
	if err != nil || len(files) > 0 {
		return files, err
	}
	return filepath.Glob(filepath.Join(escapeGlob(dir), "events", "event-*.json"))
}

// escapeGlob keeps the folder's own name from being read as a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(dir)
}

// joinEvents makes one JSONL file of the events in a folder, and names it after the conversation.
func joinEvents(dir string, limit int64) (data []byte, name string, err error) {
	files, err := eventFiles(dir)
	if err != nil {
		return nil, "", err
	}
	if len(files) == 0 {
		return nil, "", fmt.Errorf("%s: %w: a folder without event-*.json; walk it for its files", dir, ErrUnknownFormat)
	}
	var out bytes.Buffer
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, "", err
		}
		if int64(out.Len()+len(b)) > limit {
			return nil, "", fmt.Errorf("%s: %w: over %d MB", dir, ErrTooLarge, limit>>20)
		}
		out.Write(bytes.Join(bytes.FieldsFunc(b, func(r rune) bool { return r == '\n' || r == '\r' }), []byte(" ")))
		out.WriteByte('\n')
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}
	if filepath.Base(dir) == "events" {
		dir = filepath.Dir(dir)
	}
	return out.Bytes(), dir, nil
}
