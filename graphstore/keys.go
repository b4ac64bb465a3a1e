package graphstore

import (
	"encoding/binary"
	"encoding/hex"
)

// The key spaces of the Badger database. Everything of a session, but its two catalog entries, lies under
// one prefix with a number that no other living session has, so that deleting it is dropping a prefix and
// a new session of the same name never meets the old one's keys.
const (
	spaceCatalog = 'c' // c root kind: the catalog; root is Root(name), 16 bytes
	spaceDoomed  = 'd' // d number: a session whose keys are being dropped
	spaceSession = 's' // s number kind …: a session's own keys
)

const (
	kindEntry = 'e' // catalog: where the session's keys are and what they add up to
	kindInfo  = 'i' // catalog: what the session says of itself

	kindName   = 'a' // the session's name, so that a lost catalog can be made anew
	kindBody   = 'b' // b sha256 chunk: a piece of a long text
	kindGraph  = 'g' // g generation …: Cayley's own keys
	kindRecord = 'n' // n id: a node's record
	kindOrder  = 'o' // o ordinal: the node that was put as the ordinal-th
	kindWoven  = 'w' // w length policy id: what a policy decided for the request after a node

	kindOpinion = 'p' // p length controller id: what a controller said of a node
	kindVector  = 'v' // v length digest id: a node's embedding by a model
)

func catalogKey(name string, kind byte) []byte {
	k := append([]byte{spaceCatalog}, rawID(Root(name))...)
	return append(k, kind)
}

func doomedKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{spaceDoomed}, number)
}

// sessionKey is the prefix of all keys of a session.
func sessionKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{spaceSession}, number)
}

func kindKey(number uint64, kind byte) []byte { return append(sessionKey(number), kind) }

func recordKey(number uint64, id NodeID) []byte {
	return append(kindKey(number, kindRecord), rawID(id)...)
}

func orderKey(number, ordinal uint64) []byte {
	return binary.BigEndian.AppendUint64(kindKey(number, kindOrder), ordinal)
}

// maxNamed is how long the name of a policy or a controller and a digest may be, in bytes: one byte of the key has
// the length.
const maxNamed = 255

// namedKey is the prefix of what a policy, a controller or a model has of the nodes of a session.
func namedKey(number uint64, kind byte, name string) []byte {
	return append(append(kindKey(number, kind), byte(len(name))), name...)
}

func bodyKey(number uint64, sum [32]byte, chunk uint32) []byte {
	return binary.BigEndian.AppendUint32(append(kindKey(number, kindBody), sum[:]...), chunk)
}

func graphKey(number uint64, generation uint32) []byte {
	return binary.BigEndian.AppendUint32(kindKey(number, kindGraph), generation)
}

const rawIDSize = 16

// rawID is the id's 16 bytes, or nil if it is no id.
func rawID(id NodeID) []byte {
	b, err := hex.DecodeString(string(id))
	if err != nil || len(b) != rawIDSize || hex.EncodeToString(b) != string(id) {
		return nil
	}
	return b
}
