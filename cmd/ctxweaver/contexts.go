package main

import (
	"bufio"
	"strconv"

	"github.com/ctxweaver/ctxweaver/engine"
)

// contexts writes what was put before an agent, a line a call: {"step": k, "messages": […]}. Most of a
// context was in the one before too, so encoded messages are kept for the next.
type contexts struct {
	out      *bufio.Writer
	messages []engine.Prompt
	encoded  [][]byte // as messages
}

func (c *contexts) write(call int, messages []engine.Prompt) error {
	encoded := make([][]byte, len(messages))
	for i, m := range messages {
		if i < len(c.messages) && m.Equal(c.messages[i]) {
			encoded[i] = c.encoded[i]
			continue
		}
		var err error
		if encoded[i], err = m.MarshalJSON(); err != nil {
			return err
		}
		encoded[i] = escaped(encoded[i])
	}
	c.messages, c.encoded = messages, encoded

	c.out.WriteString(`{"step":` + strconv.Itoa(call) + `,"messages":[`)
	for i, e := range encoded {
		if i > 0 {
			c.out.WriteByte(',')
		}
		c.out.Write(e)
	}
	_, err := c.out.WriteString("]}\n") // the writer keeps its first error
	return err
}
