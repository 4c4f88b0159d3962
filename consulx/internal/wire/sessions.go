package wire

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// Sessions decodes lists of sessions (GET /v1/session/list). It keeps the previous list, because an idle dashboard with
// 10,000 sessions would otherwise decode the same text repeatedly (BenchmarkSessions). It is safe for concurrent use.
type Sessions struct {
	mu   sync.Mutex
	seed maphash.Seed
	sum  uint64 // hash of the text of list
	list []*election.Session
}

// Decode decodes a list of the sessions of a datacenter. The caller may change the slice, but not the sessions.
func (s *Sessions) Decode(text []byte, datacenter string) ([]*election.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.seed = maphash.MakeSeed()
	}
	sum := maphash.Bytes(s.seed, text)
	if s.list != nil && sum == s.sum {
		return slices.Clone(s.list), nil
	}
	var entries []*api.SessionEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, err
	}
	if slices.Contains(entries, nil) {
		return nil, errors.New("the list of sessions contains null")
	}
	s.sum, s.list = sum, make([]*election.Session, len(entries))
	for i, entry := range entries {
		s.list[i] = Session(entry, datacenter)
	}
	return slices.Clone(s.list), nil
}
