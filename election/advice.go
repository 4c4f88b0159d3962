package election

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Advice is something risky about an election as it is configured.
type Advice struct {
	// Code names the kind of advice: snake_case, never renamed.
	Code string `json:"code"`
	// Urgent marks what breaks something now or soon; the rest is good to know.
	Urgent bool `json:"urgent"`
	// Why says in one line what is risky, Do what to do about it.
	Why string `json:"why"`
	Do  string `json:"do"`
}

const (
	// manyElections is from how many elections on a session that leads them
	// all is remarkable, if it leads more than twice what is usual.
	manyElections = 6
	// shortLockDelay leaves a leader that was cut off no time to notice.
	shortLockDelay = time.Second
	// flapping is more than this many changes within the window.
	flappingChanges = 3
	flappingWindow  = 10 * time.Minute
	// manyOrphans is from how many sessions on it looks as if a program left
	// them behind: one or two may be candidates on the same host.
	manyOrphans = 3
)

// Advise lists what is risky about an election, urgent things first. s may be
// nil: what needs the surroundings is then left out. board are all elections
// that are watched. To judge many elections, use [NewBoard] and [Board.Advise].
func Advise(e *Election, s *Surroundings, board []*Election, now time.Time) []Advice {
	var sessions []*Session
	if s != nil {
		sessions = s.Sessions
	}
	return NewBoard(board, sessions).Advise(e, s, now)
}

// Advise lists what is risky about one election of the board, urgent things
// first. Surroundings of another election and nil say nothing.
func (b *Board) Advise(e *Election, s *Surroundings, now time.Time) []Advice {
	if s != nil && s.Key != e.Key() {
		s = nil
	}
	found := []*Advice{adviseOverwritten(e), b.adviseFlags(e), adviseFlapping(e, now)}
	if e.Session != nil && e.Exists && e.Pair.Held() {
		if DetectSoftware(e, s) == nil { // whose sessions are as they are by design
			found = append(found, adviseChecks(e.Session), adviseLockDelay(e.Session))
		}
		found = append(found, b.adviseManyElections(e), b.adviseOrphans(e, s))
	}
	all := make([]Advice, 0, len(found))
	for _, urgent := range []bool{true, false} {
		for _, a := range found {
			if a != nil && a.Urgent == urgent {
				all = append(all, *a)
			}
		}
	}
	return all
}

func adviseOverwritten(e *Election) *Advice {
	if !e.Overwritten() {
		return nil
	}
	return &Advice{
		Code: "overwritten", Urgent: true,
		Why: "somebody wrote the key without the lock while it is held: the value may not be the leader's, and terms are no longer counted",
		Do:  "find who writes it; the next term puts it right (electop release)",
	}
}

// adviseFlags looks for keys that a waiting api.Lock refuses for good.
func (b *Board) adviseFlags(e *Election) *Advice {
	if !e.Exists || e.Pair.Flags == LockFlag || e.Pair.Flags == SemaphoreFlag || !b.usesAPILock(e) {
		return nil
	}
	return &Advice{
		Code: "lock_flags", Urgent: true,
		Why: fmt.Sprintf("the key's flags are %d, not those of Consul's lock: waiting api.Lock candidates fail with \"Existing key does not match lock use\"", e.Pair.Flags),
		Do:  "while nobody leads, write the key with flags " + formatUint(LockFlag) + " or delete it",
	}
}

// usesAPILock reports that somebody who leads or led uses Consul's own lock.
func (b *Board) usesAPILock(e *Election) bool {
	if isAPILock(e.Session) || isAPILock(e.LastSession) {
		return true
	}
	return slices.ContainsFunc(e.Terms, func(t Term) bool { return isAPILock(b.sessions[t.Session]) })
}

func isAPILock(s *Session) bool {
	return s != nil && (s.Name == "Consul API Lock" || strings.HasPrefix(s.Name, "Consul lock for "))
}

func adviseFlapping(e *Election, now time.Time) *Advice {
	n := e.Changes(now, flappingWindow)
	if n <= flappingChanges {
		return nil
	}
	a := &Advice{
		Code: "flapping", Urgent: true,
		Why: fmt.Sprintf("%d new leaders within %d minutes", n, int(flappingWindow.Minutes())),
		Do:  "look at the causes in its history; a health check that is too strict or a TTL that is too short are the usual ones",
	}
	if cause, times := usualCause(e, now); times > 0 {
		a.Why += fmt.Sprintf(", mostly because of %s (%d)", Line(string(cause), labelLength), times)
	}
	return a
}

// usualCause is why most terms of the window ended, if that is known.
func usualCause(e *Election, now time.Time) (most Cause, times int) {
	counts := map[Cause]int{}
	for _, t := range e.Terms {
		if !t.Over() || t.Cause == "" || t.Cause == Unknown || now.Sub(t.End) > flappingWindow {
			continue
		}
		if counts[t.Cause]++; counts[t.Cause] > times {
			most, times = t.Cause, counts[t.Cause]
		}
	}
	return most, times
}

func adviseChecks(s *Session) *Advice {
	switch {
	case len(s.Checks()) == 0 && s.TTL == 0:
		return &Advice{
			Code: "no_checks", Urgent: true,
			Why: "the session has neither checks nor a TTL: only a person ends it, even after its process and its node are gone",
			Do:  "give the session a TTL and renew it, or bind it to a check of the service",
		}
	case len(s.Checks()) == 0:
		return &Advice{
			Code: "no_checks",
			Why:  fmt.Sprintf("the session has no checks: that its node or process is gone is noticed only when the TTL runs out, after up to %s", 2*s.TTL),
			Do:   "bind it to serfHealth if a lost node should be noticed sooner",
		}
	case s.TTL > 0:
		return nil // whatever its checks miss, the TTL ends it
	case len(s.ServiceChecks) == 0:
		return &Advice{
			Code: "node_checks_only",
			Why:  "the session depends on its node's health only: it outlives a crashed process, and then nobody else can lead",
			Do:   "give the session a TTL, or bind it to a check of the service",
		}
	case len(s.NodeChecks) == 0:
		return &Advice{
			Code: "service_checks_only",
			Why:  "the session depends on no node check: when its node is lost, the last result of its service check stays and keeps the lock",
			Do:   "bind the session to serfHealth as well",
		}
	}
	return nil
}

func adviseLockDelay(s *Session) *Advice {
	if s.Behavior == BehaviorDelete || s.LockDelay >= shortLockDelay {
		return nil
	}
	delay := "no lock-delay"
	if s.LockDelay > 0 {
		delay = "a lock-delay of " + s.LockDelay.String()
	}
	return &Advice{
		Code: "short_lock_delay",
		Why:  delay + ": a leader that is cut off may still act while the next one leads already",
		Do:   "use at least 1s, unless the work is fenced by LockIndex",
	}
}

// adviseManyElections keeps quiet where one session for many elections is how
// things are done.
func (b *Board) adviseManyElections(e *Election) *Advice {
	n := b.led[e.Pair.Session].count
	if n < manyElections || n <= 2*b.usualLead {
		return nil
	}
	return &Advice{
		Code: "session_leads_many",
		Why:  fmt.Sprintf("one session leads %d of the watched elections: when it ends, all of them lose their leader at once", n),
		Do:   "give each election a session of its own, if that is not meant so",
	}
}

// adviseOrphans looks for sessions that a restarting program leaves behind: like
// the leader's own, and holding nothing that is known.
func (b *Board) adviseOrphans(e *Election, s *Surroundings) *Advice {
	if !mayBeOrphan(e.Session) {
		return nil
	}
	same := kinOf(e.Session)
	n := b.orphans[same]
	if n >= manyOrphans && s != nil {
		n -= b.busySiblings(same, s.Siblings)
	}
	if n < manyOrphans {
		return nil
	}
	return &Advice{
		Code: "orphaned_sessions",
		Why: fmt.Sprintf("%d more sessions named %q on node %s hold no key that is known here and have no TTL: a program that restarts may leave its sessions behind",
			n, Line(same.name, 60), Line(same.node, 60)),
		Do: "destroy a session when its program ends, or give it a TTL",
	}
}

// busySiblings counts the sessions of a kin that hold a key beside the election.
func (b *Board) busySiblings(same kin, siblings []Pair) int {
	seen := map[string]bool{}
	for _, p := range siblings {
		ses := b.sessions[p.Session]
		if ses != nil && b.led[ses.ID].count == 0 && mayBeOrphan(ses) && kinOf(ses) == same {
			seen[ses.ID] = true
		}
	}
	return len(seen)
}
