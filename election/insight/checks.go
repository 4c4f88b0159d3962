package insight

import (
	"fmt"
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
func checkCritical(d *diagnosis) Finding {
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
