package graphstore

import "time"

// Validation is a node's label (§3.3). The zero value is Unknown.
type Validation string

const (
	Unknown    Validation = "" // no decisive test signal; stays a candidate for parents
	Passed     Validation = "passed"
	Failed     Validation = "failed"     // no candidate
	Superseded Validation = "superseded" // every failure was fixed by later nodes; no candidate
)

// Candidate reports whether a node with this label may be chosen as a parent (§3.2).
func (v Validation) Candidate() bool { return v != Failed && v != Superseded }

// TestStatus is the verdict of one test.
type TestStatus string

const (
	TestPassed  TestStatus = "passed"
	TestFailed  TestStatus = "failed"
	TestErrored TestStatus = "error" // did not get as far as a verdict; counts as a failure
	TestSkipped TestStatus = "skipped"
)

// Failing reports whether the status counts as a failure.
func (s TestStatus) Failing() bool { return s == TestFailed || s == TestErrored }

// TestResult is one test's verdict in a node's observations.
type TestResult struct {
	Runner string     `json:"runner"` // "pytest", "go test", …
	Name   string     `json:"name"`   // as the runner prints it
	Status TestStatus `json:"status"`
	Call   int        `json:"call,omitempty"` // index of the call whose observation held it
}

// Evidence is a signal weaker than a test's verdict: an exit code, a compiler's or a linter's word. It
// is recorded and never decides a label.
type Evidence struct {
	Source string `json:"source"` // "exit code", "go build", "ruff", …
	Failed bool   `json:"failed"`
	Detail string `json:"detail,omitempty"`
	Call   int    `json:"call,omitempty"`
}

// Fix points from one failure of a node to the later node that fixed it.
type Fix struct {
	Test string `json:"test"`
	By   NodeID `json:"by"`
}

// EdgeKind says what sort of link an edge is.
type EdgeKind string

const (
	Literal  EdgeKind = "literal"  // a specific word flowed from the parent's observation
	File     EdgeKind = "file"     // a later look at, or edit of, the same file
	Edit     EdgeKind = "edit"     // uses or tests what the parent edited
	Test     EdgeKind = "test"     // answers the parent's failing test
	Model    EdgeKind = "model"    // a model's opinion
	Previous EdgeKind = "previous" // nothing was found: the step before, as a guess
)

// Parent is an edge from a node to an earlier one that it depends on.
type Parent struct {
	ID     NodeID   `json:"id"`
	Kind   EdgeKind `json:"kind"`
	Score  float64  `json:"score"`           // 0 to 1, comparable within one node
	Reason string   `json:"reason"`          // for people: names the words or the file
	Words  []string `json:"words,omitempty"` // the specific words that flowed
	By     string   `json:"by"`              // who chose: "rules", or the controller's name as in Opinion
	// Candidate is set where the parent was neither failed nor superseded when the edge was made.
	// Only such edges are selected from (§3.2) and walked as ancestry; the others are facts, such
	// as the failing test that an edit answers, and of kind Model the opinions of models that have
	// not earned more.
	Candidate bool `json:"candidate"`
}

// Tokens is what the parts of a step cost, in tokens of the store's encoding. Zero in a part
// that is not empty means not counted.
type Tokens struct {
	Before       []int `json:"before,omitempty"` // one a message
	Thinking     int   `json:"thinking,omitempty"`
	Thought      int   `json:"thought,omitempty"`
	Calls        []int `json:"calls,omitempty"`        // name and arguments, one a call
	Observations []int `json:"observations,omitempty"` // one a call; 0 while open
}

// Total adds all the parts.
func (t Tokens) Total() int {
	n := t.Thinking + t.Thought
	for _, part := range [][]int{t.Before, t.Calls, t.Observations} {
		for _, v := range part {
			n += v
		}
	}
	return n
}

// Node is a Step kept (§3.1): checked, named, summarised, linked and labelled.
type Node struct {
	ID       NodeID `json:"id"`
	Previous NodeID `json:"previous"` // Root(session) for a first node
	Seq      int    `json:"seq"`      // distance from the root, from 0
	Step     Step   `json:"step"`

	Summary           string   `json:"summary,omitempty"`            // of the step, given the task
	DependencySummary string   `json:"dependency_summary,omitempty"` // of the step and what it rests on
	Files             []string `json:"files,omitempty"`              // paths that the step touches
	Action            string   `json:"action,omitempty"`             // kind of action: "edit", "test", "view", "search", "list", "run", …

	// Parents are all edges, by falling score, then newest first.
	Parents []Parent `json:"parents,omitempty"`

	Validation Validation   `json:"validation,omitempty"`
	Tests      []TestResult `json:"tests,omitempty"`
	Evidence   []Evidence   `json:"evidence,omitempty"`
	Fixes      []Fix        `json:"fixes,omitempty"` // set on the node that failed

	Tokens Tokens `json:"tokens,omitzero"`
	// Lines counts the lines of each observation, one number a call, for the placeholder that may
	// stand for it. 0 while the call is open.
	Lines []int `json:"lines,omitempty"`
}

// Selected are the best m of the parents that were candidates, which ancestry walks (§3.2), best first; with m 0 all.
func (n Node) Selected(m int) []Parent {
	var out []Parent
	for _, p := range n.Parents {
		if p.Candidate && (m == 0 || len(out) < m) {
			out = append(out, p)
		}
	}
	return out
}

// Failures lists the node's tests that failed, without repeats, in order.
func (n Node) Failures() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range n.Tests {
		if t.Status.Failing() && !seen[t.Name] {
			seen[t.Name] = true
			out = append(out, t.Name)
		}
	}
	return out
}

// SessionInfo is what the catalog says of a session.
type SessionInfo struct {
	Name    string    `json:"name"`
	Title   string    `json:"title,omitempty"`
	Task    string    `json:"task,omitempty"`   // the first user message
	Format  string    `json:"format,omitempty"` // of the file it was imported from
	Source  string    `json:"source,omitempty"` // that file
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Dir     string    `json:"dir,omitempty"`    // where the agent worked
	Parent  string    `json:"parent,omitempty"` // the session this one was spawned or branched from, by name
	Created time.Time `json:"created,omitzero"`
	Updated time.Time `json:"updated,omitzero"`

	Head   NodeID `json:"head,omitempty"` // the node appended last
	Nodes  int    `json:"nodes"`
	Tokens int    `json:"tokens"` // of all nodes
}
