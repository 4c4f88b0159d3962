package insight

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
)

// Candidate is a session that probably competes for an election. Consul does not
// record waiters, so this is inferred; Reason says from what.
type Candidate struct {
	// Session holds nothing but its ID when the sessions could not be read.
	Session *election.Session
	// Name is the best label: of a sibling key its last segment, of a service its
	// check, otherwise the session's name and node.
	Name   string
	Reason string
	// Weak marks a reason that may as well be one to compete for another key.
	Weak bool
	// strength orders candidates, stronger reasons first.
	strength int
}

// Reasons for taking a session for a candidate, weakest first. Those without a
// note are unproven: likenesses that were not compared with what waits.
const (
	byNodeName = iota + 1
	byGenericName
	byNamedElection // measured for consul lock, whose session names the path
	byNamePattern
	bySameName
	bySameService
	byFormerTerm
	bySibling   // measured for Patroni's members
	byContender // measured for api.Semaphore, whose contenders hold a key each
)

// maxWeak is how many sessions may be candidates for weak reasons only: a reason
// that fits a crowd says nothing about one of it. The number is unproven.
const maxWeak = 8

// Likely counts the candidates with a reason that is not weak.
func Likely(all []Candidate) int {
	n := 0
	for _, c := range all {
		if !c.Weak {
			n++
		}
	}
	return n
}

type candidateJSON struct {
	Name    string            `json:"name"`
	Reason  string            `json:"reason"`
	Weak    bool              `json:"weak"`
	Session *election.Session `json:"session"`
}

// MarshalJSON writes the candidate as `electop show -o json` does.
func (c Candidate) MarshalJSON() ([]byte, error) {
	return json.Marshal(candidateJSON{Name: c.Name, Reason: c.Reason, Weak: c.Weak, Session: c.Session})
}

// Candidates infers who probably competes for e, the likeliest first. The
// holder itself is not among them. board are all elections that are watched. To
// ask again and again, use [NewBoard] and [Board.Candidates].
func Candidates(e *election.Election, s *election.Surroundings, board []*election.Election) []Candidate {
	return NewBoard(board, nil).Candidates(e, s)
}

// Candidates infers who probably competes for one election of the board, the
// likeliest first, from its surroundings. Those of another election and nil say
// nothing.
func (b *Board) Candidates(e *election.Election, s *election.Surroundings) []Candidate {
	if s == nil || s.Key != e.Key() {
		return nil
	}
	c := newInference(e, s, b)
	for _, ses := range s.Sessions {
		if found, ok := c.judge(ses); ok {
			c.found = append(c.found, found)
		}
	}
	c.addUnread(s)
	slices.SortStableFunc(c.found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	return withoutCrowd(c.found)
}

// withoutCrowd drops weak candidates where better ones are known, and where
// there are too many.
func withoutCrowd(sorted []Candidate) []Candidate {
	likely := Likely(sorted)
	if likely > 0 || len(sorted) > maxWeak {
		return sorted[:likely:likely]
	}
	return sorted
}

// inference is what candidates of one election are judged by.
type inference struct {
	e        *election.Election
	board    *Board
	model    *election.Session // of the holder, or of the last one
	siblings map[string]election.Pair
	holding  map[string]bool // slots of a semaphore
	found    []Candidate
}

func newInference(e *election.Election, s *election.Surroundings, b *Board) *inference {
	c := &inference{e: e, board: b, model: e.Session, siblings: map[string]election.Pair{}, holding: map[string]bool{}}
	if c.model == nil {
		c.model = e.LastSession
	}
	for _, p := range s.Siblings {
		if _, known := c.siblings[p.Session]; !known && b.competes(e, p) {
			c.siblings[p.Session] = p
		}
	}
	for id, holds := range election.SemaphoreHolders(e) {
		c.holding[id] = holds
	}
	return c
}

func (c *inference) holds(session string) bool {
	return c.e.Exists && session == c.e.Pair.Session || c.holding[session]
}

func (c *inference) judge(ses *election.Session) (found Candidate, ok bool) {
	if c.holds(ses.ID) {
		return found, false
	}
	found = Candidate{Session: ses, Name: election.SessionLabel(ses.ID, ses)}
	if p, ok := c.siblings[ses.ID]; ok {
		return c.bySiblingKey(found, p), true
	}
	if c.e.IsSemaphore() {
		return found, false // who contends leaves a key, always
	}
	if c.ledBefore(ses.ID) {
		found.strength, found.Reason = byFormerTerm, "led before, and its session lives on"
		return found, true
	}
	found.strength, found.Reason = c.resemblance(ses)
	if found.strength == bySameService {
		found.Name = serviceLabel(ses)
	}
	if elsewhere := c.board.led[ses.ID]; elsewhere.count > 0 {
		if found.strength != bySameService {
			return found, false // what leads elsewhere competes there
		}
		found.Reason += "; it leads " + sanitize.Line(elsewhere.first, election.LabelLength)
	}
	found.Weak = found.strength < byNamedElection
	return found, found.Reason != ""
}

// serviceLabel names a session by its service, which says more than a name that
// all of its kind share.
func serviceLabel(s *election.Session) string {
	label := sanitize.Line(strings.TrimPrefix(s.ServiceChecks[0], "service:"), election.LabelLength)
	if label == "" {
		return election.SessionLabel(s.ID, s)
	}
	return label + " on " + sanitize.Line(s.Node, election.LabelLength)
}

// addUnread adds the siblings whose sessions could not be read: that they hold
// a key is enough.
func (c *inference) addUnread(s *election.Surroundings) {
	if s.SessionsErr == "" {
		return
	}
	unread := maps.Clone(c.siblings)
	for _, ses := range s.Sessions {
		delete(unread, ses.ID)
	}
	for id, p := range unread {
		if !c.holds(id) {
			found := Candidate{Session: &election.Session{ID: id}, Name: election.SessionLabel(id, nil)}
			c.found = append(c.found, c.bySiblingKey(found, p))
		}
	}
}

func (c *inference) bySiblingKey(found Candidate, p election.Pair) Candidate {
	if base(p.Key) == p.Session {
		found.strength, found.Reason = byContender, "contends with "+sanitize.Line(p.Key, election.LabelLength)
		return found
	}
	found.strength, found.Reason = bySibling, "holds "+sanitize.Line(p.Key, election.LabelLength)
	found.Name = sanitize.Line(base(p.Key), election.LabelLength)
	return found
}

func (c *inference) ledBefore(session string) bool {
	return slices.ContainsFunc(c.e.Terms, func(t election.Term) bool { return t.Session == session && t.Over() })
}

// resemblance compares a session with the one that holds or held the key.
func (c *inference) resemblance(ses *election.Session) (strength int, reason string) {
	if strength, reason = c.likeModel(ses); strength > byNamedElection {
		return strength, reason
	}
	for _, text := range append([]string{ses.Name}, ses.ServiceChecks...) {
		if c.board.namedAfter(text, c.e) {
			return byNamedElection, "named after the election: " + sanitize.Line(text, election.LabelLength)
		}
	}
	return strength, reason
}

func (c *inference) likeModel(ses *election.Session) (strength int, reason string) {
	m := c.model
	switch {
	case m == nil:
		return 0, ""
	case sameCheckService(m, ses):
		return bySameService, "bound to a check of the same service: " + sanitize.Line(strings.Join(ses.ServiceChecks, ", "), election.LabelLength)
	case ses.Name == "":
		return 0, ""
	case genericName(ses.Name):
		if ses.Name == m.Name && sameSettings(m, ses) {
			return byGenericName, sanitize.Line(ses.Name, election.LabelLength) + " session that leads nothing here; it may wait for another key"
		}
	case ses.Name == ses.Node && m.Name == m.Node:
		if sameSettings(m, ses) {
			return byNodeName, "named after its node, as the leader's session is; it may wait for another key"
		}
	case ses.Name == m.Name:
		return bySameName, "its session has the same name"
	case shape(ses.Name, ses.Node) != "" && shape(ses.Name, ses.Node) == shape(m.Name, m.Node):
		return byNamePattern, "its session's name has the same pattern: " + sanitize.Line(ses.Name, election.LabelLength)
	}
	return 0, ""
}
