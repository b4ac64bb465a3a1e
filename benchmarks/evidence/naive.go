package evidence

import "fmt"

// Naive lists policies that need no intelligence: every way to move the boundary in batches, by steps
// (polling), by the prompt's size (clear) and by observations' sizes (prune). A policy is worth
// something if it beats the best of them that costs no more.
func Naive() []string {
	var out []string
	for _, n := range []int{1, 3, 5, 10, 20} {
		for _, p := range []int{5, 10, 20, 40} {
			out = append(out, fmt.Sprintf("polling:%d/%d", n, p))
		}
	}
	for _, trigger := range []int{20000, 30000, 50000} {
		for _, keep := range []int{3, 5, 10} {
			out = append(out, fmt.Sprintf("clear:%d/%d/5000", trigger, keep))
		}
	}
	for _, protect := range []int{6000, 10000, 15000, 20000} {
		for _, batch := range []int{3000, 8000, 15000} {
			out = append(out, fmt.Sprintf("prune:%d/%d", protect, batch))
		}
	}
	return out
}
