package compress_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxweaver/ctxweaver/compress"
)

func TestHeadTail(t *testing.T) {
	tens := strings.Repeat("123456789\n", 20)
	x, y := strings.Repeat("x", 300), strings.Repeat("y", 300)
	for _, row := range []struct {
		text   string
		budget int
		want   string
		gone   compress.Omission
		why    string
	}{
		{"", 0, "", compress.Omission{}, "nothing fits into nothing"},
		{tens, 200, tens, compress.Omission{}, "a text of the budget's size is whole"},
		{tens, 100, tens[:30] + "... (14 lines, 140 bytes left out)\n" + tens[170:], compress.Omission{Lines: 14, Bytes: 140}, "half at either end, in whole lines"},
		{tens[:199], 100, tens[:30] + "... (14 lines, 140 bytes left out)\n" + tens[170:199], compress.Omission{Lines: 14, Bytes: 140}, "the last line needs no end"},
		{tens, 50, "... (19 lines, 190 bytes left out)\n" + tens[190:], compress.Omission{Lines: 19, Bytes: 190}, "if there is room for one line, it is the last"},
		{tens, 10, "... (20 lines, 200 bytes left out)\n", compress.Omission{Lines: 20, Bytes: 200}, "a budget for nothing gives the line between alone"},
		{tens, -1, "... (20 lines, 200 bytes left out)\n", compress.Omission{Lines: 20, Bytes: 200}, "so does one below zero"},
		{x, 135, x[:50] + "\n... (1 lines, 200 bytes left out)\n" + x[:50], compress.Omission{Lines: 1, Bytes: 200}, "a line over the budget is cut in itself"},
		{x + "\n" + tens, 100, x[:32] + "\n... (18 lines, 439 bytes left out)\n" + tens[170:], compress.Omission{Lines: 18, Bytes: 439}, "a first line over the budget is cut, the last ones are whole"},
		{tens + x, 100, tens[:30] + "... (18 lines, 436 bytes left out)\n" + x[:34], compress.Omission{Lines: 18, Bytes: 436}, "a last line over the budget is cut, the first ones are whole"},
		{"a\n" + x + "\n" + y + "\nb\n", 50, "a\n... (2 lines, 602 bytes left out)\nb\n", compress.Omission{Lines: 2, Bytes: 602}, "a long line in the middle is never cut"},
		{strings.Repeat("é", 100), 99, strings.Repeat("é", 16) + "\n... (1 lines, 136 bytes left out)\n" + strings.Repeat("é", 16), compress.Omission{Lines: 1, Bytes: 136}, "runes are not cut"},
	} {
		got, gone := compress.HeadTail(row.text, row.budget)
		if got != row.want || gone != row.gone {
			t.Errorf("HeadTail(%.40q of %d, %d): %s\n got %q, %v\nwant %q, %v", row.text, len(row.text), row.budget, row.why, got, gone, row.want, row.gone)
		}
	}
}

var between = regexp.MustCompile(`(?m)^\.\.\. \((\d+) lines, (\d+) bytes left out\)\n`)

// lawful checks what HeadTail promises of any text and budget.
func lawful(text string, budget int) error {
	got, gone := compress.HeadTail(text, budget)
	if again, g := compress.HeadTail(text, budget); again != got || g != gone {
		return fmt.Errorf("not deterministic")
	}
	if len(text) <= budget {
		if got != text || gone != (compress.Omission{}) {
			return fmt.Errorf("a text within the budget was changed")
		}
		return nil
	}
	var head, tail string
	for _, m := range between.FindAllStringSubmatchIndex(got, -1) { // the text may hold such lines itself
		head, tail = got[:m[0]], got[m[1]:]
		lines, _ := strconv.Atoi(got[m[2]:m[3]])
		bytes, _ := strconv.Atoi(got[m[4]:m[5]])
		if lines != gone.Lines || bytes != gone.Bytes || !strings.HasSuffix(text, tail) {
			continue
		}
		if !strings.HasPrefix(text, head) || len(head)+gone.Bytes+len(tail) != len(text) {
			head = strings.TrimSuffix(head, "\n") // cut within a line
		}
		if strings.HasPrefix(text, head) && len(head)+gone.Bytes+len(tail) == len(text) {
			return lawfulEnds(text, head, tail, got, gone, budget)
		}
	}
	return fmt.Errorf("head, line between and tail are not those of the text")
}

func lawfulEnds(text, head, tail, got string, gone compress.Omission, budget int) error {
	if len(got) > budget && head+tail != "" {
		return fmt.Errorf("%d bytes are over the budget", len(got))
	}
	middle := strings.TrimSuffix(text[len(head):len(text)-len(tail)], "\n")
	if n := strings.Count(middle, "\n") + 1; n != gone.Lines {
		return fmt.Errorf("%d lines left out, said %d", n, gone.Lines)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	slack := 100 // the line between and what else the room is less than the budget
	if head != "" && !strings.HasSuffix(head, "\n") && len(lines[0]) < budget-slack {
		return fmt.Errorf("the first line was cut though it fits")
	}
	if before := text[:len(text)-len(tail)]; tail != "" && !strings.HasSuffix(before, "\n") && len(lines[len(lines)-1]) < budget-slack {
		return fmt.Errorf("the last line was cut though it fits")
	}
	if utf8.ValidString(text) && !(utf8.ValidString(head) && utf8.ValidString(tail)) {
		return fmt.Errorf("a rune was cut")
	}
	return nil
}

func TestHeadTailLaws(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(30) {
			word := []string{"a", "line of words", "é", "你好", "\xff", "\r", "... (1 lines, 2 bytes left out)\n"}[r.IntN(7)]
			b.WriteString(strings.Repeat(word, 1+r.IntN(1+r.IntN(60))))
			b.WriteString(strings.Repeat("\n", r.IntN(3)))
		}
		text, budget := b.String(), r.IntN(b.Len()+20)
		if err := lawful(text, budget); err != nil {
			got, gone := compress.HeadTail(text, budget)
			t.Fatalf("HeadTail(%q, %d) = %q, %v: %v", text, budget, got, gone, err)
		}
	}
}

func FuzzHeadTail(f *testing.F) {
	f.Add("one\ntwo\nthree\n", 10)
	f.Add(strings.Repeat("x", 200), 90)
	f.Add(strings.Repeat("line\n", 50)+"last", 99)
	f.Add(strings.Repeat("你\xff\n", 50), 80)
	f.Add(strings.Repeat("\x80", 200), 100)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if err := lawful(text, budget); err != nil {
			got, gone := compress.HeadTail(text, budget)
			t.Errorf("HeadTail(%q, %d) = %q, %v: %v", text, budget, got, gone, err)
		}
	})
}

func BenchmarkHeadTail(b *testing.B) {
	text := strings.Repeat("ok  \tshop/pricing\t0.012s\n", 40000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		compress.HeadTail(text, 4000)
	}
}
