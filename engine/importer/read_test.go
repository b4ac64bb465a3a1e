package importer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"
)

const small = `{"sessionId":"g","projectHash":"h","messages":[{"type":"user","content":"hi"},{"type":"gemini","content":"Yes.","toolCalls":[{"id":"a","name":"ls","args":{"p":"."},"result":[{"functionResponse":{"response":{"output":"x"}}}]}]},{"type":"gemini","content":"Done."}]}`

// trace is the trace of a fixture.
func trace(t testing.TB, name string) txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a.Files[0]
}

func zipped(t *testing.T, data string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, data string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(data), nil))
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		why, data string
		opts      Options
		want      error
		says      string
	}{
		{why: "an empty file", data: "", want: ErrEmpty},
		{why: "only white space", data: "\n \r\n", want: ErrEmpty},
		{why: "a byte order mark alone", data: "\ufeff", want: ErrEmpty},
		{why: "that of UTF-16 alone", data: "\xff\xfe", want: ErrEmpty},
		{why: "a known format without a conversation", data: `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`, want: ErrEmpty},
		{why: "another JSON object says its keys", data: `{"name":"x","version":"1"}`, want: ErrUnknownFormat, says: `a JSON object of ["name" "version"]`},
		{why: "a JSON list of numbers", data: `[1,2]`, want: ErrUnknownFormat, says: "a JSON list"},
		{why: "prose says how it begins", data: "Dear Sir,\nhello", want: ErrUnknownFormat, says: `text that begins "Dear Sir,"`},
		{why: "a program", data: "\x7fELF\x00\x00\x01", want: ErrUnknownFormat, says: "a binary file"},
		{why: "a web page", data: "<!DOCTYPE html><html>", want: ErrUnknownFormat, says: "a web page"},
		{why: "the error says how to go on", data: "x", want: ErrUnknownFormat, says: "say of which format with --format"},
		{why: "a name that is no format", data: small, opts: Options{Format: "gemini"}, want: ErrFormat, says: `"gemini"; there are claude-code-jsonl, `},
		{why: "more than the limit", data: small, opts: Options{Limit: 100}, want: ErrTooLarge},
		{why: "a gzip bomb stops at the limit", data: zipped(t, strings.Repeat(" ", 1<<20)), opts: Options{Limit: 1 << 16}, want: ErrTooLarge},
		{why: "a zstd bomb too", data: zstandard(t, strings.Repeat(" ", 1<<20)), opts: Options{Limit: 1 << 16}, want: ErrTooLarge},
		{why: "brackets without end do not exhaust the stack", data: strings.Repeat("[", 1<<20), want: ErrUnknownFormat},
		{why: "brackets without end in a line neither", data: `{"type":"init","session_id":"s","model":"m"}` + "\n" + strings.Repeat(`{"a":[`, 1<<18), opts: Options{Format: "gemini-cli-stream"}, want: ErrEmpty},
	} {
		_, err := Read(strings.NewReader(c.data), "some/file", c.opts)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "some/file: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %q, want %q saying %q", c.why, err, c.want, c.says)
		}
	}
}

// TestReadNamesTheByte: of a document that is wrong inside, the error says where.
func TestReadNamesTheByte(t *testing.T) {
	_, err := Read(strings.NewReader(strings.Replace(small, `"type":"gemini"`, `"type":!`, 1)), "f", Options{Format: "gemini-cli-session"})
	if err == nil || !strings.Contains(err.Error(), "invalid character '!'") {
		t.Errorf("got %v", err)
	}
}

func TestReadWrapped(t *testing.T) {
	plain, err := Read(strings.NewReader(small), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for why, data := range map[string]string{
		"gzip":              zipped(t, small),
		"zstd":              zstandard(t, small),
		"a byte order mark": "\ufeff" + small,
		"white space":       "\r\n\t" + small + "\n\n",
	} {
		got, err := Read(strings.NewReader(data), "", Options{})
		if err != nil {
			t.Errorf("%s: %v", why, err)
		}
		if diff := cmp.Diff(sketch(plain), sketch(got)); diff != "" {
			t.Errorf("%s (-plain +got)\n%s", why, diff)
		}
	}
}

// TestReadCutOff cuts a document at every byte: what is read is a beginning of the whole, and the
// loss is told.
func TestReadCutOff(t *testing.T) {
	whole, err := Read(strings.NewReader(small), "f", Options{Format: "gemini-cli-session"})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for n := 1; n < len(small); n++ {
		ts, err := Read(strings.NewReader(small[:n]), "f", Options{Format: "gemini-cli-session"})
		if err != nil {
			if most > 0 {
				t.Fatalf("byte %d: %v, though less could be read", n, err)
			}
			continue
		}
		if len(ts[0].Notes.Broken) != 1 {
			t.Errorf("byte %d: Broken = %q", n, ts[0].Notes.Broken)
		}
		if len(ts[0].Steps) < most || len(ts[0].Steps) > len(whole[0].Steps) {
			t.Errorf("byte %d: %d steps after %d", n, len(ts[0].Steps), most)
		}
		most = len(ts[0].Steps)
	}
	if most != len(whole[0].Steps) {
		t.Errorf("read at most %d of %d steps", most, len(whole[0].Steps))
	}
}

// TestLongLines: a line may be longer than any buffer, and keeps what is in it.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("ä\u0000\x1b[31m", 1<<18)
	quoted := strings.NewReplacer("\x1b", `\u001b`, "\x00", `\u0000`).Replace(long)
	data := `{"type":"init","session_id":"s","model":"m"}` + "\n" +
		`{"type":"tool_use","tool_name":"cat","tool_id":"1","parameters":{}}` + "\n" +
		`{"type":"tool_result","tool_id":"1","status":"success","output":"` + quoted + `"}` + "\n"
	ts, err := Read(strings.NewReader(data), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ts[0].Steps[0].Calls[0].Observation.Text; got != long {
		t.Errorf("read %d bytes of %d, or other ones", len(got), len(long))
	}
}

// TestInvalidUTF8: what is stored is always valid text.
func TestInvalidUTF8(t *testing.T) {
	ts, err := Read(strings.NewReader(strings.Replace(small, "Yes", "Y\xff\xfes", 1)), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ts[0].Steps[0].Thought; got != "Y\uFFFDs." {
		t.Errorf("got %q", got)
	}
}

// utf16Text is the text as UTF-16 with a byte order mark, half of each character beyond 16 bits in a unit of its own.
func utf16Text(text string, order binary.AppendByteOrder) string {
	out := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// TestUTF16: what Windows writes by default is read as if it were UTF-8.
func TestUTF16(t *testing.T) {
	const said = "Yes ä 漢 😀"
	data := strings.Replace(small, "Yes", said, 1)
	little := utf16Text(data, binary.LittleEndian)
	for why, c := range map[string]struct{ data, want string }{
		"the low byte first":             {little, said + "."},
		"the high byte first":            {utf16Text(data, binary.BigEndian), said + "."},
		"Windows line ends":              {utf16Text("\r\n"+data+"\r\n", binary.LittleEndian), said + "."},
		"compressed":                     {zipped(t, little), said + "."},
		"an odd byte at the end":         {little + "\x00", said + "."},
		"half of a character is no text": {strings.Replace(little, "\x3d\xd8\x00\xde", "\x3d\xd8", 1), "Yes ä 漢 \uFFFD."},
	} {
		ts, err := Read(strings.NewReader(c.data), "", Options{})
		if err != nil {
			t.Errorf("%s: %v", why, err)
		} else if got := ts[0].Steps[0].Thought; got != c.want {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// TestNames: a trajectory has the same name each time, whatever the file is called and wrapped in.
func TestNames(t *testing.T) {
	unnamed := strings.Replace(small, `"sessionId":"g",`, "", 1)
	for _, c := range []struct{ why, file, data, want string }{
		{"the session's own id", "other.json", small, "g"},
		{"else the file's name", "a/session-7.json.gz", unnamed, "session-7"},
		{"a dot file keeps its name", ".traj", unnamed, ".traj"},
	} {
		ts, err := Read(strings.NewReader(c.data), c.file, Options{Format: "gemini-cli-session"})
		if err != nil {
			t.Fatal(err)
		}
		if ts[0].Name != c.want {
			t.Errorf("%s: %q, want %q", c.why, ts[0].Name, c.want)
		}
	}
	for range 2 {
		ts, err := Read(strings.NewReader(unnamed), "", Options{Format: "gemini-cli-session"})
		if err != nil {
			t.Fatal(err)
		}
		if want := "gemini-cli-session-8f434346"; ts[0].Name != want {
			t.Errorf("without a file: %q, want %q", ts[0].Name, want)
		}
	}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadFolder: the events of an OpenHands conversation, a file each, are one trajectory named after
// the folder above.
func TestReadFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "conv[1]")
	for i, line := range strings.Split(strings.TrimSpace(string(trace(t, "openhands-sdk").Data)), "\n") {
		write(t, filepath.Join(dir, "events", "event-0000"+string(rune('0'+i))+"-x.json"), line)
	}
	for _, path := range []string{dir, filepath.Join(dir, "events")} {
		ts, err := ReadFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(ts) != 1 || ts[0].Name != "conv[1]" || ts[0].Format != "openhands-sdk-events" {
			t.Errorf("%s: read\n%s", path, sketch(ts))
		}
	}
	if _, err := ReadFile(t.TempDir(), Options{}); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("a folder of something else: %v", err)
	}
}

// Of a compressed file that is cut off or damaged, what there is is read, and that there was more is said; where
// nothing can be read that is the error. Never is it taken for the whole.
func TestReadTorn(t *testing.T) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, `{"role":"%s","content":"%x"}`+"\n", []string{"user", "assistant"}[i%2], sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	coder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, whole := range map[string]string{"gzip": zipped(t, text.String()), "zstd": string(coder.EncodeAll([]byte(text.String()), nil))} {
		if ts, err := Read(strings.NewReader(whole), "x.jsonl", Options{}); err != nil || len(ts[0].Notes.Broken) > 0 {
			t.Fatalf("%s: %v", name, err)
		}
		damaged := []byte(whole)
		damaged[len(damaged)*3/4] ^= 0xff
		torn := map[string]string{"damaged": string(damaged)}
		for _, n := range []int{5, len(whole) / 4, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
			torn[fmt.Sprintf("cut at %d of %d", n, len(whole))] = whole[:n]
		}
		for how, data := range torn {
			ts, err := Read(strings.NewReader(data), "x.jsonl", Options{})
			switch {
			case err != nil:
				if !strings.Contains(err.Error(), "damaged or cut off") {
					t.Errorf("%s %s: %v", name, how, err)
				}
			case !strings.Contains(strings.Join(ts[0].Notes.Broken, "\n"), "damaged or cut off here"):
				t.Errorf("%s %s: %d steps, and nothing said of what is missing: %q", name, how, len(ts[0].Steps), ts[0].Notes.Broken)
			}
		}
	}
}
