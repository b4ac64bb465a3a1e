package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Policy says how a context is woven. The zero value is Full. It is named by one string everywhere:
// in flags, lists, logs and Windows.
type Policy struct {
	name    string
	a, b, c int    // the numbers of its name, in order
	level   string // of workingset: "lean", "default" or "rich"
}

var (
	// Full keeps everything.
	Full = Policy{name: "full"}
	// WorkingSet pages out in batches, when that pays, and pages in at the tail what the next action
	// probably needs. Lean and Rich are the same for a smaller and a larger prompt.
	WorkingSet     = Policy{name: "workingset", level: "default"}
	WorkingSetLean = Policy{name: "workingset", level: "lean"}
	WorkingSetRich = Policy{name: "workingset", level: "rich"}

	// DefaultPolicy is the one to take where nothing speaks for another.
	DefaultPolicy = WorkingSet
)

// LatestN keeps the newest n observations whole, n at least 1: the paper's baseline (§4.1), named "window:n".
func LatestN(n int) Policy { return Policy{name: "window", a: n} }

// Polling is the window whose boundary moves only every p observations, so that n to n+p-1 of the
// newest are whole and the prompt's prefix stays the same in between. Named "polling:n/p".
func Polling(n, p int) Policy { return Policy{name: "polling", a: n, b: p} }

// Paper keeps the newest step and w of its ancestors whole, walking at most m parents a step (§3.2,
// §3.4). Named "paper:m/w".
func Paper(m, w int) Policy { return Policy{name: "paper", a: m, b: w} }

// PaperTail pages out as WorkingSet does, and pages in at the tail the observations of the newest step's w nearest ancestors,
// walking at most m parents a step: the paper's choice (§3.4) without its cost to a prompt cache, and without the state
// of the tests. Named "paper-tail:m/w".
func PaperTail(m, w int) Policy {
	return Policy{name: "paper-tail", a: m, b: w, level: WorkingSet.level}
}

// Clear drops all but the newest keep observations when the prompt passes trigger tokens, if that frees at
// least so many. Named "clear:trigger/keep/least".
func Clear(trigger, keep, least int) Policy {
	return Policy{name: "clear", a: trigger, b: keep, c: least}
}

// Prune protects the newest observations up to so many tokens, and drops the others once they are more than
// batch tokens. Named "prune:protect/batch".
func Prune(protect, batch int) Policy { return Policy{name: "prune", a: protect, b: batch} }

// Summary keeps the steps of the newest n observations and lets one message stand for all that the agent did before, made
// of the nodes' summaries: the paper's second baseline (§4.1). Named "summary:n".
func Summary(n int) Policy { return Policy{name: "summary", a: n} }

// BM25 keeps the newest n observations and the k older ones that share most words with the newest step, chosen anew at
// each request. Named "bm25:n/k"; "bm25" is "bm25:5/5".
func BM25(n, k int) Policy { return Policy{name: "bm25", a: n, b: k} }

// policies lists the forms of a name, for reading one and for saying what is right.
var policies = []struct {
	name    string
	numbers int
	form    string
	meaning string
}{
	{"workingset", 0, "workingset", "pages out in batches, pages in what is needed; also workingset:lean, workingset:rich"},
	{"full", 0, "full", "everything"},
	{"window", 1, "window:5", "the newest 5 observations whole"},
	{"polling", 2, "polling:5/20", "the newest 5 to 24; the boundary moves every 20 observations"},
	{"paper", 2, "paper:3/5", "the newest step and 5 ancestors, at most 3 parents a step"},
	{"paper-tail", 2, "paper-tail:3/5", "pages out as workingset does, and pages in the newest step's 5 ancestors"},
	{"summary", 1, "summary:5", "the steps of the newest 5; one running summary for all before"},
	{"bm25", 2, "bm25:5/5", "the newest 5, and the 5 older ones that share most words with the newest step"},
	{"clear", 3, "clear:30000/10/5000", "past 30000 tokens only the newest 10, if that frees 5000"},
	{"prune", 2, "prune:15000/15000", "the newest 15000 tokens of observations; what is older goes by 15000"},
}

// Policies lists an example of each policy's name with its meaning.
func Policies() []string {
	var out []string
	for _, p := range policies {
		out = append(out, fmt.Sprintf("%-20s %s", p.form, p.meaning))
	}
	return out
}

// ParsePolicy reads a policy's name, such as "window:5" or "paper:3/5". The error for a wrong one
// lists the right ones.
func ParsePolicy(s string) (Policy, error) {
	name, rest, _ := strings.Cut(s, ":")
	var forms []string
	for _, p := range policies {
		forms = append(forms, p.form)
		if p.name != name {
			continue
		}
		if name == "workingset" {
			return workingSetOf(s, rest)
		}
		if s == "bm25" {
			return BM25(5, 5), nil
		}
		n, err := numbers(rest)
		if err != nil || len(n) != p.numbers || strings.HasSuffix(s, ":") {
			if p.numbers == 0 {
				return Policy{}, fmt.Errorf("policy %q: %s takes no numbers", s, p.form)
			}
			return Policy{}, fmt.Errorf("policy %q: want the form %s, with whole numbers from 1", s, p.form)
		}
		n = append(n, 0, 0, 0)
		if name == "paper-tail" {
			return PaperTail(n[0], n[1]), nil
		}
		return Policy{name: name, a: n[0], b: n[1], c: n[2]}, nil
	}
	return Policy{}, fmt.Errorf("policy %q: unknown; the policies are %s", s, strings.Join(forms, ", "))
}

func workingSetOf(s, level string) (Policy, error) {
	if s == WorkingSet.name {
		return WorkingSet, nil
	}
	for _, p := range []Policy{WorkingSetLean, WorkingSetRich} {
		if p.level == level {
			return p, nil
		}
	}
	return Policy{}, fmt.Errorf("policy %q: want workingset, workingset:lean or workingset:rich", s)
}

func numbers(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var out []int
	for _, f := range strings.Split(s, "/") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a whole number from 1", f)
		}
		out = append(out, n)
	}
	return out, nil
}

// String is the policy's name, which ParsePolicy reads back.
func (p Policy) String() string {
	if p.name == "" {
		return Full.name
	}
	if p.level == WorkingSetLean.level || p.level == WorkingSetRich.level {
		return p.name + ":" + p.level
	}
	out, mark := p.name, ":"
	for _, n := range []int{p.a, p.b, p.c} {
		if n > 0 {
			out += mark + strconv.Itoa(n)
			mark = "/"
		}
	}
	return out
}

// pages reports whether the policy pages out and in, and so has decisions to keep.
func (p Policy) pages() bool { return p.level != "" }

// MarshalText writes the policy's name.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a policy's name.
func (p *Policy) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePolicy(string(b))
	return err
}
