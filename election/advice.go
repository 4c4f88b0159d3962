package election

import (
	"fmt"
	"slices"
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
	// all is remarkable.
	manyElections = 6
	// shortLockDelay leaves a leader that was cut off no time to notice.
	shortLockDelay = time.Second
	// flapping is more than this many changes within the window.
	flappingChanges = 3
	flappingWindow  = 10 * time.Minute
)

// Advise lists what is risky about an election, urgent things first. s may be
// nil: what needs the surroundings is then left out. board are all elections
// that are watched.
func Advise(e *Election, s *Surroundings, board []*Election, now time.Time) []Advice {
	if s != nil && s.Key != e.Key() {
		s = nil
	}
	var all []Advice
	add := func(a *Advice) {
		if a != nil {
			all = append(all, *a)
		}
	}
	add(adviseOverwritten(e))
	add(adviseFlags(e, s))
	add(adviseFlapping(e, now))
	if e.Session != nil && e.Exists && e.Pair.Held() {
		add(adviseChecks(e.Session))
		add(adviseLockDelay(e.Session))
		add(adviseManyElections(e, board))
	}
	add(adviseOrphans(e, s, board))
	slices.SortStableFunc(all, func(a, b Advice) int {
		switch {
		case a.Urgent == b.Urgent:
			return 0
		case a.Urgent:
			return -1
		}
		return 1
	})
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
func adviseFlags(e *Election, s *Surroundings) *Advice {
	if !e.Exists || e.Pair.Flags == LockFlag || e.Pair.Flags == SemaphoreFlag {
		return nil
	}
	if !usesAPILock(e.Session) && !usesAPILock(e.LastSession) && !siblingUsesAPILock(e, s) {
		return nil
	}
	return &Advice{
		Code: "lock_flags", Urgent: true,
		Why: fmt.Sprintf("the key's flags are %d, not those of Consul's lock: waiting api.Lock candidates fail with \"Existing key does not match lock use\"", e.Pair.Flags),
		Do:  "write the key with flags " + formatUint(LockFlag) + ", or delete it while nobody leads",
	}
}

func usesAPILock(s *Session) bool {
	return s != nil && (s.Name == "Consul API Lock" || len(s.Name) > 15 && s.Name[:15] == "Consul lock for")
}

func siblingUsesAPILock(e *Election, s *Surroundings) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Sessions, func(ses *Session) bool {
		_, led := (&inference{e: e}).formerTerm(ses.ID)
		return led && usesAPILock(ses)
	})
}

func adviseFlapping(e *Election, now time.Time) *Advice {
	n := e.Changes(now, flappingWindow)
	if n <= flappingChanges {
		return nil
	}
	return &Advice{
		Code: "flapping", Urgent: true,
		Why: fmt.Sprintf("%d new leaders within %s", n, shortMinutes(flappingWindow)),
		Do:  "look at the causes in its history; a health check that is too strict or a TTL that is too short are the usual ones",
	}
}

func shortMinutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

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
	case s.TTL == 0 && len(s.ServiceChecks) == 0:
		return &Advice{
			Code: "node_checks_only", Urgent: true,
			Why: "the session depends on its node's health only: it outlives a crashed process, and nobody else can lead",
			Do:  "give the session a TTL, or bind it to a check of the service",
		}
	case len(s.NodeChecks) == 0:
		return &Advice{
			Code: "service_checks_only",
			Why:  "the session depends on no node check: when the node is lost, its last passing check keeps the lock",
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

func adviseManyElections(e *Election, board []*Election) *Advice {
	n := 0
	for _, other := range board {
		if other.Exists && other.Pair.Session == e.Pair.Session {
			n++
		}
	}
	if n < manyElections {
		return nil
	}
	return &Advice{
		Code: "session_leads_many",
		Why:  fmt.Sprintf("one session leads %d of the watched elections: when it ends, all of them lose their leader at once", n),
		Do:   "give each election a session of its own, if that is not meant so",
	}
}

// adviseOrphans looks for sessions that a restarting program leaves behind: of
// the same name, on the same node, holding nothing that is watched.
func adviseOrphans(e *Election, s *Surroundings, board []*Election) *Advice {
	if s == nil || e.Session == nil || e.Session.Name == "" {
		return nil
	}
	holds := map[string]bool{}
	for _, other := range board {
		holds[other.Pair.Session] = true
	}
	for _, p := range s.Siblings {
		holds[p.Session] = true
	}
	n := 0
	for _, ses := range s.Sessions {
		if ses.Name == e.Session.Name && ses.Node == e.Session.Node && !holds[ses.ID] {
			n++
		}
	}
	if n < 2 {
		return nil
	}
	return &Advice{
		Code: "orphaned_sessions",
		Why:  fmt.Sprintf("%d more sessions named %q on node %s lead nothing: a program that restarts may leave its sessions behind", n, Line(e.Session.Name, 60), Line(e.Session.Node, 60)),
		Do:   "destroy a session when its program ends, or give it a TTL",
	}
}
