package importer

import (
	"regexp"
	"strings"
)

// secret is a kind of credential. Of a match, its pattern's first group stays, and so does the last if
// there are more than one.
type secret struct {
	kind    string
	signs   string // in small letters, split at "|": a text without any of them is not searched, which is slow
	pattern *regexp.Regexp
	real    func(groups []string) bool // nil: every match is one
}

const (
	// edge is what may stand before a token: not a letter, or the letter of an escape in a JSON string.
	edge = `(^|[^A-Za-z0-9_-]|\\[nrtbf])`
	// secretName ends the name of what holds a secret.
	secretName  = `(?:password|passwd|passphrase|[_-]pass|pwd|secret|token|api[_-]?key|(?:access|account|secret|private)[_-]?key|credentials?)`
	secretSigns = `pass|pwd|secret|token|key|credential`
	// assigns stands between the name and the value, in code, in JSON, in JSON within JSON, and in YAML.
	assigns = `\\*["']?(?:\s*(?::|=>?|:=)\s*|\s+=\s+)`
	// bare is what a value without quotes may hold.
	bare = `[^\s"'` + "`" + `\\,;&<>(){}\[\]|]`
)

// secrets are what Redact knows, in the order in which they are looked for.
var secrets = []secret{
	{"private-key", "private key", regexp.MustCompile(`()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]*)`), nil},
	{"private-key", "age-secret-key-", regexp.MustCompile(`()AGE-SECRET-KEY-1[0-9A-Z]{30,}`), nil},
	{"webhook", "hooks.slack|/webhooks/", regexp.MustCompile(`(https://(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks)/)[A-Za-z0-9/_-]{20,}`), nil},
	{"url-password", "://", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^\s:/@"'<>\\\[\]]*:[^\s/"'<>\\\[\]]+(@)`), nil},
	{"url-password", "://", regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^\s:/@"'<>\\\[\]]{16,}(@)`), hasDigit},
	{"url-signature", "sig|key=|auth=|token=", regexp.MustCompile(`(?i)([?&](?:sig|signature|key|auth|X-(?:Amz|Goog)-(?:Signature|Security-Token))=)[A-Za-z0-9%_.+/=-]{8,}`), hasDigit},
	{"anthropic-key", "sk-ant-", regexp.MustCompile(`()sk-ant-[A-Za-z0-9_-]{16,}`), nil},
	{"api-key", "sk-|sk_|rk-|rk_|pk-|pk_", regexp.MustCompile(edge + `(?:sk|rk|pk)[-_](?:live_|test_|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}`), hasDigit},
	{"github-token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", regexp.MustCompile(`()(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`), nil},
	{"gitlab-token", "gl", regexp.MustCompile(`()gl(?:pat|oas|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}`), nil},
	{"aws-key", "akia|asia", regexp.MustCompile(edge + `(?:AKIA|ASIA)[0-9A-Z]{16}`), nil},
	{"google-key", "aiza|ya29.|gocspx-", regexp.MustCompile(`()(?:AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,})`), nil},
	{"slack-token", "xox|xapp-", regexp.MustCompile(edge + `(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}`), nil},
	{"huggingface-token", "hf_", regexp.MustCompile(edge + `hf_[A-Za-z0-9]{30,}`), nil},
	{"npm-token", "npm_", regexp.MustCompile(edge + `npm_[A-Za-z0-9]{30,}`), nil},
	{"pypi-token", "pypi-", regexp.MustCompile(edge + `pypi-[A-Za-z0-9_-]{40,}`), nil},
	{"sendgrid-key", "sg.", regexp.MustCompile(edge + `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`), nil},
	{"telegram-token", ":aa", regexp.MustCompile(`(^|[^0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}`), nil},
	{"vault-token", "hvs.|hvb.|hvr.|dp.", regexp.MustCompile(edge + `(?:hv[sbr]|dp\.(?:pt|st|ct|sa|scim|audit))\.[A-Za-z0-9_-]{24,}`), nil},
	{"service-token", "_v1_|sbp_|xai-|gsk_|lin_api_|ntn_|shp|dapi|whsec_|nvapi-|r8_|pplx-|fly-|figd_|dckr_pat_|rubygems_", regexp.MustCompile(edge + `(?:do[opr]_v1_|sbp_|xai-|gsk_|lin_api_|ntn_|shp(?:at|ca|pa|ss)_|dapi|whsec_|nvapi-|r8_|pplx-|fly-|figd_|dckr_pat_|rubygems_)[A-Za-z0-9_-]{24,}`), hasDigit},
	{"jwt", "eyj", regexp.MustCompile(edge + `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), nil},
	{"bearer", "bearer", regexp.MustCompile(`(?i)(\bBearer\s+)[A-Za-z0-9\-._~+/]{16,}=*`), hasDigit},
	{"authorization", "authorization", regexp.MustCompile(`(?i)(\bAuthorization\\*["']?\s*[:=]\s*\\*["']?(?:Basic|Token|Bearer|ApiKey|Negotiate)\s+)[A-Za-z0-9\-._~+/]{8,}=*`), nil},
	{"cookie", "cookie", regexp.MustCompile(`(?i)(\bCookie\\*["']?\s*:\s*\\*["']?[^\s"'\\;=]+=)[^\n"'\\]{8,}`), hasDigit},
	{"password", "\"auth", regexp.MustCompile(`("auth\\*"\s*:\s*\\*")[A-Za-z0-9+/]{12,}=*`), nil},
	{"password", "curl|wget|http", regexp.MustCompile(`(\b(?:curl|wget|https?)\b[^\n|;&]*?\s(?:-u|--user)(?:\s+|=)?\\*["']?[^\s:"'\\$]+:)[^\s:"'\\$][^\s"'\\]*`), nil},
	{"password", "mysql|mariadb|sshpass", regexp.MustCompile(`(\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]*?\s-p|sshpass\s+-p\s*)\\*["']?)[^\s"'\\$-][^\s"'\\]+`), nil},
	{"password", "login", regexp.MustCompile(`(\blogin\s+\S+\s+password\s+)` + bare + `{4,}`), nil},
	{"password", secretSigns, regexp.MustCompile(`(?i)(--?[a-z-]*` + secretName + `\s+\\*["']?)([^\s"'` + "`" + `\\,;&<>(){}\[\]|$-]` + bare + `{3,})(.?)`), assigned},
	{"password", secretSigns, regexp.MustCompile(`(?i)(` + secretName + assigns + `\\*")((?:[^"\\\n]|\\[^"nrt\\])+)(\\*")`), assigned},
	{"password", secretSigns, regexp.MustCompile(`(?i)(` + secretName + assigns + `')([^'\n]+)(')`), assigned},
	{"password", secretSigns, regexp.MustCompile(`(?i)(` + secretName + assigns + `\\*["']?)([^\s"'` + "`" + `\\,;&<>(){}\[\]|$]` + bare + `{3,})(.?)`), assigned},
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
			r.text(&c.Name)
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

func (k secret) hinted(lower string) bool {
	for sign := range strings.SplitSeq(k.signs, "|") {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	return false
}

type redactor struct {
	patterns []*regexp.Regexp
	n        int
}

func (r *redactor) text(s *string) {
	lower := strings.ToLower(*s)
	for _, k := range secrets {
		if k.hinted(lower) {
			r.replace(s, k)
		}
	}
	for _, p := range r.patterns {
		r.replace(s, secret{kind: "pattern", pattern: p})
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

// codeName is a dotted name or a type's, as code assigns it.
var codeName = regexp.MustCompile(`^(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|str|string|String|int|bool|bytes|any|None|none|null|nil|true|false|True|False|undefined|self|this|required|optional)$`)

// blank is what stands in a template for a value that comes later.
var blank = regexp.MustCompile(`^(?:\$\w+|\$?\{+[^{}]*\}+|%\(?\w+\)?s?|<[^<>]*>|\*+|x+|\.\.\..*)$`)

// assigned keeps out code and prose: what is called, indexed or looked up is no literal.
func assigned(m []string) bool {
	key, value, next := m[1], m[2], m[3]
	quoted := strings.HasSuffix(key, `"`) || strings.HasSuffix(key, `'`)
	spaced := strings.ContainsAny(strings.TrimRight(key, `"'`), " \t\n")
	telling := strings.ContainsAny(value, "0123456789!@#%^*+/~")
	switch {
	case len(value) < 4, strings.HasPrefix(value, "*"), strings.HasPrefix(value, "..."), codeName.MatchString(value), blank.MatchString(value):
		return false
	case strings.Trim(value, "0123456789.") == "" && strings.Contains(strings.ToLower(key), "token"): // a count
		return false
	case strings.HasPrefix(value, "/") && strings.Contains(strings.ToLower(key), "pwd"): // the folder a shell is in
		return false
	case next != "" && strings.Contains("([{$", next):
		return false
	case quoted:
		return telling || !strings.ContainsAny(value, " \t")
	}
	return !spaced || telling
}
