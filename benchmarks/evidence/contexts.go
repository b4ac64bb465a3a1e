package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

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
			var c struct {
				Step     *int              `json:"step"`
				Messages []json.RawMessage `json:"messages"`
			}
			if err := json.Unmarshal(line, &c); err != nil {
				return nil, fmt.Errorf("line %d: want {\"step\": k, \"messages\": […]}: %w", n, err)
			}
			if c.Step == nil || *c.Step < 0 {
				return nil, fmt.Errorf("line %d: \"step\" is missing or negative; it is the call's number, from 0", n)
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
