package election

import (
	"bytes"
	"slices"
	"strings"
)

// Pair is one key of Consul's KV store (GET /v1/kv/:key), or one queue of a store with leases: Key is then the common
// prefix without its last "/", and the other fields are those of the first key. Value and Queue must not be modified
// after the pair was observed.
type Pair struct {
	Key   string
	Value []byte
	// Flags is an opaque number that clients choose. Lock implementations write a fixed number and reject keys with
	// other flags.
	Flags uint64
	// Session is the ID of the session that holds the key, or empty if no session holds it.
	Session string
	// LockIndex counts the acquisitions of the key within one CreateIndex. A
	// write without the lock sets it to 0.
	LockIndex uint64
	// CreateIndex and ModifyIndex are the Raft indexes of the key's creation and
	// last change.
	CreateIndex, ModifyIndex uint64
	// ModRevision is the revision of the last change of the first key, in a store with revisions. ModifyIndex is then the
	// revision of the read, which also counts the other keys of a queue.
	ModRevision uint64
	// Queue contains the keys behind the leader's in their order. In a queue without a leader it contains all keys: the
	// first has no session and blocks the others. It is nil if the pair is not a queue.
	Queue []Waiter
}

// Waiter is a key in a queue. All fields are safe to print.
type Waiter struct {
	// Session is the lease of the candidate, or empty for a key that is not a candidate's, whose Name is the key.
	Session, Name string
	// Revision is the revision of the store at which the key was created.
	Revision uint64
}

// Flags that lock implementations write (Consul's api/lock.go and
// api/semaphore.go).
const (
	LockFlag      uint64 = 0x2ddccbc058a50c18
	SemaphoreFlag uint64 = 0xe0f69a2baa414de0
)

// Held reports whether a session holds the key.
func (p Pair) Held() bool { return p.Session != "" }

// Blocked reports whether no candidate of a queue can lead, because the first key is not a candidate's. Its value is unknown.
func (p Pair) Blocked() bool { return len(p.Queue) > 0 && !p.Held() }

// HeldBy reports whether a session holds the key. Consul finds a session in any case of its ID, and a key keeps the
// spelling with which it was acquired.
func (p Pair) HeldBy(session string) bool { return strings.EqualFold(p.Session, session) && p.Held() }

// SameContent reports whether two reads have equal values and flags.
func (p *Pair) SameContent(q *Pair) bool {
	return p.Flags == q.Flags && bytes.Equal(p.Value, q.Value)
}

// Identical reports whether two reads show the same state of the key. Equal indexes are not sufficient, because after a
// restore the same index can belong to another value.
func (p *Pair) Identical(q *Pair) bool {
	return p.ModifyIndex == q.ModifyIndex && p.CreateIndex == q.CreateIndex &&
		p.LockIndex == q.LockIndex && p.Session == q.Session && p.SameContent(q) && slices.Equal(p.Queue, q.Queue)
}
