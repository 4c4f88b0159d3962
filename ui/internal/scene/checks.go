package scene

import (
	"time"

	"electop/ui/internal/term"

	"electop/election"
)

// Tally counts a session's checks by status.
type Tally struct {
	Passing, Warning, Critical, Unknown int
	// Until is when outdated checks were last current. It is zero for current checks.
	Until time.Time
}

// Total is the number of checks.
func (t Tally) Total() int { return t.Passing + t.Warning + t.Critical + t.Unknown }

// Risk reports whether current checks endanger the leader.
func (t Tally) Risk() (critical, warning bool) {
	if !t.Until.IsZero() {
		return false, false
	}
	return t.Critical > 0, t.Warning > 0
}

// Worst ranks tallies; the worst has the highest rank. It ignores their age. Otherwise a row would move when it
// leaves the screen, because its checks become outdated then.
func (t Tally) Worst() int64 {
	return int64(t.Critical)<<32 + int64(t.Warning)<<16 + int64(t.Unknown)
}

// TallyChecks counts the session's checks by status. Checks that are not listed or not readable are unknown.
func TallyChecks(s *election.Session, nodes map[string]election.NodeChecks) Tally {
	var t Tally
	if s == nil {
		return t
	}
	known := nodes[s.Node]
	t.Until = known.Until
	t.count(s.NodeChecks, known)
	t.count(s.ServiceChecks, known)
	return t
}

func (t *Tally) count(ids []string, known election.NodeChecks) {
	for _, id := range ids {
		switch c := findCheck(id, known); {
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
}

func findCheck(id string, known election.NodeChecks) *election.Check {
	for i := range known.Checks {
		if known.Checks[i].ID == id {
			return &known.Checks[i]
		}
	}
	return nil
}

// Sign is the symbol of the worst check.
func (t Tally) Sign(sym *term.Symbols) string {
	switch {
	case t.Critical > 0:
		return sym.Critical
	case t.Warning > 0:
		return sym.Warning
	case t.Unknown > 0:
		return sym.Unknown
	}
	return sym.Passing
}

// checkSign returns the symbol, role and word of a check's status.
func checkSign(sym *term.Symbols, c *election.Check) (string, term.Role, string) {
	if c == nil {
		return sym.Unknown, term.Quiet, "unknown"
	}
	switch c.Status {
	case election.StatusPassing:
		return sym.Passing, term.Led, "passing"
	case election.StatusWarning:
		return sym.Warning, term.Delay, "warning"
	case election.StatusCritical:
		return sym.Critical, term.Bad, "critical"
	}
	return sym.Unknown, term.Quiet, Clean(c.Status)
}
