package election

import (
	"strings"
	"time"

	"electop/election/sanitize"
)

// Surroundings contains the keys and sessions from which electop infers the candidates, the semaphore and the advice
// for one election.
type Surroundings struct {
	At  time.Time
	Key string
	// Siblings are the other keys under the same parent as Key (see [Parent]). SiblingsErr is the reason why the read
	// failed. SiblingsCut is set if the list is truncated.
	Siblings    []Pair
	SiblingsErr string
	SiblingsCut bool
	// Sessions are all sessions of the datacenter. SessionsErr is the reason why the read failed.
	Sessions    []*Session
	SessionsErr string
}

// Unread returns the errors of the parts that could not be read, safe to print.
func (s *Surroundings) Unread() []string {
	if s == nil {
		return nil
	}
	var all []string
	for _, text := range []string{s.SiblingsErr, s.SessionsErr} {
		if text != "" {
			all = append(all, sanitize.Line(text, 200))
		}
	}
	return all
}

// Parent returns the prefix of the keys that candidates may create: the key up to its last "/", or "" if the key has
// no "/".
func Parent(key string) string {
	i := strings.LastIndexByte(key, '/')
	return key[:i+1]
}
