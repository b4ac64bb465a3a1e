package validation

import "strings"

// marks is what scan looks for, by the first byte of an opening, the last of an ending, and the rest of a
// line after a number.
type marks struct {
	opens, ends [256][]mark
	counts      []mark
}

type mark struct {
	text string
	set  uint64
}

// evidenceMark is the bit of lines that compilers and linters may have written.
const evidenceMark = 1 << 63

var lineMarks = newMarks(runners)

func newMarks(runners []runner) *marks {
	m := &marks{}
	for i, r := range runners {
		set := uint64(1) << i
		for _, s := range r.opens {
			m.opens[s[0]] = append(m.opens[s[0]], mark{s, set})
		}
		for _, s := range r.ends {
			m.ends[s[len(s)-1]] = append(m.ends[s[len(s)-1]], mark{s, set})
		}
		for _, s := range r.counts {
			m.counts = append(m.counts, mark{s, set})
		}
	}
	for _, s := range evidenceOpens {
		m.opens[s[0]] = append(m.opens[s[0]], mark{s, evidenceMark})
	}
	return m
}

// scan tells whose lines a text may hold, one bit a runner. Nearly all observations hold none, so it touches
// the two ends of each line only.
func scan(text string) (found uint64) {
	m := lineMarks
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.Trim(unwrap(line), " \t")
		if line == "" {
			continue
		}
		for _, k := range m.opens[line[0]] {
			if strings.HasPrefix(line, k.text) {
				found |= k.set
			}
		}
		for _, k := range m.ends[line[len(line)-1]] {
			if strings.HasSuffix(line, k.text) {
				found |= k.set
			}
		}
		if isDigit(line[0]) {
			after := strings.TrimLeft(line, digits)
			for _, k := range m.counts {
				if strings.HasPrefix(after, k.text) {
					found |= k.set
				}
			}
		}
		if found&evidenceMark == 0 && located(line) {
			found |= evidenceMark
		}
	}
	return found
}
