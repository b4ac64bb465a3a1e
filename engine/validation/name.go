package validation

import "strings"

// ident is what a result is about. One runner prints a test's name in several forms; two idents are of the
// same test where their tests are equal and their scopes agree.
type ident struct {
	runner string
	scope  string // file, folder, package, class; "" where the output did not say, or for all tests
	test   string // "" for a scope as a whole
}

// separators stand between a scope and its test, for runners whose names have both.
var separators = map[string]string{
	"pytest": "::", "sympy": "::", "go test": " ", "cargo test": "::",
}

// identify takes a result's name apart.
func identify(r Result) ident {
	name := strings.TrimPrefix(r.Name, "./")
	if name == allTests {
		return ident{runner: r.Runner}
	}
	for _, suffix := range []string{all, rest, some} {
		if scope, ok := strings.CutSuffix(name, suffix); ok {
			if scope == allTests {
				scope = ""
			}
			return ident{r.Runner, strings.TrimSuffix(scope, "/"), ""}
		}
	}
	id := ident{runner: r.Runner, test: name}
	switch r.Runner {
	case "unittest":
		id.scope, id.test = dotted(name)
	case "cargo test":
		if binary, test, ok := strings.Cut(name, "::"); ok {
			id.scope, id.test = binary, test
		}
	case "pytest", "sympy", "go test":
		if scope, test, ok := strings.Cut(name, separators[r.Runner]); ok {
			id.scope, id.test = scope, test
		} else if r.Status == Errored && isScope(r.Runner, name) {
			id.scope, id.test = name, ""
		}
	default:
		if file, test, ok := strings.Cut(name, " > "); ok && isFile(file) {
			id.scope, id.test = file, test
		} else if r.Status == Errored && isFile(name) {
			id.scope, id.test = name, ""
		}
	}
	return id
}

// dotted takes apart the forms of unittest: "a.B.test_x (i=1)", "test_x (a.B)", "test_x (a.B.test_x)".
func dotted(name string) (scope, test string) {
	if m := unittestName.FindStringSubmatch(name); m != nil && strings.Contains(m[2], ".") {
		name = unittestID(m[1], m[2], m[3])
	}
	head := len(name)
	if i := strings.IndexAny(name, " (["); i >= 0 {
		head = i
	}
	if i := strings.LastIndexByte(name[:head], '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func isScope(runner, name string) bool {
	return runner == "go test" && !strings.HasPrefix(name, "Test") || strings.HasSuffix(name, ".py")
}

// isFile tells a test file from a suite's title.
func isFile(name string) bool {
	return !strings.Contains(name, " ") && (strings.Contains(name, "/") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec."))
}

// base is what tests that may be meant by one name have in common: without parameters and subtests.
func (id ident) base() ident {
	test := id.test
	switch id.runner {
	case "go test":
		test, _, _ = strings.Cut(test, "/")
	default:
		if i := strings.IndexByte(test, '['); i > 0 {
			test = test[:i]
		}
		if id.runner == "unittest" {
			test, _, _ = strings.Cut(test, " ")
		}
	}
	return ident{runner: id.runner, test: test}
}

// agree reports whether two scopes may be one: equal, unknown, or one seen from a folder or package above.
func agree(a, b string) bool {
	if a == b || a == "" || b == "" {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	cut, ok := strings.CutSuffix(a, b)
	if !ok {
		return false
	}
	last := cut[len(cut)-1]
	return last == '/' || last == '.' || last == ':'
}

// within reports whether the scope inner is outer or lies in it.
func within(inner, outer string) bool {
	if outer == "" || inner == outer {
		return true
	}
	after, ok := strings.CutPrefix(inner, outer)
	return ok && (after[0] == '/' || after[0] == '.' || after[0] == ':')
}

// same reports whether a pass of the test a shows that the failing test b passes, scopes aside: they are one
// test, b is one of its parameters or subtests, or b was cut off by a harness.
func same(a, b string) bool {
	after, ok := strings.CutPrefix(b, a)
	if ok && (after == "" || after[0] == '[' || after[0] == '/' || strings.HasPrefix(after, " (") || strings.HasPrefix(after, " [")) {
		return true
	}
	if i := strings.IndexByte(b, '['); i > 0 && !strings.HasSuffix(b, "]") {
		return strings.HasPrefix(a, strings.TrimRight(b, ".…"))
	}
	return false
}

// covers reports whether a pass of a shows that b, which failed, passes now.
func (a ident) covers(b ident) bool {
	if a.runner != b.runner {
		return false
	}
	if a.test == "" {
		return within(b.full(), a.scope) || b.scope != "" && agree(a.scope, b.scope)
	}
	if b.test == "" { // could not be loaded, and now it runs
		return b.scope != "" && a.scope == b.scope
	}
	return agree(a.scope, b.scope) && same(a.test, b.test)
}

// full joins scope and test where classes are scopes too.
func (id ident) full() string {
	if id.test == "" || id.runner == "go test" {
		return id.scope
	}
	sep := separators[id.runner]
	if sep == "" {
		sep = "."
	}
	return id.scope + sep + id.test
}
