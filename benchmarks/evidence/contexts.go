package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// written is a line that another program wrote.
type written struct {
	Step     *int              `json:"step"`
	Messages []json.RawMessage `json:"messages"`
}

// asJSON says an error of the decoder in terms of the line, not of Go.
func asJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("found: %s", wrong.Value)
	}
	return fmt.Errorf("%q is of the wrong kind: %s", wrong.Field, wrong.Value)
}

// Contexts judges contexts that another program wrote, a line each: {"step": k, "messages": […]}, the
// context before call k, counted from 0, in any order and with messages of any shape. Only the first calls
// count, or all where first is 0. An error names the line.
func (j *Judge) Contexts(r io.Reader, first int) ([]Request, error) {
	type context struct {
		call     int
		messages []*message
	}
	var all []context
	raw := map[string]*message{}
	lines := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var c written
			if err := json.Unmarshal(line, &c); err != nil {
				return nil, fmt.Errorf("line %d: want {\"step\": k, \"messages\": […]}: %w", n, asJSON(err))
			}
			if c.Step == nil || *c.Step < 0 {
				return nil, fmt.Errorf("line %d: \"step\" is missing or negative; it is the call's number, from 0", n)
			}
			if c.Messages == nil {
				return nil, fmt.Errorf("line %d: \"messages\" is missing; an empty context is []", n)
			}
			messages := make([]*message, len(c.Messages))
			for i, m := range c.Messages {
				if raw[string(m)] == nil {
					text, err := redump(m)
					if err != nil {
						return nil, fmt.Errorf("line %d: message %d: %w", n, i+1, err)
					}
					raw[string(m)] = j.text(text)
				}
				messages[i] = raw[string(m)]
			}
			all = append(all, context{*c.Step, messages})
		}
		if err == io.EOF {
			break
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no context in it")
	}
	slices.SortStableFunc(all, func(a, b context) int { return a.call - b.call })
	t := j.Trial()
	var out []Request
	for i, c := range all {
		if first > 0 && c.call >= first {
			break
		}
		if i > 0 && all[i-1].call == c.call {
			return nil, fmt.Errorf("step %d: there are two contexts for it", c.call)
		}
		out = append(out, t.add(c.call, c.messages))
	}
	return out, nil
}

// Only keeps the requests before these calls, so that policies are compared on the same ones.
func (r *Result) Only(calls map[int]bool) {
	all := len(r.Requests)
	r.Requests = slices.DeleteFunc(r.Requests, func(q Request) bool { return !calls[q.Call] })
	r.Misses = slices.DeleteFunc(r.Misses, func(m Miss) bool { return !calls[m.Call] })
	seconds := r.Score.Seconds * ratio(len(r.Requests), all)
	r.Score = Score{Seconds: seconds}
	for _, q := range r.Requests {
		r.Score.Add(q)
	}
}
