package graphstore

import (
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// roster is the catalog as far as it can be read.
type roster struct {
	entries []entry
	numbers map[uint64]bool // of the entries' sessions
	roots   map[string]bool // of their names
	infos   []scrap         // what sessions say of themselves
	garbled []scrap         // what is in the place of an entry
}

// scrap is a key of the catalog that may be of no use.
type scrap struct {
	key  []byte
	name string // of the session, as far as is known
	err  error  // what is wrong with its value; nil if it can be read
}

// root is that of the name that the key is for.
func (s scrap) root() string { return string(s.key[1 : len(s.key)-1]) }

func readRoster(txn *badger.Txn) (roster, error) {
	r := roster{numbers: map[uint64]bool{}, roots: map[string]bool{}}
	err := scan(txn, []byte{spaceCatalog}, func(k, v []byte) error {
		it := scrap{key: slices.Clone(k)}
		if k[len(k)-1] == kindInfo {
			it.err = decode(v, &SessionInfo{})
			r.infos = append(r.infos, it)
			return nil
		}
		var e entry
		it.err = decode(v, &e)
		switch it.name = e.Name; {
		case it.err != nil:
		case string(rawID(Root(e.Name))) != it.root():
			it.err = fmt.Errorf("it is that of %q", e.Name)
		case r.numbers[e.Number]:
			it.err = fmt.Errorf("session number %d is in it twice", e.Number)
		default:
			r.numbers[e.Number], r.roots[it.root()] = true, true
			r.entries = append(r.entries, e)
			return nil
		}
		r.garbled = append(r.garbled, it)
		return nil
	})
	return r, err
}

// restore puts in the sessions that have keys and are not in it. Of two with one name, the newer is the session.
func (r *roster) restore(txn *badger.Txn) error {
	for _, n := range slices.Backward(sessionNumbers(txn)) {
		name, err := get(txn, kindKey(n, kindName))
		root := string(rawID(Root(string(name))))
		if r.numbers[n] || err != nil || r.roots[root] {
			continue
		}
		e := entry{Name: string(name), Number: n}
		if err := write(txn, catalogKey(e.Name, kindEntry), e); err != nil {
			return err
		}
		r.numbers[n], r.roots[root] = true, true
		r.entries = append(r.entries, e)
	}
	return nil
}

// clear takes out what is of no use: what cannot be read, and what is said of sessions that are not there.
func (r *roster) clear(txn *badger.Txn) error {
	var useless [][]byte
	for _, it := range r.garbled {
		if !r.roots[it.root()] { // else restore has put an entry in its place
			useless = append(useless, it.key)
		}
	}
	for _, it := range r.infos {
		if it.err != nil || !r.roots[it.root()] {
			useless = append(useless, it.key)
		}
	}
	for _, key := range useless {
		if err := txn.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
