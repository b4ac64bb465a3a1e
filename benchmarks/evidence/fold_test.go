package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCheckFolds: where one fold has all, whoever asks is told before anything is fitted.
func TestCheckFolds(t *testing.T) {
	of := func(groups ...string) (out []Session) {
		for _, g := range groups {
			out = append(out, Session{Group: g})
		}
		return out
	}
	for _, test := range []struct {
		why      string
		sessions []Session
		folds    int
		want     string
	}{
		{"there are no folds", of("a", "a"), 0, ""},
		{"one fold is none", of("a", "a"), 1, ""},
		{"nothing to spread", nil, 3, ""},
		{"one group cannot be spread", of("a", "a", "a"), 3, "one of 3 folds has all sessions"},
		{"two groups may fall together", of("a", "c"), 2, "than a, c, or try another number of folds"},
		{"they do not in more folds", of("a", "c"), 5, ""},
	} {
		err := CheckFolds(test.sessions, test.folds)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.why, err, test.want)
		}
	}
}

// TestDistinct: a copy is no session of its own, under whatever name, and what differs in one word is.
func TestDistinct(t *testing.T) {
	var sessions []Session
	for i, steps := range []uint64{1, 2, 1, 3, 1} {
		s, err := NewSession(fmt.Sprint("run ", i), "atif", "", made(steps, 2, 8))
		if err != nil {
			t.Fatal(err)
		}
		if i < 3 {
			s.File = fmt.Sprintf("%d.json", i)
		}
		sessions = append(sessions, s)
	}
	distinct, copies := Distinct(sessions)
	var names []string
	for _, s := range distinct {
		names = append(names, s.Name)
	}
	if want := []string{"run 0", "run 1", "run 3"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if len(copies) != 2 || !strings.HasPrefix(copies[0], "2.json (run 2): left out: ") || !strings.HasSuffix(copies[1], " as 0.json (run 0)") {
		t.Errorf("%q", copies)
	}
}

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
