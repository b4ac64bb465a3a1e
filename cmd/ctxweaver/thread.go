package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/ctxweaver/ctxweaver/engine"
)

// thread is a session as the commands show it.
type thread struct {
	info engine.SessionInfo
	path []engine.Node         // to the head, without the text of observations
	all  []engine.Node         // on every branch, likewise
	at   map[engine.NodeID]int // in all
}

// node is a step by its id; of one that is not there, which a damaged store may name, it has only that.
func (t thread) node(id engine.NodeID) engine.Node {
	if i, ok := t.at[id]; ok {
		return t.all[i]
	}
	return engine.Node{ID: id}
}

// number names a step by its number, or one that is not there by its id.
func (t thread) number(id engine.NodeID) string {
	if i, ok := t.at[id]; ok {
		return fmt.Sprint(t.all[i].Seq)
	}
	return string(id)
}

// load reads the session an argument names.
func load(ctx context.Context, e *engine.Engine, want string) (thread, error) {
	info, err := session(ctx, e, want)
	if err != nil {
		return thread{}, err
	}
	t := thread{info: info}
	for n, err := range e.Store().Skeletons(ctx, info.Name) {
		if err != nil {
			return thread{}, err
		}
		t.all = append(t.all, n.Node)
	}
	t.path, t.at = pathTo(t.all, info.Head), index(t.all)
	return t, nil
}

// pathTo are the nodes from the root to the head.
func pathTo(all []engine.Node, head engine.NodeID) []engine.Node {
	at := index(all)
	var path []engine.Node
	for i, ok := at[head]; ok; i, ok = at[all[i].Previous] {
		path = append(path, all[i])
	}
	slices.Reverse(path)
	return path
}

// index finds nodes by id.
func index(nodes []engine.Node) map[engine.NodeID]int {
	at := make(map[engine.NodeID]int, len(nodes))
	for i, n := range nodes {
		at[n.ID] = i
	}
	return at
}
