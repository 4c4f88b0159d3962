package insight

import (
	"slices"
	"strings"

	"electop/election"
)

// Board indexes all elections and all sessions for candidates and advice, so that
// thousands of elections are evaluated in linear time. It is immutable.
type Board struct {
	keys     map[string]struct{}
	names    map[string]struct{}
	parents  map[string]int // number of elections by parent of their keys
	led      map[string]lead
	sessions map[string]*election.Session
	orphans  map[Program]int
	// usualLead is the median number of elections per leading session.
	usualLead int
}

// minUsual is the number of leading sessions from which the median is meaningful.
const minUsual = 3

// lead contains the elections that a session leads.
type lead struct {
	count int
	first string // name of the first election, in the order of keys
}

// Program identifies sessions that the same program on the same node creates repeatedly.
type Program struct{ Name, Node, checks string }

// NewBoard indexes all watched elections and all sessions of the datacenter, nil if
// these were not read.
func NewBoard(elections []*election.Election, sessions []*election.Session) *Board {
	b := &Board{
		keys: make(map[string]struct{}, len(elections)), names: make(map[string]struct{}, len(elections)),
		parents: make(map[string]int, len(elections)), led: make(map[string]lead, len(elections)),
		sessions: make(map[string]*election.Session, len(sessions)), orphans: map[Program]int{},
	}
	for _, e := range elections {
		b.keys[e.Key()], b.names[e.Name] = struct{}{}, struct{}{}
		b.parents[election.Parent(e.Key())]++
		if e.Exists && e.Pair.Held() {
			l := b.led[e.Pair.Session]
			if l.count == 0 {
				l.first = e.Name
			}
			l.count++
			b.led[e.Pair.Session] = l
		}
	}
	b.usualLead = median(b.led)
	for _, s := range sessions {
		b.sessions[s.ID] = s
		if b.led[s.ID].count == 0 && mayBeOrphan(s) {
			b.orphans[ProgramOf(s)]++
		}
	}
	return b
}

// mayBeOrphan excludes sessions that expire and names that do not identify a
// program.
func mayBeOrphan(s *election.Session) bool { return s.TTL == 0 && s.Name != "" && !genericName(s.Name) }

// ProgramOf returns the program of a session.
func ProgramOf(s *election.Session) Program {
	return Program{Name: s.Name, Node: s.Node, checks: strings.Join(s.Checks(), "\x00")}
}

// median is 1 if there are too few sessions for a meaningful median.
func median(led map[string]lead) int {
	if len(led) < minUsual {
		return 1
	}
	counts := make([]int, 0, len(led))
	for _, l := range led {
		counts = append(counts, l.count)
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// competes reports whether a key with the same parent belongs to a candidate of e,
// and not to another election or application.
func (b *Board) competes(e *election.Election, p election.Pair) bool {
	parent := election.Parent(e.Key())
	rest, below := strings.CutPrefix(p.Key, parent)
	if !p.Held() || !below || parent == "" || p.Key == e.Key() || !namesLock(base(e.Key())) || namesLock(base(rest)) {
		return false
	}
	folder, _, nested := strings.Cut(rest, "/")
	if nested {
		// Members are candidates even if a pattern also matches their keys as
		// elections.
		return strings.Count(rest, "/") == 1 && namesMembers(folder)
	}
	_, watched := b.keys[p.Key]
	return !watched && b.parents[parent] <= 1
}

// namesLock reports whether the last segment of a key names a lock: keys next to
// "leader" concern that leader, keys next to "web" may concern anything.
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
