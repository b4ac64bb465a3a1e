package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tidwall/gjson"
)

// syntax is json.Valid with a reason. gjson's own check is recursive without a bound, so that a
// long row of brackets could exhaust the stack.
func syntax(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var v json.RawMessage
	return json.Unmarshal(data, &v)
}

// cutOff reports whether the data is JSON but for its missing end.
func cutOff(data []byte) bool {
	err := syntax(data)
	var s *json.SyntaxError
	return errors.As(err, &s) && s.Offset >= int64(len(data))
}

// mend closes a JSON value that was cut off, after the last value in it that is whole.
func mend(data []byte) ([]byte, bool) {
	whole := 0
	var open []byte // the brackets that are due
	key := false    // a string that comes next is a key
scan:
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '{', '[':
			open = append(open, c+2) // in ASCII, two after each bracket comes its other half
			key = c == '{'
			whole = i + 1
		case '}', ']':
			if len(open) == 0 {
				return nil, false
			}
			open = open[:len(open)-1]
			key = false
			whole = i + 1
		case '"':
			end := stringEnd(data, i)
			if end < 0 {
				break scan
			}
			i = end - 1
			if !key {
				whole = end
			}
		case ':':
			key = false
		case ',':
			key = len(open) > 0 && open[len(open)-1] == '}'
		case ' ', '\t', '\n', '\r':
		default: // a number or a word
			n := bytes.IndexAny(data[i:], ",]} \t\r\n")
			if n < 0 { // it may go on
				break scan
			}
			i += n - 1
			whole = i + 1
		}
	}
	out := append(bytes.Clone(data[:whole]), due(data[:whole])...)
	return out, json.Valid(out)
}

// due are the brackets that close what is open at the end of data, which is not inside a string.
func due(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '{', '[':
			out = append(out, c+2)
		case '}', ']':
			out = out[:max(len(out)-1, 0)]
		case '"':
			if i = stringEnd(data, i) - 1; i < 0 {
				return nil
			}
		}
	}
	slices.Reverse(out)
	return out
}

// stringEnd is the index after the string that begins at i, or -1 if it has no end.
func stringEnd(data []byte, i int) int {
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return -1
}

// document reads data that is one JSON value.
func document(data []byte) (gjson.Result, error) {
	if err := syntax(data); err != nil {
		return gjson.Result{}, fmt.Errorf("not one JSON value: %w", err)
	}
	return gjson.ParseBytes(data), nil
}

// jsonRows reads a JSON list, one JSON object, or a JSON value a line. broken names what was skipped.
func jsonRows(data []byte) (rows []gjson.Result, broken []string, err error) {
	v, err := document(data)
	switch {
	case err == nil && v.IsArray():
		return v.Array(), nil, nil
	case err == nil:
		return []gjson.Result{v}, nil, nil
	}
	for _, v := range values(data, func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }) {
		rows = append(rows, v)
	}
	if len(rows) == 0 {
		return nil, nil, err
	}
	return rows, broken, nil
}

// lines yields the JSON objects of a file that has one a line. A line that is none is skipped and
// handed to broken.
func lines(data []byte, broken func(format string, args ...any)) iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		for n, v := range values(data, broken) {
			if !v.IsObject() {
				broken("line %d: not an object", n)
			} else if !yield(n, v) {
				return
			}
		}
	}
}

// values is lines, for values of any kind.
func values(data []byte, broken func(format string, args ...any)) iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		n := 0
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			n++
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if err := syntax(line); err != nil {
				broken("line %d: %v", n, err)
			} else if !yield(n, gjson.ParseBytes(line)) {
				return
			}
		}
	}
}

// records are the first n objects of a file, for detection: lines, elements of a list, or the
// one object that it is. They may be cut off or wrong inside. Lines count if at least half of
// them are JSON.
func records(head []byte, n int) []gjson.Result {
	var out []gjson.Result
	head = bytes.TrimSpace(head)
	if len(head) == 0 {
		return nil
	}
	if head[0] == '[' {
		gjson.ParseBytes(head).ForEach(func(_, v gjson.Result) bool {
			if v.IsObject() {
				out = append(out, v)
			}
			return len(out) < n
		})
		return out
	}
	tried := 0
	for rest := head; len(rest) > 0 && len(out) < n && tried < 4*n; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if line = bytes.TrimRight(line, " \t\r"); len(line) == 0 {
			continue
		}
		tried++
		if line[0] == '{' && json.Valid(line) {
			out = append(out, gjson.ParseBytes(line))
		}
	}
	if 2*len(out) < tried { // a text with such lines in it
		out = nil
	}
	if len(out) == 0 && head[0] == '{' {
		out = append(out, gjson.ParseBytes(head))
	}
	return out
}

// has reports whether the object has all these keys at its top.
func has(r gjson.Result, keys ...string) bool {
	for _, k := range keys {
		if !r.Get(k).Exists() {
			return false
		}
	}
	return true
}
