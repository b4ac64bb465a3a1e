package controller

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// filler is one token in every vocabulary. So many of them are so many tokens, more or less.
const filler = " tree"

// context measures prompts of known length, one that nearly fills the context and one that is longer, and how fast
// they are read.
func (x *examination) context(ctx context.Context) error {
	const parts = 4
	c := &x.v.Context
	c.Size = x.o.context(x.m)
	few, many := c.Size/16, c.Size/8
	lengths := []int{few, many}
	counts := make([]int, len(lengths))
	for i, n := range lengths {
		x.tell("context", i, parts)
		read, _, err := x.read(ctx, "A", n)
		if err != nil {
			return x.cannot(ctx, err)
		}
		counts[i] = read
	}
	// What the model's own marks take is in both.
	each := float64(counts[1]-counts[0]) / float64(many-few)
	marks := float64(counts[0]) - each*float64(few)
	if each <= 0 {
		c.Said = "the server counts a longer prompt as a shorter one"
		return nil
	}
	length := int((0.94*float64(c.Size) - marks) / each)
	c.Sent = int(marks + each*float64(length))
	x.tell("context", 2, parts)
	read, speed, err := x.read(ctx, "The", length)
	if err != nil {
		return x.cannot(ctx, err)
	}
	c.Read, x.v.Speed.Prompt = read, speed

	x.tell("context", 3, parts)
	_, _, err = x.read(ctx, "One", int(1.2*float64(c.Size)/each))
	c.Refused = errors.Is(err, ErrTooLong)
	switch {
	case err == nil:
		c.Said = "a prompt that is too long was cut"
	case !c.Refused:
		return x.cannot(ctx, err)
	}
	return x.output(ctx)
}

// cannot notes what the model or the server cannot do, and ends the exam for what is no fault of theirs. All
// that is sent here is simple, so a server that breaks off is at fault.
func (x *examination) cannot(ctx context.Context, err error) error {
	if errors.Is(err, ErrServer) {
		return err
	}
	x.v.Context.Said = err.Error()
	return x.excuse(ctx, err)
}

// slowestFull is how long the server may take to read a context that is full.
const slowestFull = 15 * time.Minute

// read has n fillers read, and tells how many tokens the server counted, and how many a second.
func (x *examination) read(ctx context.Context, first string, n int) (read int, speed float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, slowestFull)
	defer cancel()
	text := first + strings.Repeat(filler, n)
	err = x.o.call(ctx, func(ctx context.Context) error {
		if !x.m.Completion {
			origin := Origin{}
			start := time.Now()
			_, err := x.o.embed(ctx, x.m, []string{text}, &origin)
			read, speed = origin.In, rate(origin.In, time.Since(start))
			return err
		}
		r, err := x.o.chat(ctx, x.m, request{messages: []api.Message{{Role: "user", Content: text}}, predict: 1})
		read, speed = r.metrics.PromptEvalCount, rate(r.metrics.PromptEvalCount, r.metrics.PromptEvalDuration)
		return err
	})
	return read, speed, err
}

// output measures how fast the model writes.
func (x *examination) output(ctx context.Context) error {
	if !x.m.Completion {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	err := x.o.call(once, func(ctx context.Context) error {
		r, err := x.o.chat(ctx, x.m, request{messages: []api.Message{{Role: "user", Content: "Tell me a long story about a tree and a river."}}, predict: 48})
		x.v.Speed.Output = rate(r.metrics.EvalCount, r.metrics.EvalDuration)
		return err
	})
	if err == nil {
		return nil
	}
	return x.excuse(ctx, err)
}

func rate(tokens int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(tokens) / took.Seconds()
}
