package insight

import (
	"slices"
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
		switch c := FindCheck(id, known); {
		case c == nil || known.Err != "":
			t.Unknown++
		case c.Status == election.StatusPassing:
			t.Passing++
		case c.Status == election.StatusWarning:
			t.Warning++
		case c.Status == election.StatusCritical:
			t.Critical++
		default:
			t.Unknown++
		}
	}
	return t
}

// FindCheck returns the check with this ID, or nil if the node does not list it.
func FindCheck(id string, known election.NodeChecks) *election.Check {
	i := slices.IndexFunc(known.Checks, func(c election.Check) bool { return c.ID == id })
	if i < 0 { // comparing all IDs in lower case is expensive
		i = slices.IndexFunc(known.Checks, func(c election.Check) bool { return election.SameCheck(c.ID, id) })
	}
	if i < 0 {
		return nil
	}
	return &known.Checks[i]
}
