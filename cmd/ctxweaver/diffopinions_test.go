package main

import "testing"

// Opinions are kept under whole names; people say what they said to reweave.
func TestOpiner(t *testing.T) {
	there := []string{"big:7b/chat", "big:7b/scores", "rules", "tiny:1m/embeddings", "untagged/chat"}
	for _, c := range []struct{ why, want, found string }{
		{"the whole name", "tiny:1m/embeddings", "tiny:1m/embeddings"},
		{"a model that was asked in one way", "tiny:1m", "tiny:1m/embeddings"},
		{"however it is written", "library/Tiny:1M", "tiny:1m/embeddings"},
		{"rules have no ending", "rules", "rules"},
		{"the tag that every model has", "untagged:latest", "untagged/chat"},
		{"asked in two ways, one of them named", "big:7b/scores", "big:7b/scores"},
		{"asked in two ways, none named", "big:7b", ""},
		{"asked in another way", "tiny:1m/chat", ""},
		{"another model of that family", "tiny:2m", ""},
	} {
		if got, err := opiner(there, c.want, "s"); got != c.found || (err == nil) != (c.found != "") {
			t.Errorf("%s: %q is %q (%v), want %q", c.why, c.want, got, err, c.found)
		}
	}
}
