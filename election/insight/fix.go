package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// Problem is the reason why an election has no leader, or has only a leader that has failed.
type Problem string

// Kinds of problems.
const (
	ProblemLockDelay   Problem = "lock_delay"       // Consul rejects every acquire
	ProblemLockFlags   Problem = "lock_flags"       // candidates that use api.Lock reject the key's flags
	ProblemPatroni     Problem = "patroni_released" // the key of Patroni's leader has a value and no session
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
	Why, Do string
	// Until is the estimated end of the lock-delay, or the latest possible end if AtMost is set.
	Until  time.Time
	AtMost bool
}

// DoAt returns Do for the time now. The text about a wait depends on the time.
func (f *Fix) DoAt(now time.Time) string {
	switch {
	case f.Problem != ProblemLockDelay:
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
	case e.Unreadable || e.Recorded():
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
		Problem: ProblemUnknown, Why: "The state of the key is unknown, because electop cannot read or address it.",
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
	if !e.Pair.HeldBy(s.ID) || s.TTL > 0 {
		return nil
	}
	if found := FailureOf(e, map[string]election.NodeChecks{s.Node: {Checks: f.Checks}}); found != nil {
		ends := "every lock that it holds"
		if s.Behavior == election.BehaviorDelete {
			ends = "every key that it holds, which Consul deletes with its value (behavior delete)"
		}
		return &Fix{
			Problem: ProblemNodeGone, Why: found.Why(),
			Do: fmt.Sprintf("Make sure that the leader no longer runs. Then destroy session %s on %s, and with it %s. %s",
				election.ShortID(s.ID), sanitize.Line(s.Node, election.LabelLength), ends, delayText(s, "the key")),
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
		Problem: ProblemUnknown, Why: "It is unknown whether the leader has failed: " + f.Unread + ".",
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
		Problem: ProblemCheckCritical,
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
			Problem: ProblemPatroni,
			Why:     "Patroni stores the leader's name in the key's value: a key with a value and without a session disables automatic failover while the primary is down.",
			Do: "Wait if the primary is healthy: it acquires the key again within seconds. If it is down, make sure that its PostgreSQL has stopped, " +
				"otherwise two primaries may be writable. Then delete the key " + deleteKey(e.Pair),
		}
	}
	evidence, observed := b.apiLockUser(e, around, candidates)
	if e.Pair.Flags == election.LockFlag || e.Pair.Flags == election.SemaphoreFlag || evidence == "" {
		return nil
	}
	effect := "this may be the reason: a candidate that uses api.Lock fails"
	if observed {
		effect = "every waiting api.Lock candidate fails"
	}
	return &Fix{
		Problem: ProblemLockFlags,
		Why: fmt.Sprintf("The key's flags are %d, not those of Consul's lock; %s with \"Existing key does not match lock use\" (%s).",
			e.Pair.Flags, effect, evidence),
		Do: "Candidates that have failed must start to compete again after you correct the flags " + correctFlags(e.Pair),
	}
}

// deleteKey returns a command that deletes a key unless the key has changed.
func deleteKey(p election.Pair) string {
	if !plainKey(p.Key) {
		return fmt.Sprintf("with a check-and-set of index %d.", p.ModifyIndex)
	}
	return fmt.Sprintf("with: consul kv delete -cas -modify-index=%d %s", p.ModifyIndex, p.Key)
}

// apiLockUser returns evidence that the candidates use api.Lock, or "" if there is no evidence. observed is set if a
// former leader used it; otherwise, the evidence is a guess.
func (b *Board) apiLockUser(e *election.Election, around *election.Surroundings, candidates []Candidate) (evidence string, observed bool) {
	switch {
	case b.usesAPILock(e):
		return "a former leader used api.Lock", true
	case slices.ContainsFunc(candidates, func(c Candidate) bool { return isAPILock(c.Session) && b.led[c.Session.ID].count == 0 }):
		return "a likely candidate uses api.Lock", false
	case strong(candidates) == 0 && isLockKey(e, around):
		return "consul lock uses keys with this name", false
	}
	return "", false
}

// isLockKey reports whether a key has the name that consul lock uses and no sibling key belongs to a semaphore. A
// candidate of consul lock that rejects the flags has no session, so only the key is evidence.
func isLockKey(e *election.Election, around *election.Surroundings) bool {
	return base(e.Key()) == ".lock" && around != nil && around.SiblingsErr == "" &&
		!slices.ContainsFunc(around.Siblings, func(p election.Pair) bool { return p.Flags == election.SemaphoreFlag })
}

func fixDelay(e *election.Election, f FixFacts) *Fix {
	fix := &Fix{Problem: ProblemLockDelay, Until: e.LockDelayUntil, Why: "A lock-delay is active: Consul rejects every acquire."}
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
			Problem: ProblemIdle, Why: fmt.Sprintf("The election %s. %s", vacant, candidatesIdle(likely)),
			Do: "See the logs of the candidates, and restart them.",
		}
	case likely < 0:
		return &Fix{
			Problem: ProblemNoCandidate, Why: fmt.Sprintf("The election %s. %s.", vacant, unknownCandidates(around)),
			Do: "Start an instance of " + serviceOf(e) + ", or see the logs of the running candidates.",
		}
	}
	return &Fix{
		Problem: ProblemNoCandidate,
		Why:     fmt.Sprintf("%s has no candidate: the election %s, and no session of a candidate was seen.", serviceOf(e), vacant),
		Do:      "Start an instance of " + serviceOf(e) + ".",
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
