package main

import "testing"

// A line that is being written is waited for; what is no file of lines is read as it is.
func TestWritten(t *testing.T) {
	for _, c := range []struct{ why, data, want string }{
		{"all lines are whole", "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n"},
		{"the last has no end yet", "{\"a\":1}\n{\"a\":", "{\"a\":1}\n"},
		{"the last lacks nothing but the line's end", "{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}"},
		{"a document of several lines", "{\n\"a\": 1\n}", "{\n\"a\": 1\n}"},
		{"a document that is being written", "{\n\"a\": ", "{\n\"a\": "},
		{"text", "# aider chat\n\n#### hel", "# aider chat\n\n#### hel"},
		{"nothing", "", ""},
	} {
		if got := string(written([]byte(c.data))); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
