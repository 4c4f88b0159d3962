package insight

import (
	"slices"
	"strings"

	"electop/election"
)

// Board is what candidates and advice need to know of all elections and all
// sessions, put in order once, so that thousands of elections can be judged one
// after the other. It is immutable.
type Board struct {
	keys     map[string]struct{}
	names    map[string]struct{}
	parents  map[string]int // how many elections stand side by side
	led      map[string]lead
	sessions map[string]*election.Session
	orphans  map[kin]int
	// usualLead is how many elections the median session leads.
	usualLead int
}

// minUsual is how many sessions must lead before it can be told what is usual.
const minUsual = 3

// lead is what a session leads.
type lead struct {
	count int
	first string // name of the first election, in the order of keys
}

// kin are sessions that one program on one node makes again and again.
type kin struct{ name, node, checks string }

// NewBoard puts elections (all that are watched) and sessions (all of the
// datacenter, nil when they were not read) in order.
func NewBoard(elections []*election.Election, sessions []*election.Session) *Board {
	b := &Board{
		keys: make(map[string]struct{}, len(elections)), names: make(map[string]struct{}, len(elections)),
		parents: make(map[string]int, len(elections)), led: make(map[string]lead, len(elections)),
		sessions: make(map[string]*election.Session, len(sessions)), orphans: map[kin]int{},
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
			b.orphans[kinOf(s)]++
		}
	}
	return b
}

// mayBeOrphan leaves out sessions that end by themselves and names that say
// nothing about the program that made them.
func mayBeOrphan(s *election.Session) bool { return s.TTL == 0 && s.Name != "" && !genericName(s.Name) }

func kinOf(s *election.Session) kin {
	return kin{name: s.Name, node: s.Node, checks: strings.Join(s.Checks(), "\x00")}
}

// median is 1 where few sessions lead: nothing is usual there.
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

// competes reports whether a key that stands beside e's belongs to a candidate
// of e, and not to an election or an application of its own.
func (b *Board) competes(e *election.Election, p election.Pair) bool {
	parent := election.Parent(e.Key())
	rest, below := strings.CutPrefix(p.Key, parent)
	if !p.Held() || !below || parent == "" || p.Key == e.Key() || !namesLock(base(e.Key())) || namesLock(base(rest)) {
		return false
	}
	folder, _, nested := strings.Cut(rest, "/")
	if nested {
		// Members stay members under a pattern that takes their keys for elections.
		return strings.Count(rest, "/") == 1 && namesMembers(folder)
	}
	_, watched := b.keys[p.Key]
	return !watched && b.parents[parent] <= 1
}

// namesLock reports whether a key's last segment says that it is a lock: what
// stands beside "leader" is about that leader, what stands beside "web" may be
// about anything.
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
