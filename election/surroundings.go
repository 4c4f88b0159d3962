package election

import (
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

// Parent is the part of a key under which its candidates may leave keys of their
// own: everything up to the last "/", "" for a key without one.
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}
