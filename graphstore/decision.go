package graphstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Decide keeps what a policy decided for the request that followed a node, so that later requests repeat it
// byte for byte. It is opaque here. A decision that is there already is replaced. The node must be stored.
func (s *Store) Decide(ctx context.Context, session, policy string, after NodeID, decision []byte) error {
	if policy == "" || len(policy) > maxNamed {
		return fmt.Errorf("session %q: policy %q: want a name of 1 to %d bytes", session, policy, maxNamed)
	}
	return s.change(ctx, session, false, func(txn *badger.Txn, e *entry) error {
		if _, err := readRecord(txn, *e, after); err != nil {
			return err
		}
		return txn.Set(append(namedKey(e.Number, kindWoven, policy), rawID(after)...), decision)
	})
}

// Decisions gives all that a policy decided in a session, by the node that the request followed.
func (s *Store) Decisions(ctx context.Context, session, policy string) (map[NodeID][]byte, error) {
	out := map[NodeID][]byte{}
	err := s.viewSession(ctx, session, func(txn *badger.Txn, e entry) error {
		prefix := namedKey(e.Number, kindWoven, policy)
		return scan(txn, prefix, func(k, v []byte) error {
			if len(k) == len(prefix)+rawIDSize {
				out[id(k[len(prefix):])] = bytes.Clone(v)
			}
			return nil
		})
	})
	return out, err
}
