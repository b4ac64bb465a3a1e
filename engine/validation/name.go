package validation

import "strings"

// ident is what a result is about. One runner prints a test's name in several forms; two idents are of the
// same test where their tests are equal and their scopes agree.
type ident struct {
	runner string
	scope  string // file, folder, package, class; "" where the output did not say, or for all tests
	test   string // "" for a scope as a whole
}

// separators stand between a scope and its test.
var separators = map[string]string{
	"pytest": "::", "sympy": "::", "cargo test": "::", "phpunit": "::",
	"go test": " ", "unittest": ".", "maven": ".", "junit": ".", "swift test": ".", "dotnet test": ".",
}

func separator(runner string) string {
	if sep := separators[runner]; sep != "" {
		return sep
	}
	return " > "
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
	if r.Status == Errored && loads(r.Runner, name) {
		return ident{r.Runner, name, ""}
	}
	scope, test := cut(r.Runner, name)
	return ident{r.Runner, scope, test}
}

// cut parts a name where its runner's scopes end. Classes of pytest and modules of cargo stay with the test.
func cut(runner, name string) (scope, test string) {
	sep := separator(runner)
	switch sep {
	case ".":
		return dotted(name)
	case " > ":
		if i := strings.LastIndex(name, sep); i >= 0 {
			return name[:i], name[i+len(sep):]
		}
	default:
		if scope, test, ok := strings.Cut(name, sep); ok {
			return scope, test
		}
	}
	return "", name
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

// loads reports whether the name of an error is a scope's: a file or package that could not be loaded.
func loads(runner, name string) bool {
	switch runner {
	case "pytest":
		return !strings.Contains(name, "::")
	case "go test":
		return !strings.Contains(name, " ") && !strings.HasPrefix(name, "Test")
	case "jest", "vitest", "bun test", "rspec":
		return !strings.Contains(name, " > ")
	}
	return false
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

// kin are the keys under which an open failure is found by names like its own: its base alone, and with the
// last part of its scope, which is "" where the scope is not known.
func (id ident) kin() []ident {
	base, file := id.base(), id.file()
	return []ident{base, {base.runner, "/" + file, base.test}}
}

// relatives are the keys of failures that a name may mean: of the same file or of none; all, if it has none.
func (id ident) relatives() []ident {
	base, file := id.base(), id.file()
	if file == "" {
		return []ident{base}
	}
	return []ident{{base.runner, "/" + file, base.test}, {base.runner, "/", base.test}}
}

// file is the last part of the scope: what two forms of it have in common.
func (id ident) file() string {
	switch sep := separator(id.runner); sep {
	case ".", "::":
		return lastOf(lastOf(id.scope, sep), "/")
	default:
		return lastOf(lastOf(id.scope, " > "), "/")
	}
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
	return last == '/' || last == '.' || last == ':' || strings.HasSuffix(cut, " > ")
}

// within reports whether the scope inner is outer or lies in it.
func within(inner, outer string) bool {
	if outer == "" || inner == outer {
		return true
	}
	after, ok := strings.CutPrefix(inner, outer)
	return ok && (after[0] == '/' || after[0] == '.' || after[0] == ':' || strings.HasPrefix(after, " > "))
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

// covers reports whether a pass of id shows that a test which failed, and is called full as a whole, passes now.
func (id ident) covers(failed ident, full string) bool {
	if id.runner != failed.runner {
		return false
	}
	if id.test == "" {
		if id.runner == "go test" && id.scope != "" { // a package holds no other
			return failed.scope != "" && agree(id.scope, failed.scope)
		}
		return within(full, id.scope) || failed.scope != "" && agree(id.scope, failed.scope)
	}
	if failed.test == "" { // could not be loaded, and now it runs
		return failed.scope != "" && id.scope == failed.scope
	}
	return agree(id.scope, failed.scope) && same(id.test, failed.test)
}

// full joins scope and test where classes are scopes too.
func (id ident) full() string {
	if id.test == "" || id.runner == "go test" {
		return id.scope
	}
	if id.scope == "" {
		return id.test
	}
	return id.scope + separator(id.runner) + id.test
}
