package main

import (
	"slices"
	"testing"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// What many have is told once, and what one has as it is.
func TestGrouped(t *testing.T) {
	got := grouped([]graphstore.Problem{
		{Kind: graphstore.KindTables, Detail: "torn"},
		{Session: "a", Kind: graphstore.KindCatalog, Detail: "not in it"},
		{Session: "a", Node: "1", Kind: graphstore.KindLink, Detail: "first"},
		{Session: "b", Kind: graphstore.KindCatalog, Detail: "not in it"},
		{Session: "a", Node: "2", Kind: graphstore.KindLink, Detail: "second"},
		{Session: "b", Node: "3", Kind: graphstore.KindLink, Detail: "third"},
		{Session: "b", Kind: graphstore.KindCatalog, Detail: "garbled"},
	})
	want := []string{
		"tables: torn",
		"2 sessions: catalog: not in it (a, b)",
		`session "a": 2 of kind link; the first: node 1: first`,
		`session "b": node 3: link: third`,
		`session "b": catalog: garbled`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
