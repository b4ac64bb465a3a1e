// Package graphstore keeps the steps of agents' sessions, and what was found out about them, as a graph
// of quads in an embedded Cayley over Badger.
//
// A Session is one agent's thread, named by any text. It holds Nodes: each is a Step that was checked,
// named by a hash over its content and its predecessor's name, and kept. A node hangs at its Previous (so
// an edited history is a branch) and points to its Parents, the earlier nodes that it depends on; what the
// parent edges reach is its Ancestry (§3.4). The catalog says of every session what it is and where its
// Head, the node appended last, stands.
//
// A Store is a folder with any number of sessions. Steps are kept three times over, each for a purpose: as
// a record, from which nodes are read; as quads, on which questions about the graph are answered; and long
// texts as bodies beside them, each once. One Put writes all three in one transaction, so that a step is
// there as a whole or not at all; Check proves that they agree, and Repair makes quads and catalog anew
// from the records. FORMAT.md has the layout.
package graphstore
