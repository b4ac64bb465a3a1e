package evidence

import (
	"fmt"
	"slices"
	"testing"
)

// TestFoldsKeepGroups: a group is in one fold, and nothing is learned from what is in the fold.
func TestFoldsKeepGroups(t *testing.T) {
	var sessions []Session
	for i := range 40 {
		sessions = append(sessions, Session{Name: fmt.Sprint(i), Group: fmt.Sprint("repository ", i%13)})
	}
	for _, n := range []int{2, 5} {
		seen := map[string]int{} // how often a session was learned from
		folds := 0
		for f, train := range Folds(sessions, n) {
			if f != folds {
				t.Errorf("of %d, fold %d comes as number %d", n, f, folds)
			}
			folds++
			for _, s := range train {
				seen[s.Name]++
			}
			for _, s := range sessions {
				if learned := slices.ContainsFunc(train, func(o Session) bool { return o.Group == s.Group }); learned == (s.Fold == f) {
					t.Errorf("of %d, fold %d: %s is in fold %d, and learned from: %t", n, f, s.Group, s.Fold, learned)
				}
			}
		}
		for name, times := range seen {
			if times != folds-1 {
				t.Errorf("of %d folds, %d have learned from session %s", folds, times, name)
			}
		}
		if folds != n || len(seen) != len(sessions) {
			t.Errorf("%d folds instead of %d, which have learned from %d sessions", folds, n, len(seen))
		}
	}
	for f, train := range Folds(sessions, 1) {
		if f != 0 || train != nil {
			t.Errorf("without folds: fold %d learns from %d sessions", f, len(train))
		}
	}
}
