package evidence

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxweaver/ctxweaver/engine"
)

// Variant is a policy, or one with a part of its method left out or set otherwise, to see what the part brings.
type Variant struct {
	Name     string // the policy's, and behind a space what is changed
	Policy   engine.Policy
	Ablation engine.Ablation
	Strategy engine.Strategy // of a working set; "" is that of the run
}

// The changes that a name can tell of, but for strategies and the sizes of a walk: m, parents of a step, and W, ancestors.
const (
	noValidation = "without validation"
	noGraph      = "without graph"
	tree         = "m=1 (tree)" // with several parents the graph is a DAG
)

var strategies = []string{string(engine.Auto), string(engine.Structural), string(engine.Recency)}

var sized = regexp.MustCompile(`^([mW])=([1-9][0-9]{0,3})$`)

// Ablations names the variants of a policy that show what its parts bring, after the whole.
func Ablations(policy string) ([]string, error) {
	all, err := ParseVariant(policy)
	if err != nil {
		return nil, err
	}
	out := []string{all.Name}
	for _, change := range append([]string{noValidation, noGraph, tree, "m=2", "m=3", "m=5", "W=5", "W=10", "W=20"}, strategies...) {
		v, failed := ParseVariant(policy + " " + change)
		all.Name = v.Name
		if failed == nil && v != all {
			out = append(out, v.Name)
		}
		err = cmp.Or(err, failed)
	}
	if len(out) == 1 {
		return nil, err
	}
	return out, nil
}

// ParseVariant reads a name such as "workingset", "workingset without graph" or "paper-tail:3/5 m=1". The error for a
// wrong one lists the right ones.
func ParseVariant(name string) (Variant, error) {
	policy, change, changed := strings.Cut(name, " ")
	p, err := engine.ParsePolicy(policy)
	if err != nil {
		return Variant{}, err
	}
	v := Variant{Name: p.String(), Policy: p}
	if !changed {
		return v, nil
	}
	kind, _, _ := strings.Cut(v.Name, ":")
	if !slices.Contains([]string{"workingset", "paper", "paper-tail"}, kind) {
		return Variant{}, fmt.Errorf("policy %q has no parts to leave out; workingset, paper and paper-tail have", policy)
	}
	if change == "m=1" {
		change = tree
	}
	v.Name += " " + change
	size := sized.FindStringSubmatch(change)
	strategy, err := engine.ParseStrategy(change)
	switch predicts := kind == "workingset"; {
	case change == noValidation:
		v.Ablation.NoValidation = true
	case change == noGraph && predicts:
		v.Ablation.NoGraph = true
	case change == tree:
		return v.walking("m", 1)
	case size != nil:
		n, err := strconv.Atoi(size[2])
		if err != nil {
			return Variant{}, err
		}
		return v.walking(size[1], n)
	case predicts && err == nil && change != "":
		v.Strategy = strategy
	default:
		return Variant{}, fmt.Errorf("policy %q: no such variant; there are %q, sizes such as %q and %q, and for a working set %q and the strategies (%s)",
			name, noValidation, tree, "W=5", noGraph, strings.Join(strategies, ", "))
	}
	return v, nil
}

// WithoutGraph reports whether a name is of a variant that predicts without the graph.
func WithoutGraph(name string) bool {
	v, err := ParseVariant(name)
	return err == nil && v.Ablation.NoGraph
}

// walking sets how many parents of a step (m) or ancestors (W) are walked: in the policy's name, if it has them there.
func (v Variant) walking(what string, n int) (Variant, error) {
	kind, numbers, _ := strings.Cut(v.Policy.String(), ":")
	parents, ancestors, named := strings.Cut(numbers, "/")
	switch {
	case !named && what == "m":
		v.Ablation.Walk.M = n
	case !named:
		v.Ablation.Walk.W = n
	case what == "m":
		parents = strconv.Itoa(n)
	default:
		ancestors = strconv.Itoa(n)
	}
	var err error
	if named {
		v.Policy, err = engine.ParsePolicy(kind + ":" + parents + "/" + ancestors)
	}
	return v, err
}

// whole is the policy that a name is a variant of; its own where it is none.
func whole(name string) string {
	policy, _, _ := strings.Cut(name, " ")
	return policy
}

// compared reports whether two names are to be compared: policies with each other, a variant with its whole.
func compared(a, b string) bool {
	both := whole(a) == a && whole(b) == b
	return both || whole(a) == b || whole(b) == a
}
