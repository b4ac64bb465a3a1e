package evidence

import (
	"hash/fnv"
	"iter"
)

// fold gives a group's fold of so many, the same in every run.
func fold(group string, folds int) int {
	if folds < 2 {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(group))
	return int(h.Sum64() % uint64(folds))
}

// Folds spreads groups of sessions over n folds, and notes each session's. Of each fold it yields the sessions of all
// others, to learn from. With n below 2 there is one fold and nothing to learn from.
func Folds(sessions []Session, n int) iter.Seq2[int, []Session] {
	for i := range sessions {
		sessions[i].Fold = fold(sessions[i].Group, n)
	}
	return func(yield func(int, []Session) bool) {
		for f := range max(1, n) {
			var train []Session
			for _, s := range sessions {
				if s.Fold != f {
					train = append(train, s)
				}
			}
			if !yield(f, train) {
				return
			}
		}
	}
}
