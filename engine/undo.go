package engine

import (
	"context"
	"fmt"
)

// Undo takes the newest page-out under a policy back: the next request has whole again what it took, and for the
// next 20 observations no page-out takes that again, unless a budget could not be kept otherwise. What had been paged in since
// leaves the prompt with it. Called again it takes back the page-out before. It is ErrNotFound if nothing is paged
// out, as in a session of which requests were only looked at (Request.Dry).
func (s *Session) Undo(ctx context.Context, p Policy) error {
	if !p.pages() {
		return fmt.Errorf("session %s: policy %s pages nothing out, and so there is nothing to take back", s.name, p)
	}
	path, err := s.history(ctx, "")
	if err != nil {
		return err
	}
	s.weaving.Lock()
	defer s.weaving.Unlock()
	d, err := s.desk(ctx, p, path)
	if err != nil {
		return err
	}
	if len(d.decided) == 0 {
		return fmt.Errorf("session %s: no request was woven under %s to be sent, only to be looked at, and so there is no page-out to take back: %w", s.name, p, ErrNotFound)
	}
	if len(d.pages) == 0 {
		return fmt.Errorf("session %s: nothing is paged out under %s: %w", s.name, p, ErrNotFound)
	}
	head, c := path[len(path)-1].ID, decision{Kind: undone, Behind: d.seen[len(d.seen)-1].place}
	if err := s.keepDecision(ctx, d, p, head, c); err != nil {
		return err
	}
	d.apply(head, c)
	return nil
}
