package evidence

import (
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"strings"
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

// CheckFolds is an error where one of n folds has all sessions, so that nothing is left to learn from.
func CheckFolds(sessions []Session, n int) error {
	groups, folds := map[string]bool{}, map[int]bool{}
	for _, s := range sessions {
		groups[s.Group], folds[fold(s.Group, n)] = true, true
	}
	if n < 2 || len(folds) != 1 {
		return nil
	}
	return fmt.Errorf("one of %d folds has all sessions, and there are no others to learn from: add sessions of other repositories or folders than %s, or try another number of folds",
		n, strings.Join(slices.Sorted(maps.Keys(groups)), ", "))
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
