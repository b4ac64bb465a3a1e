package importer

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxweaver/ctxweaver/graphstore"
)

// token makes up a credential at run time, so that no scanner takes this file for a leak.
func token(prefix, letters string, n int) string { return prefix + strings.Repeat(letters, n) }

func TestRedact(t *testing.T) {
	jwt := token("eyJ", "hbGciOi1", 2) + "." + token("eyJ", "zdWIiOi1", 2) + ".c2ln"
	for _, c := range []struct {
		why, text, want string
	}{
		{"an OpenAI key", "key " + token("sk-", "aB3d", 8) + " end", "key [redacted:api-key] end"},
		{"an Anthropic key", "x=" + token("sk-ant-api03-", "aB3d", 8), "x=[redacted:anthropic-key]"},
		{"a GitHub token", token("ghp_", "aB3d", 9), "[redacted:github-token]"},
		{"a fine-grained one", token("github_pat_", "aB3_", 9), "[redacted:github-token]"},
		{"an AWS key", "id " + token("AKIA", "ABCD", 4), "id [redacted:aws-key]"},
		{"a Slack token", "(" + token("xoxb-", "12-a", 5) + ")", "([redacted:slack-token])"},
		{"a bearer token", "Authorization: Bearer " + token("", "abc1", 6), "Authorization: Bearer [redacted:bearer]"},
		{"a JWT", "t " + jwt, "t [redacted:jwt]"},
		{"a URL's password", "postgres://me:pa55@db/x", "postgres://[redacted:url-password]@db/x"},
		{"a private key", "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest", "[redacted:private-key]\nrest"},
		{"a private key cut off", "-----BEGIN PRIVATE KEY-----\nMIIabc+/=", "[redacted:private-key]"},
		{"an assigned password", "DB_PASSWORD=hunter2!", "DB_PASSWORD=[redacted:password]"},
		{"one in JSON", `{"password":"hunter2","a":1}`, `{"password":"[redacted:password]","a":1}`},
		{"one in JSON within JSON", `{\"token\": \"abcdef\"}`, `{\"token\": \"[redacted:password]\"}`},
		{"one in YAML", "api_key: abc123def", "api_key: [redacted:password]"},
		{"one after an escaped line end", `a\nsk-` + strings.Repeat("aB3d", 8), `a\n[redacted:api-key]`},
		{"one with what shells and code obey, quoted", `password = "p@ss$w0rd;(1)"`, `password = "[redacted:password]"`},
		{"one with spaces, quoted", `{"password":"correct horse 9"}`, `{"password":"[redacted:password]"}`},
		{"one in single quotes", `password: 'pa;ss,word9'`, `password: '[redacted:password]'`},
		{"one escaped twice", `password=\\\"hunter$2x\\\"`, `password=\\\"[redacted:password]\\\"`},
		{"one with a dollar, without quotes", "DB_PASSWORD=p@$$w0rd9", "DB_PASSWORD=[redacted:password]"},
		{"a short name for it", "export DB_PASS=hunter2 SMTP_PASS: hunter3", "export DB_PASS=[redacted:password] SMTP_PASS: [redacted:password]"},
		{"a flag's", "x --password hunter2 --api-token=abc123", "x --password [redacted:password] --api-token=[redacted:password]"},
		{"curl's", "curl -s -u ada:hunter2 https://h", "curl -s -u ada:[redacted:password] https://h"},
		{"mysql's", "mysql -u root -phunter2 db", "mysql -u root -p[redacted:password] db"},
		{"sshpass's", "sshpass -p hunter2 ssh h", "sshpass -p [redacted:password] ssh h"},
		{"netrc's", "machine h login ada password hunter2", "machine h login ada password [redacted:password]"},
		{"Docker's", `{"auths":{"h":{"auth":"YWRhOmh1bnRlcjI="}}}`, `{"auths":{"h":{"auth":"[redacted:password]"}}}`},
		{"Azure's", "AccountKey=abc/def+12==;x", "AccountKey=[redacted:password];x"},
		{"a URL's password that has an at sign", "postgres://me:p@55@db/x", "postgres://[redacted:url-password]@db/x"},
		{"a token in the place of a URL's user", "https://" + token("", "aB3d", 8) + "@h/x", "https://[redacted:url-password]@h/x"},
		{"a signed URL", "https://h/x?a=1&X-Amz-Signature=abcdef0123&b", "https://h/x?a=1&X-Amz-Signature=[redacted:url-signature]&b"},
		{"a webhook", "https://hooks.slack.com/services/" + token("T", "0AbC/", 6), "https://hooks.slack.com/services/[redacted:webhook]"},
		{"another scheme of authorization", "Authorization: token abcdefghij", "Authorization: token [redacted:authorization]"},
		{"a cookie", `-H "Cookie: session=abc123def456; b=1"`, `-H "Cookie: session=[redacted:cookie]"`},
		{"a PyPI token", token("pypi-", "AgEI", 12), "[redacted:pypi-token]"},
		{"a SendGrid key", token("SG.", "aB3d", 5) + token(".", "aB3d", 10), "[redacted:sendgrid-key]"},
		{"a Telegram bot's", "bot" + token("123456789:AA", "aB3d", 8), "bot[redacted:telegram-token]"},
		{"a Vault token", token("hvs.", "aB3d", 8), "[redacted:vault-token]"},
		{"a Google OAuth token", token("ya29.", "aB3d", 8), "[redacted:google-key]"},
		{"a DigitalOcean token", token("dop_v1_", "ab3d", 16), "[redacted:service-token]"},
		{"an age key", token("AGE-SECRET-KEY-1", "QPZR", 14), "[redacted:private-key]"},
		{"code that calls", "token = get_token()", "token = get_token()"},
		{"code that looks up", "password = os.environ['P']", "password = os.environ['P']"},
		{"a variable", "curl -u x:$PASSWORD token=$T", "curl -u x:$PASSWORD token=$T"},
		{"a type", "def f(password: str, token: string)", "def f(password: str, token: string)"},
		{"a count", "max_tokens=4096 token=4096", "max_tokens=4096 token=4096"},
		{"names in kebab case", "sk-fading-circle-wrapper-container", "sk-fading-circle-wrapper-container"},
		{"a word that ends like a prefix", "task-a1b2c3d4e5f6a7b8c9d0e1f2", "task-a1b2c3d4e5f6a7b8c9d0e1f2"},
		{"a URL with a port", "http://host:8080/a@b", "http://host:8080/a@b"},
		{"a template's blank", `password: "${PASSWORD}" token="<token>" secret='%(secret)s' pwd="{{ pwd }}"`, `password: "${PASSWORD}" token="<token>" secret='%(secret)s' pwd="{{ pwd }}"`},
		{"the shell's folder", "PWD=/home/ada/work9 OLDPWD=/tmp/a1", "PWD=/home/ada/work9 OLDPWD=/tmp/a1"},
		{"a message about it", `"token": "the access token is not valid"`, `"token": "the access token is not valid"`},
		{"help about a flag", "--token  the token to use; --password-file x", "--token  the token to use; --password-file x"},
		{"a variable for curl", `curl -u "ada:$PW" h; mysql -p -u root; sshpass -p "$PW" ssh h`, `curl -u "ada:$PW" h; mysql -p -u root; sshpass -p "$PW" ssh h`},
		{"a user of ssh", "ssh://git@example.org/x", "ssh://git@example.org/x"},
		{"a key of a map", `https://h/?key=name&sort=asc`, `https://h/?key=name&sort=asc`},
		{"prose", "the password is wrong; token: expired", "the password is wrong; token: expired"},
	} {
		tr := &Trajectory{Steps: []graphstore.Step{{Thought: c.text}}}
		n := Redact(tr, nil)
		if got := tr.Steps[0].Thought; got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
		if n != strings.Count(c.want, "[redacted:") {
			t.Errorf("%s: counted %d", c.why, n)
		}
		if again := Redact(tr, nil); again != 0 {
			t.Errorf("%s: found %d more in what it had written", c.why, again)
		}
	}
}

// TestRedactEverywhere: no text of a trajectory keeps a secret, and arguments stay JSON.
func TestRedactEverywhere(t *testing.T) {
	secret := token("ghp_", "aB3d", 9)
	tr := &Trajectory{Title: secret, Dir: secret, Steps: []graphstore.Step{{
		Before:   []graphstore.Message{{Role: graphstore.User, Text: secret}},
		Thinking: secret, Thought: secret, Raw: []byte(`{"a":"` + secret + `"}`),
		Calls: []graphstore.Call{{Name: secret, Args: `{"a":"ada ` + secret + `"}`, Observation: &graphstore.Observation{Text: "Ada " + secret}}},
	}}}
	if n := Redact(tr, []*regexp.Regexp{regexp.MustCompile("(?i)ada"), regexp.MustCompile("")}); n != 11 {
		t.Errorf("counted %d, want 9 tokens and 2 names", n)
	}
	b, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), secret) || strings.Contains(strings.ToLower(string(b)), `ada `) || strings.Contains(string(tr.Steps[0].Raw), secret) {
		t.Errorf("left: %s", b)
	}
	if args := tr.Steps[0].Calls[0].Args; !json.Valid([]byte(args)) {
		t.Errorf("arguments are no JSON any more: %s", args)
	}
}
