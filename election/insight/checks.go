package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// Tally counts a session's checks by status.
type Tally struct {
	Passing, Warning, Critical, Unknown int
	// Until is the time at which the checks stopped being current, or zero if they are current.
	Until time.Time
}

// Total returns the number of checks.
func (t Tally) Total() int { return t.Passing + t.Warning + t.Critical + t.Unknown }

// Risk reports whether current checks endanger the leader.
func (t Tally) Risk() (critical, warning bool) {
	if !t.Until.IsZero() {
		return false, false
	}
	return t.Critical > 0, t.Warning > 0
}

// Worst returns a rank for sorting; a higher rank is worse. It ignores Until. Otherwise, the order of the rows would
// change continually, because the checks of rows outside the screen become outdated.
func (t Tally) Worst() int64 {
	return int64(t.Critical)<<32 + int64(t.Warning)<<16 + int64(t.Unknown)
}

// TallyChecks counts the session's checks by status. A check that the node does not list or that was not read is
// unknown.
func TallyChecks(s *election.Session, nodes map[string]election.NodeChecks) Tally {
	var t Tally
	if s == nil {
		return t
	}
	known := nodes[s.Node]
	t.Until = known.Until
	for _, id := range s.Checks() {
		status := ""
		if c := election.FindCheck(known.Checks, id); c != nil && known.Err == "" {
			status = c.Status
		}
		switch status {
		case election.StatusPassing:
			t.Passing++
		case election.StatusWarning:
			t.Warning++
		case election.StatusCritical:
			t.Critical++
		default:
			t.Unknown++
		}
	}
	return t
}

// checkCritical finds the critical checks on which a session depends. Consul invalidates such a session immediately, so
// the session was read before a check became critical, and the checks were read after that.
func (d *diagnosis) checkCritical() Finding {
	s, critical := d.Session, []string(nil)
	known := d.checks[s.Node]
	for i := range known.Checks {
		if c := &known.Checks[i]; known.Current() && c.Status == election.StatusCritical && election.SameNode(c.Node, s.Node) && s.DependsOn(c.ID) {
			critical = append(critical, election.Label(c.ID))
		}
	}
	if len(critical) == 0 {
		return Finding{}
	}
	return Finding{
		Why: fmt.Sprintf("The leader's session depends on %s on %s (%s): Consul invalidates the session, which ends the term.",
			election.Plural(len(critical), "critical check"), election.Label(s.Node), strings.Join(critical, ", ")),
		Fix: "Diagnose again: Consul has probably invalidated the session by now.",
	}
}

// boundTo judges the checks and the TTL of the leader's session.
func (d *diagnosis) boundTo() Finding {
	s := d.Session
	switch ttl := s.TTL > 0; {
	case len(s.Checks()) == 0 && ttl:
		return Finding{
			Code: noChecks,
			Why:  fmt.Sprintf("the session has no checks: after the process or the node fails, the session ends only when its TTL expires, about %s after the last renewal", 2*s.TTL),
			Do:   "bind the session to serfHealth, so that a failure of its node ends the session sooner",
		}
	case len(s.Checks()) == 0:
		return Finding{
			Code: noChecks, Urgent: true,
			Why: "the session has neither checks nor a TTL: if its process or node fails, the session remains until the node leaves or is removed or a client destroys it",
			Do:  renew,
		}
	case ttl:
	case len(s.NodeChecks) == 0:
		return Finding{
			Code: serviceChecksOnly,
			Why:  "the session does not depend on a node check: when its node fails, its service check keeps the last result and the session keeps the lock until the node leaves or is removed",
			Do:   "also bind the session to serfHealth",
		}
	case len(s.ServiceChecks) == 0 && !slices.ContainsFunc(s.NodeChecks, func(check string) bool { return check != nodeCheck }):
		return Finding{
			Code: nodeChecksOnly,
			Why:  "the session depends only on the health of its node: it ends when the node fails, leaves or is removed. If only the process fails, the session remains, and no other candidate can lead",
			Do:   renew,
		}
	}
	return Finding{}
}

const renew = "give the session a TTL and renew the session, or add a service check"
