package election

import (
	"encoding/json"
	"maps"
	"slices"
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
	if s == nil || s.Key != e.Key() {
		s = &Surroundings{SiblingsCut: true}
	}
	sessions, contends := ByID(s.Sessions), map[string]bool{}
	sem := &Semaphore{Limit: slots.Limit, Holders: []SemaphoreHolder{}, Waiters: []SemaphoreHolder{}, ContendersKnown: s.SiblingsErr == "" && !s.SiblingsCut}
	for _, p := range s.Siblings {
		if sem.ContendersKnown && p.Held() && p.Key == Parent(e.Key())+p.Session {
			contends[p.Session] = true
		}
	}
	describe := func(id string, gone bool) SemaphoreHolder { // an ID from the key's value may be any text
		h := SemaphoreHolder{Session: Label(id), Gone: gone}
		if ses := sessions[id]; ses != nil {
			h.Name, h.Node = Label(ses.Name), Label(ses.Node)
		}
		return h
	}
	for _, id := range slots.Holders {
		sem.Holders = append(sem.Holders, describe(id, sem.ContendersKnown && !contends[id]))
		delete(contends, id)
	}
	for _, id := range slices.Sorted(maps.Keys(contends)) {
		sem.Waiters = append(sem.Waiters, describe(id, false))
	}
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
