package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"electop/election"
)

// Candidate is a session that probably competes for an election. Consul does not record waiters, so candidates are
// inferred.
type Candidate struct {
	// Name is the most specific label: the last segment of a sibling key, else the service of a check, else the
	// session's name and node.
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Weak is set if the Reason also applies to sessions that compete for other keys.
	Weak bool `json:"weak"`
	// Exact is set if it is a fact that the session competes: its key is in a queue or belongs to a contender of a
	// semaphore or to a member of Patroni.
	Exact   bool              `json:"exact"`
	Session *election.Session `json:"session"`
	// strength is the sort order; candidates with stronger reasons come first.
	strength int
}

// Reasons for a candidate, weakest first. Only reasons with a comment were confirmed by measurements.
const (
	byNodeName = iota + 1
	byGenericName
	byNamedElection // confirmed for consul lock, whose session name contains the path
	byNamePattern
	bySameName
	bySameService
	byFormerTerm
	bySibling   // confirmed for Patroni's members
	byContender // confirmed for api.Semaphore: each contender holds a separate key
)

// maxWeak is the maximum number of candidates that have only weak reasons. A reason that applies to many sessions
// does not identify a candidate. The value is an estimate.
const maxWeak = 8

// Likely counts the candidates of an election that are not weak. It returns -1 if the number is unknown.
func Likely(e *election.Election, all []Candidate, around *election.Surroundings) int {
	n := strong(all)
	if e.Pair.Queue == nil && (around == nil || n == 0 && (len(all) > 0 || e.Store.Leases || len(around.Unread()) > 0 || lacksModel(e, around))) {
		return -1
	}
	return n
}

// lacksModel reports whether there are sessions and only a label with which to compare them: a history stores the sessions of
// leaders only in checkpoints. Any session may then be that of a candidate.
func lacksModel(e *election.Election, around *election.Surroundings) bool {
	return e.Session == nil && e.LastSession == nil && e.LastTerm() != nil && len(around.Sessions) > 0
}

// Text names a candidate and its node.
func (c Candidate) Text() string { return election.Holder{Leader: c.Name, Node: c.Session.Node}.Text() }

// Names names at most limit candidates, and counts the others. If one has the same name and node as another or as the leader,
// it adds their sessions.
func Names(all []Candidate, limit int, leader ...string) string {
	names, alike := election.Map(all, Candidate.Text), map[string]int{}
	for _, name := range append(names, leader...) {
		alike[name]++
	}
	for i, c := range all {
		if alike[c.Text()] > 1 {
			names[i] += " (" + election.ShortID(c.Session.ID) + ")"
		}
	}
	text := election.NameList(names, limit)
	if len(all) > 0 && all[0].Weak {
		return "perhaps " + text
	}
	return text
}

// strong counts the candidates that are not weak. They precede the weak candidates.
func strong(sorted []Candidate) int {
	if i := slices.IndexFunc(sorted, func(c Candidate) bool { return c.Weak }); i >= 0 {
		return i
	}
	return len(sorted)
}

// NoCandidate explains why no candidate is known.
func NoCandidate(e *election.Election, around *election.Surroundings) string {
	if unread := around.Unread(); len(unread) > 0 {
		return "unknown: " + strings.Join(unread, "; ")
	}
	if lacksModel(e, around) {
		return "unknown: the last leader's session was not read"
	}
	return "no candidate was seen among " + election.Plural(len(around.Sessions), "session")
}

// searchLimit is the maximum number of comparisons between an election and a session in [WithoutCandidates].
const searchLimit = 10_000_000

// WithoutCandidates returns the elections that newly have neither a leader nor a candidate, although candidates had time to
// retry, and whose flags no candidate rejects. Only one election has siblings: elsewhere, a waiting client either acquires the
// vacant key or has a session that is named after the key.
func WithoutCandidates(all []*election.Election, around *election.Surroundings) (none []*election.Election) {
	if !slices.ContainsFunc(all, Searchable) {
		return nil // an index of all elections is expensive
	}
	b, left := NewBoard(all, nil), searchLimit
	for _, e := range all {
		if !Searchable(e) {
			continue
		}
		if left -= len(around.Sessions); left < 0 {
			break
		}
		found := *around
		if key := e.Key(); key != around.Key {
			found.Key, found.Siblings, found.SiblingsErr = key, nil, ""
		}
		likely := b.Candidates(e, &found)
		if weak := len(likely) > 0 && likely[0].Weak && len(found.Unread()) == 0; (weak || Likely(e, likely, &found) == 0) &&
			b.Fix(e, Facts{Now: around.At, Around: &found}).Code == NoCandidates {
			none = append(none, e)
		}
	}
	return none
}

// Searchable reports whether [WithoutCandidates] searches for candidates of an election.
func Searchable(e *election.Election) bool {
	return !e.Held() && !e.IsSemaphore() && !e.Recorded() && !e.Unreadable && !e.Candidateless
}

// Candidates returns the sessions that probably compete for one election, most likely first, or the sessions of a queue in
// their order. It returns nil if the election is no queue and s is nil or belongs to another election.
func (b *Board) Candidates(e *election.Election, s *election.Surroundings) (found []Candidate) {
	for i, w := range e.Pair.Queue {
		if w.Session != "" {
			found = append(found, Candidate{
				Name: w.Name, Exact: true, Reason: fmt.Sprintf("number %d in the queue since revision %d", i+1, w.Revision), Session: &election.Session{ID: w.Session},
			})
		}
	}
	if e.Pair.Queue != nil {
		return found
	}
	if s == nil || s.Key != e.Key() {
		return nil
	}
	c := b.infer(e, s)
	for _, ses := range s.Sessions {
		if candidate, ok := c.judge(ses); ok {
			found = append(found, candidate)
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	if likely := strong(found); likely > 0 || len(found) > maxWeak { // then the weak candidates are noise
		return found[:likely:likely]
	}
	return found
}

// inference collects the candidates of one election.
type inference struct {
	*election.Election
	*Board
	model    *election.Session // session of the current leader or, without a leader, of the last leader
	pattern  string            // the model's name in the form that Shape returns
	named    bool              // the model is named after the election
	around   *election.Surroundings
	siblings map[string]election.Pair
	holding  map[string]bool // sessions that hold a slot of the semaphore, by session ID
	failed   uint64          // candidates with an older session have failed
}

func (b *Board) infer(e *election.Election, s *election.Surroundings) *inference {
	c := &inference{Election: e, Board: b, model: e.Session, around: s, siblings: map[string]election.Pair{}, holding: map[string]bool{}, failed: replacedLockFlags(e)}
	if c.model == nil {
		c.model = e.LastSession
	}
	if last := e.LastTerm(); lacksModel(e, s) {
		c.model = &election.Session{Name: strings.TrimSuffix(last.Leader, " on "+election.Label(last.Node)), Node: last.Node}
	}
	if m := c.model; m != nil {
		c.pattern, c.named = Shape(m.Name, m.Node), b.namedAfter(m.Name, e)
	}
	for _, p := range s.Siblings {
		if _, known := c.siblings[p.Session]; !known && b.competes(e, p) {
			c.siblings[p.Session] = p
		}
	}
	if slots, ok := e.Pair.Slots(); ok && e.Exists {
		for _, id := range slots.Holders {
			c.holding[id] = true
		}
	}
	return c
}

func (c *inference) judge(ses *election.Session) (found Candidate, ok bool) {
	last := c.LastTerm()
	ended := last != nil && !c.Pair.Held() && strings.EqualFold(last.Session, ses.ID) && (last.Cause == "" || last.Cause.EndsSession()) // the list may be older than the loss
	if c.holding[ses.ID] || c.Exists && c.Pair.HeldBy(ses.ID) || ended || c.around.HasFailed(ses.Node) || ses.CreateIndex < c.failed {
		return found, false
	}
	found = Candidate{Session: ses, Name: election.SessionLabel(ses.ID, ses)}
	if p, ok := c.siblings[ses.ID]; ok {
		key := election.Label(p.Key)
		found.Exact, found.strength, found.Reason = true, byContender, "holds the contender key "+key
		if base(p.Key) != p.Session {
			found.Name, found.Exact, found.strength, found.Reason = election.Label(base(p.Key)), isPatroniMemberValue(p.Value), bySibling, "holds "+key
		}
		return found, true
	}
	if c.IsSemaphore() {
		return found, false // every contender of a semaphore holds a separate key
	}
	for _, t := range slices.Backward(c.Terms) {
		if t.Session == ses.ID && t.Over() {
			found.Name, found.strength, found.Reason = cmp.Or(t.Leader, found.Name), byFormerTerm, "former leader whose session still exists"
			return found, true
		}
	}
	found.strength, found.Reason = c.resemblance(ses)
	if found.strength == bySameService {
		// The service is more specific than a name that all sessions of a client share.
		found.Name = election.Label(strings.TrimPrefix(ses.ServiceChecks[0], "service:")) + " on " + election.Label(ses.Node)
	}
	if elsewhere := c.led[ses.ID]; elsewhere.count > 0 {
		if found.strength != bySameService {
			return found, false // the session competes for the election that it leads
		}
		found.Reason += "; it leads " + election.Label(elsewhere.first)
	}
	found.Weak = found.strength < byNamedElection
	return found, found.Reason != ""
}

// resemblance compares a session with the session of the current or last holder, and with the name of the election.
func (c *inference) resemblance(ses *election.Session) (strength int, reason string) {
	if strength, reason = c.likeModel(ses); strength > byNamedElection {
		return strength, reason
	}
	for _, text := range append([]string{ses.Name}, ses.ServiceChecks...) {
		if c.namedAfter(text, c.Election) {
			reason = "named after the election: " + election.Label(text)
			if m := c.model; m != nil && m.ID != "" && !sameSettings(m, ses) {
				return byGenericName, reason + ", but with other settings than the leader's session"
			}
			return byNamedElection, reason
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
		return bySameService, "bound to a check of the leader's service: " + election.Label(strings.Join(ses.ServiceChecks, ", "))
	case ses.Name == "":
		return 0, ""
	case genericName(ses.Name):
		if ses.Name == m.Name && sameSettings(m, ses) {
			return byGenericName, election.Label(ses.Name) + " session that leads no watched election; it may be waiting for another key"
		}
	case ses.Name == ses.Node && m.Name == m.Node:
		if sameSettings(m, ses) {
			return byNodeName, "named after its node, like the leader's session; it may be waiting for another key"
		}
	case ses.Name == m.Name && m.ID != "" && !sameSettings(m, ses): // the settings of a model without an ID are unknown
		return byGenericName, election.Label(ses.Name) + " session with other settings than the leader's; it may be waiting for another key"
	case ses.Name == m.Name:
		return bySameName, "its session has the same name as the leader's session"
	case c.named && !c.namedAfter(ses.Name, c.Election):
		return 0, "" // the client names its sessions after their elections
	case c.pattern != "" && Shape(ses.Name, ses.Node) == c.pattern:
		return byNamePattern, "named like the leader's session: " + election.Label(ses.Name)
	}
	return 0, ""
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
		return strings.Count(rest, "/") == 1 && slices.Contains(
			[]string{"members", "candidates", "contenders", "instances", "nodes", "peers", "workers", "sessions", "hosts", "replicas"}, strings.ToLower(folder))
	}
	first, _ := slices.BinarySearchFunc(b.all, parent, func(o *election.Election, key string) int { return strings.Compare(o.Key(), key) })
	for _, o := range b.all[first:] {
		if !strings.HasPrefix(o.Key(), parent) {
			break
		}
		if o.Key() == p.Key || o.Key() != e.Key() && election.Parent(o.Key()) == parent {
			return false
		}
	}
	return true
}

// namesLock reports whether the last segment of a key is the name of a lock, such as "leader". If it is not, other
// keys under the same parent are probably unrelated.
func namesLock(segment string) bool {
	words := strings.FieldsFunc(strings.ToLower(segment), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{"leader", "lock", "master", "primary", "active", "election", "owner", "mutex", "semaphore", "coordinator"}, word)
	})
}
