package election

import (
	"encoding/json"
	"slices"
	"strings"

	"electop/election/sanitize"
)

// Semaphore is the content of a semaphore's key, which has up to Limit holders instead of a leader (Consul's
// api/semaphore.go).
type Semaphore struct {
	Limit   int               `json:"limit"`
	Holders []SemaphoreHolder `json:"holders"`
	// Waiters are contenders that hold no slot.
	Waiters []SemaphoreHolder `json:"waiters"`
	// ContendersKnown is set if the keys of the contenders were read. Otherwise Waiters is empty, and Gone is
	// unknown.
	ContendersKnown bool `json:"contenders_known"`
}

// SemaphoreHolder is a session that holds a slot or waits for one.
type SemaphoreHolder struct {
	Session string `json:"session"`
	Name    string `json:"name,omitempty"`
	Node    string `json:"node,omitempty"`
	// Gone is set if the session no longer holds its contender key. The slot is then free.
	Gone bool `json:"gone"`
}

// IsSemaphore reports whether the key belongs to a semaphore.
func (e *Election) IsSemaphore() bool { return e.Exists && e.Pair.Flags == SemaphoreFlag }

// ReadSemaphore decodes a semaphore's key, and the contenders if s contains them. It returns nil if the key does not
// belong to a semaphore or its value is invalid. All strings in the result are safe to print.
func ReadSemaphore(e *Election, s *Surroundings) *Semaphore {
	slots, ok := e.Pair.Slots()
	if !ok || !e.Exists {
		return nil
	}
	sem := &Semaphore{Limit: slots.Limit, Holders: []SemaphoreHolder{}, Waiters: []SemaphoreHolder{}}
	sessions, contends := contenders(e, s)
	sem.ContendersKnown = contends != nil
	for _, id := range slots.Holders {
		h := describeHolder(id, sessions)
		h.Gone = contends != nil && !contends[id]
		sem.Holders = append(sem.Holders, h)
	}
	for id := range contends {
		if _, holds := slices.BinarySearch(slots.Holders, id); !holds {
			sem.Waiters = append(sem.Waiters, describeHolder(id, sessions))
		}
	}
	slices.SortFunc(sem.Waiters, func(a, b SemaphoreHolder) int { return strings.Compare(a.Session, b.Session) })
	return sem
}

// Live counts the holders that are not Gone.
func (s *Semaphore) Live() int {
	n := 0
	for _, h := range s.Holders {
		if !h.Gone {
			n++
		}
	}
	return n
}

// contenders returns all sessions by ID, and the IDs of the sessions that hold a contender key. contends is nil if the
// contender keys were not read.
func contenders(e *Election, s *Surroundings) (sessions map[string]*Session, contends map[string]bool) {
	if s == nil || s.Key != e.Key() {
		return nil, nil
	}
	sessions = make(map[string]*Session, len(s.Sessions))
	for _, ses := range s.Sessions {
		sessions[ses.ID] = ses
	}
	if s.SiblingsErr != "" || s.SiblingsCut {
		return sessions, nil
	}
	contends = map[string]bool{}
	for _, p := range s.Siblings {
		if p.Held() && p.Key == Parent(e.Key())+p.Session {
			contends[p.Session] = true
		}
	}
	return sessions, contends
}

// describeHolder returns a holder with the name and node of its session. The ID comes from the key's value and may be
// arbitrary text.
func describeHolder(id string, sessions map[string]*Session) SemaphoreHolder {
	h := SemaphoreHolder{Session: sanitize.Line(id, LabelLength)}
	if s := sessions[id]; s != nil {
		h.Name, h.Node = sanitize.Line(s.Name, LabelLength), sanitize.Line(s.Node, LabelLength)
	}
	return h
}

// OfSemaphore reports whether the key belongs to a semaphore: it has a semaphore's flags, and no session holds the
// key itself.
func (p *Pair) OfSemaphore() bool { return p.Flags == SemaphoreFlag && !p.Held() }

// Slots contains the slots of a semaphore according to its key.
type Slots struct {
	Limit int
	// Holders contains the IDs of the sessions that hold a slot, sorted.
	Holders []string
}

// Slots decodes a semaphore's key. ok is false if the key does not belong to a semaphore or its value is invalid.
func (p *Pair) Slots() (s Slots, ok bool) {
	var value struct {
		Limit   int
		Holders map[string]bool
	}
	if !p.OfSemaphore() || json.Unmarshal(p.Value, &value) != nil {
		return Slots{}, false
	}
	s.Limit = value.Limit
	for id, holds := range value.Holders {
		if holds {
			s.Holders = append(s.Holders, id)
		}
	}
	slices.Sort(s.Holders)
	return s, true
}
