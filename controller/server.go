package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// server is an Ollama server, as it is spoken to.
type server struct {
	base   *url.URL
	http   *http.Client
	client *api.Client
	soon   time.Duration // within which it must tell what it has; what a model says may take longer
}

// reach checks the address of a server, "" for that of the environment. It does not speak to it yet.
func reach(host string) (server, error) {
	base, err := address(cmp.Or(host, os.Getenv("OLLAMA_HOST"), "127.0.0.1:11434"))
	if err != nil {
		return server{}, err
	}
	h := &http.Client{Transport: newTransport(), CheckRedirect: stay}
	return server{base: base, http: h, client: api.NewClient(base, h), soon: 30 * time.Second}, nil
}

// stay follows no redirect: what is asked holds what the agent saw, and goes to the host that was named or nowhere.
func stay(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("it sends on to %s, where nothing is sent; name the server itself", r.URL.Host)
}

// newTransport speaks to a server that may be restarted at any time: no connection outlives its request.
func newTransport() http.RoundTripper {
	return bounder{&http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		DisableKeepAlives: true,
	}}
}

// mostBody is how many bytes a response may have.
const mostBody = 64 << 20

// bounder ends a response that is too long to be one.
type bounder struct{ http.RoundTripper }

func (b bounder) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, mostBody), response.Body}
	}
	return response, err
}

// here reports whether a host is this machine.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// address reads a host as Ollama's own command does: without a scheme, the port is 11434 by default. A
// server that listens everywhere is spoken to on this machine.
func address(host string) (*url.URL, error) {
	text, port := strings.Trim(strings.TrimSpace(host), `"'`), ""
	if net.ParseIP(text) != nil && strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	if !strings.Contains(text, "://") {
		text, port = "http://"+text, "11434"
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" && u.Path != "" || !isPort(u.Port()) {
		return nil, fmt.Errorf("controller: %q is no address of an Ollama server: give a URL such as http://127.0.0.1:11434", host)
	}
	name := cmp.Or(u.Hostname(), "127.0.0.1")
	switch name {
	case "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	if p := cmp.Or(u.Port(), port); p != "" {
		u.Host = net.JoinHostPort(name, p)
	} else if strings.Contains(name, ":") {
		u.Host = "[" + name + "]"
	} else {
		u.Host = name
	}
	return u, nil
}

// isPort reports whether text is a port, or none.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// where is the address without a password that may be in it.
func (s server) where() string { return s.base.Redacted() }

// quickly bounds what needs no model.
func (s server) quickly(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.soon, fmt.Errorf("%w: %s has not answered within %v", ErrServer, s.where(), s.soon))
}

// fault puts the client's error into one line with a sentinel.
func (s server) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrServer) {
			return cause
		}
		return fmt.Errorf("no answer in time: %w", ctx.Err())
	}
	var status api.StatusError
	var refused api.AuthorizationError
	var op *net.OpError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%w: it wants a sign-in: status %d", ErrServer, refused.StatusCode)
	case errors.As(err, &status):
		said := clipped(status.ErrorMessage, 300)
		if strings.Contains(said, "no space left") {
			return fmt.Errorf("%w: its disk is full: %s; make room and try again, what was sent is kept", ErrServer, said)
		}
		if status.StatusCode == http.StatusNotFound { // every server has what is asked for
			return fmt.Errorf("%w: what answers at %s may be no Ollama server: status 404: %s; name the server with nothing behind its port", ErrServer, s.where(), said)
		}
		return fmt.Errorf("%w: status %d: %s", ErrServer, status.StatusCode, said)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%w: %s speaks http, not https; name it so", ErrServer, s.where())
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("%w at %s: start it with `ollama serve`, or say where it is: %v", ErrNoServer, s.where(), op.Err)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: what answers at %s may be no Ollama server: %w", ErrServer, s.where(), err)
	}
	return fmt.Errorf("%w: %s", ErrServer, clipped(err.Error(), 300))
}
