package election

import (
	"path"
	"slices"
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
	// FirstSeen tells when each session was first in the list; those of the
	// first list may be older than that.
	FirstSeen map[string]time.Time
	// Began is when the first list was read, zero before one was.
	Began time.Time
	// Err says why the sessions could not be read; Sessions is then old.
	Err string
}

// SessionListRead is an answer to "which sessions are there", or why there is
// none.
type SessionListRead struct {
	At       time.Time
	Sessions []*Session
	Err      string
}

func (o SessionListRead) observed() time.Time { return o.At }

// Parent is the part of a key under which its candidates may leave keys of their
// own: everything up to the last "/", "" for a key without one.
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}

func (t *Tracker) sessionListRead(o SessionListRead) {
	o.At = wall(o.At)
	old := t.sessionList
	if o.Err != "" {
		t.sessionList = &SessionList{At: o.At, Err: o.Err}
		if old != nil {
			kept := *old // what is shown is as old as it was
			kept.Err = o.Err
			t.sessionList = &kept
		}
		return
	}
	next := SessionList{At: o.At, Sessions: o.Sessions, Began: o.At}
	var seen map[string]time.Time
	if old != nil {
		seen = old.FirstSeen
		if !old.Began.IsZero() {
			next.Began = old.Began
		}
	}
	next.FirstSeen = firstSeen(seen, o)
	t.sessionList = &next
}

// firstSeen tells when each session was first read. While no session comes or
// goes, that is the very map that snapshots show already.
func firstSeen(before map[string]time.Time, o SessionListRead) map[string]time.Time {
	isNew := func(s *Session) bool { _, ok := before[s.ID]; return !ok }
	if len(before) == len(o.Sessions) && !slices.ContainsFunc(o.Sessions, isNew) {
		return before
	}
	seen := make(map[string]time.Time, len(o.Sessions))
	for _, s := range o.Sessions {
		seen[s.ID] = o.At
		if at, ok := before[s.ID]; ok {
			seen[s.ID] = at
		}
	}
	return seen
}

// base is the last segment of a key.
func base(key string) string { return path.Base(key) }
