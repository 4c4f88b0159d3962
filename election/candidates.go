package election

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Candidate is a session that probably competes for an election. Consul records
// nobody who waits, so this is inferred; Reason says from what.
type Candidate struct {
	Session *Session
	// Name is the best label: of a sibling key its value or last segment,
	// otherwise the session's name.
	Name   string
	Reason string
	// strength orders candidates, stronger reasons first.
	strength int
}

// Reasons for taking a session for a candidate, weakest first.
const (
	weakGeneric = iota
	byNamedElection
	byNamePattern
	bySameName
	bySameService
	byFormerTerm
	bySibling
	byContender
)

// Candidates infers who probably competes for e, the likeliest first. The
// holder itself is not among them. board are all elections that are watched.
func Candidates(e *Election, s *Surroundings, board []*Election) []Candidate {
	if s == nil || s.Key != e.Key() {
		return nil
	}
	c := newInference(e, s, board)
	for _, ses := range s.Sessions {
		if ses.ID == e.Pair.Session && e.Exists {
			continue
		}
		if found, ok := c.judge(ses); ok {
			c.found = append(c.found, found)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	return c.found
}

// inference is what candidates of one election are judged by.
type inference struct {
	e        *Election
	model    *Session // of the holder, or of the last one
	siblings map[string]Pair
	holds    map[string]bool // sessions that hold another election
	found    []Candidate
}

func newInference(e *Election, s *Surroundings, board []*Election) *inference {
	c := &inference{e: e, model: e.Session, siblings: map[string]Pair{}, holds: map[string]bool{}}
	if c.model == nil {
		c.model = e.LastSession
	}
	elections := map[string]bool{}
	for _, other := range board {
		if other.Key() != e.Key() {
			elections[other.Key()] = true
			if other.Exists && other.Pair.Held() {
				c.holds[other.Pair.Session] = true
			}
		}
	}
	for _, p := range s.Siblings {
		if p.Held() && !elections[p.Key] {
			c.siblings[p.Session] = p
		}
	}
	return c
}

func (c *inference) judge(ses *Session) (Candidate, bool) {
	found := Candidate{Session: ses, Name: sessionLabel(ses.ID, ses)}
	if p, ok := c.siblings[ses.ID]; ok {
		return c.bySiblingKey(found, p), true
	}
	if number, ok := c.formerTerm(ses.ID); ok {
		found.strength, found.Reason = byFormerTerm, "led term "+formatUint(number)+" and its session lives on"
		return found, true
	}
	if c.holds[ses.ID] && !sameCheckService(c.model, ses) {
		return found, false // what leads elsewhere competes there
	}
	found.strength, found.Reason = c.resemblance(ses)
	return found, found.Reason != ""
}

func (c *inference) bySiblingKey(found Candidate, p Pair) Candidate {
	found.strength, found.Reason = bySibling, "holds "+Line(p.Key, labelLength)
	if c.e.Pair.Flags == SemaphoreFlag || base(c.e.Key()) == ".lock" {
		found.strength, found.Reason = byContender, "contends with "+Line(p.Key, labelLength)
		return found
	}
	found.Name = Line(base(p.Key), labelLength)
	return found
}

func (c *inference) formerTerm(session string) (uint64, bool) {
	for i := len(c.e.Terms) - 1; i >= 0; i-- {
		if t := c.e.Terms[i]; t.Session == session && t.Over() {
			return t.Number, true
		}
	}
	return 0, false
}

// resemblance compares a session with the one that holds or held the key.
func (c *inference) resemblance(ses *Session) (strength int, reason string) {
	if m := c.model; m != nil {
		switch {
		case sameCheckService(m, ses):
			return bySameService, "bound to a check of the same service: " + Line(strings.Join(ses.ServiceChecks, ", "), labelLength)
		case ses.Name != "" && ses.Name == m.Name && !genericName(ses.Name):
			return bySameName, "its session has the same name"
		case ses.Name != "" && genericName(ses.Name) && ses.Name == m.Name:
			return weakGeneric, "an " + Line(ses.Name, labelLength) + " session that leads nothing here; it may wait for another key"
		case nameShape(ses) != "" && nameShape(ses) == nameShape(m):
			return byNamePattern, "its session's name has the same pattern: " + Line(ses.Name, labelLength)
		}
	}
	if namesElection(ses.Name, c.e.Name) {
		return byNamedElection, "its session's name names the election: " + Line(ses.Name, labelLength)
	}
	return 0, ""
}

// genericName reports names that libraries give to every session.
func genericName(name string) bool {
	return name == "Consul API Lock" || name == "Consul API Semaphore" || name == "Vault Lock"
}

// namesElection reports whether the election's name is a word of the session's.
func namesElection(session, election string) bool {
	if election == "" || len(election) < 3 {
		return false
	}
	words := strings.FieldsFunc(session, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '/'
	})
	for _, word := range words {
		if word == election || strings.HasPrefix(word, election+"-") || strings.HasPrefix(word, election+"_") {
			return true
		}
	}
	return false
}

// nameShape is a session's name without what differs from host to host: its
// node's name and runs of digits. A name that is nothing else has no shape.
func nameShape(s *Session) string {
	if genericName(s.Name) {
		return ""
	}
	name := s.Name
	if s.Node != "" {
		name = strings.ReplaceAll(name, s.Node, "\x00")
	}
	shape := digitRuns(name)
	if strings.IndexFunc(shape, unicode.IsLetter) < 0 {
		return ""
	}
	return shape
}

// digitRuns replaces each run of digits by one mark.
func digitRuns(text string) string {
	var b strings.Builder
	digits := false
	for _, r := range text {
		if !unicode.IsDigit(r) {
			b.WriteRune(r)
		} else if !digits {
			b.WriteByte('#')
		}
		digits = unicode.IsDigit(r)
	}
	return b.String()
}

// sameCheckService reports whether both sessions depend on a check of the same
// service: check ids that differ in digits or in the name of the node only.
func sameCheckService(a, b *Session) bool {
	if a == nil || b == nil {
		return false
	}
	for _, x := range a.ServiceChecks {
		for _, y := range b.ServiceChecks {
			if checkShape(x, a.Node) == checkShape(y, b.Node) {
				return true
			}
		}
	}
	return false
}

func checkShape(id, node string) string {
	if node != "" {
		id = strings.ReplaceAll(id, node, "\x00")
	}
	return digitRuns(id)
}
