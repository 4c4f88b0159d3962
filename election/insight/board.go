package insight

import (
	"strings"

	"electop/election"
)

// Board indexes all elections and all sessions, so that evaluating every election takes linear time. It is immutable.
type Board struct {
	keys     map[string]struct{}
	names    map[string]struct{}
	parents  map[string]int // number of elections by parent of their keys
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

// Program identifies the sessions that one program on one node creates.
type Program struct{ Name, Datacenter, Node, checks string }

// NewBoard indexes all watched elections and all sessions of the datacenter. sessions is nil if no sessions were read.
func NewBoard(elections []*election.Election, sessions []*election.Session) *Board {
	b := &Board{
		keys: make(map[string]struct{}, len(elections)), names: make(map[string]struct{}, len(elections)),
		parents: make(map[string]int, len(elections)), led: make(map[string]lead, len(elections)),
		sessions: make(map[string]*election.Session, len(sessions)), orphans: map[Program]int{},
	}
	held := 0
	for _, e := range elections {
		b.keys[e.Key()], b.names[e.Name] = struct{}{}, struct{}{}
		b.parents[election.Parent(e.Key())]++
		if e.Held() {
			l := b.led[e.Pair.Session]
			if l.count == 0 {
				l.first = e.Name
			}
			l.count++
			held++
			b.led[e.Pair.Session] = l
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

// mayBeOrphan reports whether a session has no TTL and a name that identifies a program.
func mayBeOrphan(s *election.Session) bool { return s.TTL == 0 && s.Name != "" && !genericName(s.Name) }

// ProgramOf returns the program that created a session.
func ProgramOf(s *election.Session) Program {
	return Program{Name: s.Name, Datacenter: s.Datacenter, Node: s.Node, checks: strings.Join(s.Checks(), "\x00")}
}

// competes reports whether p is the key of a candidate of e, and not the key of another election or application.
func (b *Board) competes(e *election.Election, p election.Pair) bool {
	parent := election.Parent(e.Key())
	rest, below := strings.CutPrefix(p.Key, parent)
	if !p.Held() || !below || parent == "" || p.Key == e.Key() || !namesLock(base(e.Key())) || namesLock(base(rest)) {
		return false
	}
	folder, _, nested := strings.Cut(rest, "/")
	if nested {
		// Patroni members are candidates even if a pattern selects their keys as elections.
		return strings.Count(rest, "/") == 1 && namesMembers(folder)
	}
	_, watched := b.keys[p.Key]
	return !watched && b.parents[parent] <= 1
}

// namesLock reports whether the last segment of a key is the name of a lock, such as "leader". If it is not, other
// keys under the same parent are probably unrelated.
func namesLock(segment string) bool {
	words := strings.FieldsFunc(segment, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	for _, word := range words {
		switch strings.ToLower(word) {
		case "leader", "lock", "master", "primary", "active", "election", "owner", "mutex", "semaphore", "coordinator":
			return true
		}
	}
	return false
}

func namesMembers(folder string) bool {
	switch strings.ToLower(folder) {
	case "members", "candidates", "contenders", "instances", "nodes", "peers", "workers", "sessions", "hosts", "replicas":
		return true
	}
	return false
}
