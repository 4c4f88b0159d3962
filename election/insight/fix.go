package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/failure"
	"electop/election/sanitize"
)

// FixKind is the kind of action that resolves a problem.
type FixKind string

// Kinds of fixes. Every kind except [FixManual] and [FixWait] is one write to Consul.
const (
	FixWait     FixKind = "wait"            // the user must wait until the lock-delay ends
	FixSetFlags FixKind = "set_flags"       // write the same value with the flags of Consul's lock
	FixDestroy  FixKind = "destroy_session" // destroy the session of a holder that has failed
	FixDelete   FixKind = "delete_key"      // delete a key with the value of a former leader
	FixManual   FixKind = "manual"          // no write to Consul resolves the problem
)

// Problem is the reason why an election has no leader, or has only a leader that has failed.
type Problem string

// Kinds of problems.
const (
	ProblemLockDelay   Problem = "lock_delay"       // Consul rejects every acquire
	ProblemLockFlags   Problem = "lock_flags"       // waiting api.Lock candidates reject the key's flags
	ProblemPatroni     Problem = "patroni_released" // the key of Patroni's leader has a value and no session
	ProblemOrphaned    Problem = "orphaned_session" // the leader's service failed, but its session remains
	ProblemNodeGone    Problem = "node_gone"        // the leader's node failed, but its session remains
	ProblemIdle        Problem = "candidates_idle"  // candidates exist, but none acquires the key
	ProblemNoCandidate Problem = "no_candidate"
	ProblemUnknown     Problem = "unknown" // electop cannot read the key, or the evidence that the key's leader has failed
	// ProblemCheckCritical is a critical check on which the leader's session depends: Consul invalidates the session.
	ProblemCheckCritical Problem = "check_critical"
)

// Fix is the problem with one election and its solution. Why and Do are single lines that are safe to print.
type Fix struct {
	Problem Problem
	Kind    FixKind
	Why, Do string
	// Until is the estimated end of the lock-delay, or the latest possible end if AtMost is set.
	Until  time.Time
	AtMost bool
}

// DoAt returns Do for the time now. The text about a wait depends on the time.
func (f *Fix) DoAt(now time.Time) string {
	switch {
	case f.Kind != FixWait:
		return f.Do
	case !f.Until.After(now):
		return "The lock-delay should have ended: run the diagnosis again."
	case f.AtMost:
		return fmt.Sprintf("Wait until the lock-delay ends, in at most %s.", roughly(f.Until.Sub(now)+time.Second-1))
	}
	return fmt.Sprintf("Wait until the lock-delay ends, in about %s.", roughly(f.Until.Sub(now)+time.Second-1))
}

// FixFacts are the facts that [Board.Fix] needs in addition to the election.
type FixFacts struct {
	Now    time.Time
	Around *election.Surroundings // nil if electop has not read the surroundings
	Delay  ProbedDelay
	// DelayErr is the reason why the probe for a lock-delay failed, or empty if the probe succeeded.
	DelayErr string
	// Checks are the checks of the leader's node, or nil if electop has not read them.
	Checks []election.Check
	// Unread is the reason why electop could not read all evidence that a leader has failed, safe to print. It is
	// empty if electop read all evidence.
	Unread string
}

// At returns the facts for a later time, if the key has not changed since the facts were read. The result of a probe
// is valid until the latest possible end of the lock-delay.
func (f FixFacts) At(e *election.Election, now time.Time) FixFacts {
	if f.Delay == DelayActive {
		end := f.Now.Add(election.MaxLockDelay)
		if e.LockDelayUntil.After(f.Now) {
			end = e.LockDelayUntil
		}
		if now.Before(end) {
			return f
		}
		f.Delay = DelayNotProbed
	}
	f.Now = now
	return f
}

// FixNeed identifies the data that [Board.Fix] needs to find the problem with an election.
type FixNeed int

// The values of FixNeed.
const (
	NeedsNothing      FixNeed = iota // [Board.Fix] needs no facts, because it never finds a problem
	NeedsSurroundings                // [Board.Fix] needs the facts about an election without a leader
	NeedsChecks                      // [Board.Fix] needs the checks of the leader's node, which show whether the leader has failed
)

// FixNeeds returns the kind of facts that [Board.Fix] needs for an election. If the holder's session has a TTL, the
// checks are not needed: the session of a holder that has failed expires. If the session was not read, it may have no
// TTL.
func FixNeeds(e *election.Election, now time.Time) FixNeed {
	switch s := e.Session; {
	case e.State(now) == election.OfSemaphore:
		return NeedsNothing
	case !e.Exists || !e.Pair.Held():
		return NeedsSurroundings
	case s != nil && s.TTL > 0:
		return NeedsNothing
	}
	return NeedsChecks
}

// Fix infers why an election has no effective leader, and how to fix this. It returns nil for a healthy election, for a
// semaphore, and for a leader if there is no evidence that it has failed and all evidence could be read.
func (b *Board) Fix(e *election.Election, f FixFacts) *Fix {
	switch {
	case e.Unreadable || e.Recorded() || e.Unaddressable:
		return fixUnknown(e, f.Now)
	case e.State(f.Now) == election.OfSemaphore:
		return nil
	case e.Exists && e.Pair.Held():
		return fixHeld(e, f)
	}
	candidates := b.Candidates(e, f.Around)
	likely := Likely(candidates, f.Around)
	delay, key := fixDelay(e, f), b.fixKey(e, f.Around, candidates)
	switch {
	case delay != nil && (key == nil || key.Problem == ProblemLockFlags): // the flags matter only after the lock-delay
		delay.Why += " " + candidatesSeen(likely)
		return delay
	case key != nil:
		return key
	}
	return fixCandidates(e, f.Around, likely)
}

func fixUnknown(e *election.Election, now time.Time) *Fix {
	if e.State(now) == election.Led {
		return nil
	}
	return &Fix{
		Problem: ProblemUnknown, Kind: FixManual, Why: "The state of the key is unknown, because electop cannot read or address it.",
		Do: "Check the token with electop doctor.",
	}
}

// fixHeld finds evidence that the holder has failed although its session exists. It ignores sessions with a TTL,
// because Consul invalidates them if the holder does not renew them.
func fixHeld(e *election.Election, f FixFacts) *Fix {
	s := e.Session
	if s == nil {
		return fixUnread(f)
	}
	if s.ID != e.Pair.Session || s.TTL > 0 {
		return nil
	}
	if found := failure.In(e, f.Checks); found != nil {
		problem := ProblemOrphaned
		if found.OfNode {
			problem = ProblemNodeGone
		}
		return &Fix{
			Problem: problem, Kind: FixDestroy, Why: found.Why(),
			Do: fmt.Sprintf("Make sure that the leader no longer runs. Then destroy session %s on %s, and with it every lock that it holds. %s",
				election.ShortID(s.ID), sanitize.Line(s.Node, election.LabelLength), delayText(s, "the key")),
		}
	}
	if ending := fixEnding(s, f.Checks); ending != nil {
		return ending
	}
	return fixUnread(f)
}

func fixUnread(f FixFacts) *Fix {
	if f.Unread == "" {
		return nil
	}
	return &Fix{
		Problem: ProblemUnknown, Kind: FixManual, Why: "It is unknown whether the leader has failed: " + f.Unread + ".",
		Do: "Check the token with electop doctor, then run the diagnosis again. If the leader's process has ended, destroy the session that holds the key.",
	}
}

// fixEnding finds the critical checks on which a session depends. Consul invalidates such a session immediately, so
// the session was read before a check became critical, and the checks were read after that.
func fixEnding(s *election.Session, checks []election.Check) *Fix {
	var critical []string
	for i := range checks {
		if c := &checks[i]; c.Status == election.StatusCritical && election.SameNode(c.Node, s.Node) && s.DependsOn(c.ID) {
			critical = append(critical, sanitize.Line(c.ID, election.LabelLength))
		}
	}
	if len(critical) == 0 {
		return nil
	}
	return &Fix{
		Problem: ProblemCheckCritical, Kind: FixManual,
		Why: fmt.Sprintf("The leader's session depends on %s on %s (%s): Consul invalidates the session, which ends the term.",
			election.Plural(uint64(len(critical)), "critical check"), sanitize.Line(s.Node, election.LabelLength), strings.Join(critical, ", ")),
		Do: "Diagnose again: Consul has probably invalidated the session by now.",
	}
}

// fixKey finds a key whose value or flags prevent the next term.
func (b *Board) fixKey(e *election.Election, around *election.Surroundings, candidates []Candidate) *Fix {
	if !e.Exists {
		return nil
	}
	if isPatroniLeader(e, around) {
		return &Fix{
			Problem: ProblemPatroni, Kind: FixDelete,
			Why: "Patroni stores the leader's name in the key's value: a key with a value and without a session disables automatic failover while the primary is down.",
			Do:  "Delete the key if the primary is down; make sure that its PostgreSQL has stopped, otherwise two primaries may be writable. A healthy primary acquires the key again by itself.",
		}
	}
	waiter := b.apiLockWaiter(e, around, candidates)
	if e.Pair.Flags == election.LockFlag || e.Pair.Flags == election.SemaphoreFlag || waiter == "" {
		return nil
	}
	return &Fix{
		Problem: ProblemLockFlags, Kind: FixSetFlags,
		Why: fmt.Sprintf("The key's flags are %d, not those of Consul's lock: every waiting api.Lock candidate fails with "+
			"\"Existing key does not match lock use\" (%s).", e.Pair.Flags, waiter),
		Do: fmt.Sprintf("Write the same value with flags %d; candidates that have failed must start to compete again.", election.LockFlag),
	}
}

// apiLockWaiter returns evidence that the candidates use api.Lock, or "" if there is no evidence. If there is a strong
// candidate, sessions that only have api.Lock's name and lead no election are not evidence.
func (b *Board) apiLockWaiter(e *election.Election, around *election.Surroundings, candidates []Candidate) string {
	isLock := func(s *election.Session) bool { return isAPILock(s) && b.led[s.ID].count == 0 }
	switch {
	case b.usesAPILock(e):
		return "a former leader used api.Lock"
	case slices.ContainsFunc(candidates, func(c Candidate) bool { return isLock(c.Session) }):
		return "a likely candidate uses api.Lock"
	case strong(candidates) == 0 && around != nil && slices.ContainsFunc(around.Sessions, func(s *election.Session) bool {
		return s.Name == apiLockSession && isLock(s)
	}):
		return "a guess: some sessions that api.Lock created hold no watched key and may be waiting for this key"
	case strong(candidates) == 0 && isLockKey(e, around):
		return "a guess: consul lock uses keys with this name"
	}
	return ""
}

// isLockKey reports whether a key has the name that consul lock uses and no sibling key belongs to a semaphore. A
// candidate of consul lock that rejects the flags has no session, so only the key is evidence.
func isLockKey(e *election.Election, around *election.Surroundings) bool {
	return base(e.Key()) == ".lock" && around != nil && around.SiblingsErr == "" &&
		!slices.ContainsFunc(around.Siblings, func(p election.Pair) bool { return p.Flags == election.SemaphoreFlag })
}

func fixDelay(e *election.Election, f FixFacts) *Fix {
	fix := &Fix{Problem: ProblemLockDelay, Kind: FixWait, Until: e.LockDelayUntil, Why: "A lock-delay is active: Consul rejects every acquire."}
	switch known := e.LockDelayUntil.After(f.Now); {
	case f.Delay == DelayNone, f.Delay == DelayNotProbed && !known:
		return nil
	case f.Delay == DelayNotProbed:
		fix.Why = "A lock-delay is probably active: Consul rejects every acquire."
	case !known:
		fix.Until, fix.AtMost = f.Now.Add(election.MaxLockDelay), true
	}
	fix.Do = fix.DoAt(f.Now)
	return fix
}

func fixCandidates(e *election.Election, around *election.Surroundings, likely int) *Fix {
	vacant := "has no leader"
	if e.VacantSinceKnown {
		vacant = "has had no leader since " + e.VacantSince.UTC().Format(time.RFC3339)
	}
	if !e.Exists {
		vacant += ", because its key was deleted"
	}
	switch {
	case likely > 0:
		return &Fix{
			Problem: ProblemIdle, Kind: FixManual, Why: fmt.Sprintf("The election %s. %s", vacant, candidatesIdle(likely)),
			Do: "See the logs of the candidates, and restart them.",
		}
	case likely < 0:
		return &Fix{
			Problem: ProblemNoCandidate, Kind: FixManual, Why: fmt.Sprintf("The election %s. %s.", vacant, unknownCandidates(around)),
			Do: "Start an instance of " + serviceOf(e) + ", or see the logs of the running candidates.",
		}
	}
	return &Fix{
		Problem: ProblemNoCandidate, Kind: FixManual,
		Why: fmt.Sprintf("%s has no candidate: the election %s, and no session of a candidate was seen.", serviceOf(e), vacant),
		Do:  "Start an instance of " + serviceOf(e) + ".",
	}
}

func unknownCandidates(around *election.Surroundings) string {
	if around == nil || len(around.Unread()) == 0 {
		return "It is uncertain whether a candidate exists"
	}
	return "It is unknown whether a candidate exists: " + strings.Join(around.Unread(), "; ")
}

// serviceOf names the service by the service check or the name of the last session, otherwise by the name of the
// election.
func serviceOf(e *election.Election) string {
	name := e.Name
	if s := e.LastSession; s != nil && len(s.ServiceChecks) > 0 {
		name = strings.TrimPrefix(s.ServiceChecks[0], "service:")
	} else if s != nil && s.Name != "" && !genericName(s.Name) {
		name = s.Name
	}
	return fmt.Sprintf("service %q", sanitize.Line(name, election.LabelLength))
}
