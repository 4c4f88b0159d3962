package election

import (
	"strings"
	"time"
)

// Surroundings are the keys and sessions around one election, from which
// candidates, semaphores and advice are inferred.
type Surroundings struct {
	At  time.Time
	Key string
	// Siblings are the other keys under the same parent as Key (see [Parent]).
	// SiblingsErr is why they could not be read; SiblingsCut is set if there are
	// more.
	Siblings    []Pair
	SiblingsErr string
	SiblingsCut bool
	// Sessions are all sessions of the datacenter, SessionsErr is why they could
	// not be read.
	Sessions    []*Session
	SessionsErr string
}

// Parent returns the prefix under which candidates may create keys of their own:
// everything up to the last "/", "" for a key without one.
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}
