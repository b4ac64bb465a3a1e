package importer

import (
	"regexp"
	"strings"
)

// secret is a kind of credential. Of a match, its pattern's first group stays, and so does the last if
// there are more than one.
type secret struct {
	kind    string
	pattern *regexp.Regexp
	real    func(groups []string) bool // nil: every match is one
}

// edge is what may stand before a token: not a letter, or the letter of an escape in a JSON string.
const edge = `(^|[^A-Za-z0-9_-]|\\[nrtbf])`

// secrets are what Redact knows, in the order in which they are looked for.
var secrets = []secret{
	{"private-key", regexp.MustCompile(`()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)`), nil},
	{"url-password", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^\s:/@"'<>\\\[\]]*:[^\s/@"'<>\\\[\]]+(@)`), nil},
	{"anthropic-key", regexp.MustCompile(`()sk-ant-[A-Za-z0-9_-]{16,}`), nil},
	{"api-key", regexp.MustCompile(edge + `(?:sk|rk|pk)[-_](?:live_|test_|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}`), hasDigit},
	{"github-token", regexp.MustCompile(`()(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`), nil},
	{"gitlab-token", regexp.MustCompile(`()glpat-[A-Za-z0-9_-]{20,}`), nil},
	{"aws-key", regexp.MustCompile(edge + `(?:AKIA|ASIA)[0-9A-Z]{16}`), nil},
	{"google-key", regexp.MustCompile(`()AIza[0-9A-Za-z_-]{35}`), nil},
	{"slack-token", regexp.MustCompile(edge + `xox[abeoprs]-[A-Za-z0-9-]{10,}`), nil},
	{"huggingface-token", regexp.MustCompile(edge + `hf_[A-Za-z0-9]{30,}`), nil},
	{"npm-token", regexp.MustCompile(edge + `npm_[A-Za-z0-9]{30,}`), nil},
	{"jwt", regexp.MustCompile(edge + `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), nil},
	{"bearer", regexp.MustCompile(`(?i)(\bBearer\s+)[A-Za-z0-9\-._~+/]{16,}=*`), hasDigit},
	{"basic", regexp.MustCompile(`(?i)(\bAuthorization\\?["']?\s*[:=]\s*\\?["']?Basic\s+)[A-Za-z0-9+/]{8,}=*`), nil},
	{"password", regexp.MustCompile(`(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|credentials?)\\?["']?(?:\s*(?::|=>?|:=)\s*|\s+=\s+)\\?["']?)([^\s"'` + "`" + `\\,;&<>(){}\[\]|$]{4,})(.?)`), assigned},
}

// Redact replaces credentials of the known shapes, and whatever the patterns match, in all texts of the
// trajectory by "[redacted:KIND]", KIND being "pattern" for the latter. It returns how many it replaced.
// Node names rest on these texts: redact before a trajectory is stored, and each time it is.
func Redact(t *Trajectory, patterns []*regexp.Regexp) int {
	r := redactor{patterns: patterns}
	r.text(&t.Title)
	r.text(&t.Dir)
	for i := range t.Steps {
		s := &t.Steps[i]
		for j := range s.Before {
			r.text(&s.Before[j].Text)
		}
		r.text(&s.Thinking)
		r.text(&s.Thought)
		for j := range s.Calls {
			c := &s.Calls[j]
			r.text(&c.Args)
			if c.Observation != nil {
				r.text(&c.Observation.Text)
			}
		}
		if len(s.Raw) > 0 {
			raw := string(s.Raw)
			r.text(&raw)
			s.Raw = []byte(raw)
		}
	}
	return r.n
}

type redactor struct {
	patterns []*regexp.Regexp
	n        int
}

func (r *redactor) text(s *string) {
	for _, k := range secrets {
		r.replace(s, k)
	}
	for _, p := range r.patterns {
		r.replace(s, secret{"pattern", p, nil})
	}
}

func (r *redactor) replace(s *string, k secret) {
	matches := k.pattern.FindAllStringSubmatchIndex(*s, -1)
	if matches == nil {
		return
	}
	var out strings.Builder
	end := 0
	for _, m := range matches {
		from, to := m[0], m[1]
		if k.kind != "pattern" {
			from = m[3]
			if len(m) > 4 {
				to = m[len(m)-2]
			}
		}
		if from >= to || k.real != nil && !k.real(groups(*s, m)) || strings.HasPrefix((*s)[from:], "[redacted:") {
			continue
		}
		out.WriteString((*s)[end:from])
		out.WriteString("[redacted:" + k.kind + "]")
		end = to
		r.n++
	}
	if end > 0 {
		out.WriteString((*s)[end:])
		*s = out.String()
	}
}

func groups(s string, m []int) []string {
	out := make([]string, len(m)/2)
	for i := range out {
		if m[2*i] >= 0 {
			out[i] = s[m[2*i]:m[2*i+1]]
		}
	}
	return out
}

// hasDigit keeps out names in kebab case.
func hasDigit(m []string) bool { return strings.ContainsAny(m[0], "0123456789") }

// path is a dotted name or a type's, as code assigns it.
var path = regexp.MustCompile(`^(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|str|string|String|int|bool|bytes|any|None|none|null|nil|true|false|True|False|undefined|self|this|required|optional)$`)

// assigned keeps out code: what is called, indexed or looked up is no literal.
func assigned(m []string) bool {
	key, value, next := m[1], m[2], m[3]
	quoted := strings.HasSuffix(key, `"`) || strings.HasSuffix(key, `'`)
	spaced := strings.ContainsAny(strings.TrimRight(key, `"'`), " \t\n")
	switch {
	case strings.HasPrefix(value, "*"), strings.HasPrefix(value, "..."), path.MatchString(value):
		return false
	case strings.Trim(value, "0123456789.") == "" && strings.Contains(strings.ToLower(key), "token"): // a count
		return false
	case next != "" && strings.Contains("([{$", next):
		return false
	case quoted:
		return true
	}
	return !spaced || strings.ContainsAny(value, "0123456789!@#%^*+/~")
}
