package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"
)

const mostAnswer = 16 << 10 // bytes that an answer may have before it is cut

// reply is what came of one request.
type reply struct {
	text     string
	logprobs []api.Logprob // of the first token
	in, out  int           // tokens as the server counts them, or as we do where it was not let finish
	metrics  api.Metrics   // zero where the server was not let finish
}

// request is one question to a model that writes.
type request struct {
	messages []api.Message
	schema   json.RawMessage // of the answer; nil: free text
	predict  int             // the most tokens of the answer
	top      int             // likeliest first tokens that are told, at most 20
}

// errComplete ends a stream that has said all.
var errComplete = errors.New("the answer is complete")

// chat sends one request and reads the answer until it is done, or its JSON value is complete: some models
// go on with white space until they run out of tokens.
func (o *Ollama) chat(ctx context.Context, m Model, q request) (reply, error) {
	no := false
	r := &api.ChatRequest{
		Model: m.Name, Messages: q.messages, Format: q.schema, Truncate: &no, Shift: &no,
		KeepAlive: &api.Duration{Duration: o.opts.KeepAlive},
		Logprobs:  q.top > 0, TopLogprobs: q.top,
		Options: o.options(m),
	}
	maps.Copy(r.Options, map[string]any{"num_predict": q.predict, "temperature": 0, "seed": 1, "repeat_penalty": 1})
	if m.Thinking {
		r.Think = &api.ThinkValue{Value: false}
	}
	var text strings.Builder
	var last api.ChatResponse
	var out reply
	err := o.client.Chat(ctx, r, func(c api.ChatResponse) error {
		text.WriteString(c.Message.Content)
		if len(out.logprobs) == 0 {
			out.logprobs = c.Logprobs
		}
		out.out++
		if c.Done {
			last = c
			return errComplete
		}
		if text.Len() > mostAnswer || q.schema != nil && strings.Contains(c.Message.Content, "}") && complete(text.String()) {
			return errComplete
		}
		return nil
	})
	out.text = text.String()
	switch {
	case ctx.Err() != nil:
		return reply{}, o.fault(ctx, ctx.Err())
	case err == nil: // the client tells of no stream that ends early
		return reply{}, fmt.Errorf("%w: the answer broke off after %d bytes", ErrServer, len(out.text))
	case !errors.Is(err, errComplete):
		return reply{}, o.fault(ctx, err)
	}
	ours, words := 0, 0
	for _, message := range q.messages {
		ours += o.opts.Count(message.Content)
		words += len(strings.Fields(message.Content))
	}
	out.in = o.tokens(ours)
	if last.Done {
		out.metrics = last.Metrics
		if last.PromptEvalCount > 0 {
			out.in = last.PromptEvalCount
		}
		out.out = last.EvalCount
	}
	return out, o.compare(ours, words, last.PromptEvalCount)
}

// complete reports whether text begins with a whole JSON value.
func complete(text string) bool {
	_, err := firstValue(text)
	return err == nil
}

// firstValue is the JSON value that text begins with.
func firstValue(text string) (json.RawMessage, error) {
	var v json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&v)
	return v, err
}

// decode reads the one JSON object that an answer must be. White space may follow it, nothing else.
func decode(text string, into any) error {
	value, err := firstValue(text)
	if err != nil || !bytes.HasPrefix(value, []byte("{")) {
		return fmt.Errorf("it must be one JSON object, not %q", clipped(text, 60))
	}
	if rest := strings.TrimSpace(strings.TrimSpace(text)[len(value):]); rest != "" {
		return fmt.Errorf("nothing may follow the JSON object, as %q does", clipped(rest, 60))
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("it must keep to the schema: %w", err)
	}
	return nil
}

// clipped is text on one line of at most n bytes or so, for an error.
func clipped(text string, n int) string {
	text = plainText(text[:min(len(text), 4*n)])
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}

// templateTokens is what a model's own marks around the messages may take.
const templateTokens = 64

// compare learns from the server's count of a prompt of which we know our own count and its words. A token is
// no longer than a word, so far fewer tokens than words mean that the prompt was cut, and the answer is one to
// half a question. Our own count would not tell: a line of dashes is a token or two.
func (o *Ollama) compare(ours, words, servers int) error {
	switch {
	case servers <= 0 || ours <= 0: // it was not let finish, or does not tell
		return nil
	case servers < words/2:
		o.stretchTo(1.5 * o.stretching())
		return fmt.Errorf("%w: the server read %d tokens of a prompt of %d words, so it cut it; the next one will be shorter", ErrTooLong, servers, words)
	}
	o.stretchTo(float64(servers-templateTokens) / float64(ours))
	return nil
}

// tokens is what the server will count where we count n.
func (o *Ollama) tokens(n int) int { return int(float64(n)*o.stretching()) + 1 }

func (o *Ollama) stretching() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stretch
}

// stretchTo makes later prompts shorter, never longer again.
func (o *Ollama) stretchTo(s float64) {
	o.mu.Lock()
	o.stretch = min(max(o.stretch, s), 8)
	o.mu.Unlock()
}

// fault is the server's, and ErrTooLong or ErrNoModel where that is what it tells.
func (o *Ollama) fault(ctx context.Context, err error) error {
	var status api.StatusError
	if ctx.Err() == nil && errors.As(err, &status) {
		said := clipped(status.ErrorMessage, 200)
		switch {
		case strings.Contains(said, "context length"):
			o.stretchTo(1.5 * o.stretching())
			return fmt.Errorf("%w: %s; the next one will be shorter", ErrTooLong, said)
		case status.StatusCode == http.StatusNotFound && strings.Contains(said, "not found") && strings.Contains(said, "model"):
			return o.missing()
		}
	}
	return o.server.fault(ctx, err)
}

// missing says how to get the model, and which of the same name but another tag are there.
func (o *Ollama) missing(alike ...string) error {
	there := ""
	if len(alike) > 0 {
		there = ", which has " + clipped(strings.Join(alike, ", "), 200)
	}
	return fmt.Errorf("%w on %s%s: get it with `ollama pull %s`, or from a file with `ctxweaver model import FILE`", ErrNoModel, o.where(), there, o.opts.Model)
}

// ask puts a prompt to the model until its answer is one that accept takes: twice, the second time with what was
// wrong.
func (o *Ollama) ask(ctx context.Context, m Model, q request, origin *Origin, accept func(answer string) error) error {
	var wrong error
	for range 2 {
		r, err := o.chat(ctx, m, q)
		origin.Calls++
		origin.In += r.in
		origin.Out += r.out
		if err != nil {
			return err
		}
		if wrong = accept(r.text); wrong == nil {
			return nil
		}
		q.messages = append(q.messages[:len(q.messages):len(q.messages)],
			api.Message{Role: "assistant", Content: clipped(r.text, 400)},
			api.Message{Role: "user", Content: "That answer is not valid: " + clipped(wrong.Error(), 300) + ". Answer again, in JSON only."})
	}
	if errors.Is(wrong, ErrInvented) {
		return wrong
	}
	return fmt.Errorf("%w: %w", ErrBabble, wrong)
}

// fit makes sure that a model can be asked in writing at all.
func (o *Ollama) fit(ctx context.Context, m Model) error {
	if !m.Completion {
		return fmt.Errorf("%w: it cannot write; choose a chat model, or ask by embeddings", ErrUnfit)
	}
	if n := o.context(m); n < leastContext {
		return fmt.Errorf("%w: its context of %d tokens holds no question; %d is the least", ErrUnfit, n, leastContext)
	}
	if !m.Thinking {
		return nil
	}
	o.mu.Lock()
	err, tested := o.heeds[m.Digest]
	o.mu.Unlock()
	if tested {
		return err
	}
	err = o.heed(ctx, m)
	if err == nil || errors.Is(err, ErrUnfit) {
		o.mu.Lock()
		o.heeds[m.Digest] = err
		o.mu.Unlock()
	}
	return err
}

// heed tests a model that thinks: some servers ignore the schema for such models, others let them think all the
// answer away. Their version does not tell.
func (o *Ollama) heed(ctx context.Context, m Model) error {
	r, err := o.chat(ctx, m, request{
		messages: []api.Message{{Role: "user", Content: "Which colour has the sky on a clear day? Answer in JSON."}},
		schema:   json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string","enum":["blue","green"]}},"required":["colour"]}`),
		predict:  32,
	})
	if err != nil {
		return err
	}
	var answer struct{ Colour string }
	if err := decode(r.text, &answer); err != nil || answer.Colour != "blue" && answer.Colour != "green" {
		return fmt.Errorf("%w: it thinks, and on this server it does not keep to a schema; choose one that does not think", ErrUnfit)
	}
	return nil
}
