package graphstore

import (
	"encoding/hex"
	"net/url"
	"path"
	"strings"

	"github.com/cayleygraph/quad"
	"github.com/cayleygraph/quad/voc/rdf"
)

// The vocabulary. IRIs are absolute and percent-encoded, so that every export reads back.
const base = "ctxw:"

const (
	iriStep = quad.IRI(base + "Step")
	iriType = quad.IRI(rdf.Type)

	iriSeq          = quad.IRI(base + "seq")          // integer
	iriInSession    = quad.IRI(base + "inSession")    // the session; edges never point from it, for such a list would be rewritten at each step
	iriPrevious     = quad.IRI(base + "previous")     // the node before; none of a first node
	iriStatus       = quad.IRI(base + "status")       // ctxw:passed, ctxw:failed, ctxw:unknown or ctxw:superseded
	iriDependsOn    = quad.IRI(base + "dependsOn")    // a parent that was a candidate, in stored order
	iriRefersTo     = quad.IRI(base + "refersTo")     // a parent that was none
	iriSupersededBy = quad.IRI(base + "supersededBy") // the node that fixed one of its failures
	iriTouches      = quad.IRI(base + "touches")      // a file
	iriFails        = quad.IRI(base + "fails")        // a test
	iriKind         = quad.IRI(base + "kind")         // of action: "edit", "test", …
	iriTool         = quad.IRI(base + "tool")         // name of a called tool
	iriSummary      = quad.IRI(base + "summary")      // cut to maxSummary
	iriObserved     = quad.IRI(base + "observed")     // the body of a long observation
	iriName         = quad.IRI(base + "name")         // of a file: its last path element
)

const (
	maxSummary = 200  // bytes of a summary in its quad; the whole is in the record
	maxListed  = 1000 // files and failing tests of a node that become quads; all are in the record
)

func nodeIRI(id NodeID) quad.IRI      { return quad.IRI(base + "node/" + string(id)) }
func sessionIRI(name string) quad.IRI { return quad.IRI(base + "session/" + escape(name)) }
func fileIRI(file string) quad.IRI    { return quad.IRI(base + "file/" + escape(file)) }
func statusIRI(v Validation) quad.IRI {
	if v == Unknown {
		return quad.IRI(base + "unknown")
	}
	return quad.IRI(base + escape(string(v)))
}

func testIRI(t TestResult) quad.IRI {
	return quad.IRI(base + "test/" + escape(t.Runner) + "/" + escape(t.Name))
}

func bodyIRI(b body) quad.IRI { return quad.IRI(base + "body/" + hex.EncodeToString(b.Sum[:])) }

// nodeOf is the id in a node's IRI, or "".
func nodeOf(v quad.Value) NodeID {
	iri, _ := v.(quad.IRI)
	id, ok := strings.CutPrefix(string(iri), base+"node/")
	if !ok {
		return ""
	}
	return NodeID(id)
}

// fileOf is the path in a file's IRI.
func fileOf(v quad.Value) (string, bool) {
	iri, _ := v.(quad.IRI)
	p, ok := strings.CutPrefix(string(iri), base+"file/")
	if !ok {
		return "", false
	}
	p, err := url.PathUnescape(p)
	return p, err == nil
}

// escape keeps slashes, for people who read the graph. It is still one to one, for a % becomes %25.
func escape(s string) string { return strings.ReplaceAll(url.PathEscape(s), "%2F", "/") }

// text makes a literal of any bytes.
func text(s string) quad.String {
	return quad.String(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD"))
}

// baseName is the last element of a path of either kind.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }
