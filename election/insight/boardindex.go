package insight

import (
	"strings"
	"sync"

	"electop/election"
)

// Board indexes all elections and all sessions, so that evaluating every election takes linear time. It is immutable.
type Board struct {
	all      []*election.Election       // sorted by key
	names    func() map[string]struct{} // of all
	led      map[string]lead
	sessions map[string]*election.Session
	orphans  map[Program]int
	// usualLead is the mean number of elections per leading session, or 1 for fewer than minUsual sessions.
	usualLead int
	checks    map[string]election.NodeChecks // by node
}

// WithChecks returns a copy that also uses the known health checks of the datacenter, by node.
func (b *Board) WithChecks(checks map[string]election.NodeChecks) *Board {
	n := *b
	n.checks = checks
	return &n
}

// minUsual is the minimum number of leading sessions for a meaningful mean.
const minUsual = 3

// lead describes the elections that one session leads.
type lead struct {
	count int
	first string // name of the election with the first key
}

// NewBoard indexes all watched elections, sorted by key, and all sessions of the datacenter. sessions is nil if no sessions were read.
func NewBoard(elections []*election.Election, sessions []*election.Session) *Board {
	b := &Board{
		all: elections, led: map[string]lead{}, sessions: make(map[string]*election.Session, len(sessions)), orphans: map[Program]int{},
		names: sync.OnceValue(func() map[string]struct{} {
			names := make(map[string]struct{}, len(elections))
			for _, e := range elections {
				names[e.Name] = struct{}{}
			}
			return names
		}),
	}
	held := 0
	for _, e := range elections {
		if e.Held() {
			id := strings.ToLower(e.Pair.Session) // see [election.Pair.HeldBy]
			l := b.led[id]
			if l.count == 0 {
				l.first = e.Name
			}
			l.count++
			held++
			b.led[id] = l
		}
	}
	if b.usualLead = 1; len(b.led) >= minUsual {
		b.usualLead = held / len(b.led)
	}
	for _, s := range sessions {
		b.sessions[s.ID] = s
		if b.led[s.ID].count == 0 && mayBeOrphan(s) {
			b.orphans[ProgramOf(s)]++
		}
	}
	return b
}
