// Package store is the state of an in-process Consul datacenter: keys, sessions, lock-delays, transactions and the
// catalog, with the indexes, messages and timeouts of Consul. Package memconsul serves it over HTTP.
//
// A [Query] reads the state and can wait for a change. The package reads the time only from package time, so a
// testing/synctest bubble controls its clocks.
package store

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Store is the state of the datacenter. Its methods are safe for concurrent use. Records are immutable: a change
// replaces the record, so a caller may read a returned record without the mutex.
type Store struct {
	// Timers contains named timers, which Close stops. The timers of sessions have names that begin with "session/".
	Timers *Timers

	closeOnce sync.Once
	closed    chan struct{}

	mu    sync.Mutex
	index uint64 // Raft index of the latest write request
	topic map[topic]*signal

	kv       kvTable
	delays   lockDelays
	sessions sessionTable
	catalog  catalogTable
}

// New returns an empty store. Call Close to stop its timers.
func New() *Store {
	return &Store{
		Timers:   &Timers{timers: map[string]armed{}},
		closed:   make(chan struct{}),
		index:    3, // a real agent has already written its own configuration before it accepts requests
		topic:    map[topic]*signal{},
		kv:       kvTable{entries: map[string]*Entry{}, tombstones: map[string]uint64{}, bySess: map[string]map[string]struct{}{}},
		delays:   lockDelays{until: map[string]time.Time{}},
		sessions: sessionTable{byID: map[string]*Session{}},
		catalog:  catalogTable{nodes: map[string]*node{}},
	}
}

// Close ends every blocked query with the current result and stops all timers. It returns when all timer functions
// have ended. Later queries do not block, and sessions and checks do not expire. Close may be called again.
func (s *Store) Close() {
	s.closeOnce.Do(func() { close(s.closed) })
	s.Timers.close()
}

// nextIndex returns the index of a new write request. As in Consul, a request without effect also gets an index.
func (s *Store) nextIndex() uint64 {
	s.index++
	return s.index
}

// NewUUID returns a random ID in the form of Consul's session and node IDs.
func NewUUID() string {
	var b [16]byte
	// crypto/rand.Read never returns an error.
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Fold returns the form in which Consul compares names of nodes, services and checks.
func Fold(name string) string { return strings.ToLower(name) }

// refused returns an error with Consul's text, including the capital letter.
func refused(format string, args ...any) error { return fmt.Errorf(format, args...) }
