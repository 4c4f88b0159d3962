package election

import (
	"path"
	"strings"
	"time"
)

// Surroundings are what stands around one election in Consul: the material from
// which candidates, semaphores and advice are inferred.
type Surroundings struct {
	At  time.Time
	Key string
	// Siblings are keys under the same parent as Key (see [Parent]), without
	// Key itself. SiblingsErr says why they could not be read, SiblingsCut that
	// there are more than were read.
	Siblings    []Pair
	SiblingsErr string
	SiblingsCut bool
	// Sessions are all sessions of the datacenter, SessionsErr says why they
	// could not be read.
	Sessions    []*Session
	SessionsErr string
}

// SurroundingsRead are the surroundings of the election that is looked at. A
// tracker keeps the latest only.
type SurroundingsRead struct{ Surroundings Surroundings }

func (o SurroundingsRead) observed() time.Time { return o.Surroundings.At }

// SessionList is every session of the datacenter, read while somebody looks.
type SessionList struct {
	// At is when Sessions were read, or tried to be for the first time.
	At       time.Time
	Sessions []*Session
	// Until is when Sessions were last known to be current, zero while they are
	// watched.
	Until time.Time
	// FirstSeen tells of each of them when it was first reported.
	FirstSeen map[string]Seen
	// Err says why the sessions could not be read; Sessions is then old.
	Err string
}

// SessionListRead is an answer to "which sessions are there", or why there is
// none.
type SessionListRead struct {
	At       time.Time
	Sessions []*Session
	// Index is the Raft index of the answer (X-Consul-Index), 0 if unknown.
	Index uint64
	// AfterGap marks the first answer, and the first after the sessions were not
	// watched for a while: new ones may have been created at any time before.
	AfterGap bool
	Err      string
}

// SessionListUnwatched says that the list of sessions is no longer watched.
type SessionListUnwatched struct{ At time.Time }

func (o SessionListRead) observed() time.Time      { return o.At }
func (o SessionListUnwatched) observed() time.Time { return o.At }

// Parent is the part of a key under which its candidates may leave keys of their
// own: everything up to the last "/", "" for a key without one.
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}

// base is the last segment of a key.
func base(key string) string { return path.Base(key) }
