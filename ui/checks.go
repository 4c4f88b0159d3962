package ui

import (
	"strconv"
	"time"

	"electop/election"
)

// tally counts the checks that keep one session alive by their status.
type tally struct {
	passing, warning, critical, unknown int
	// until is when these were last known to be current, zero if they are.
	until time.Time
}

func (t tally) total() int { return t.passing + t.warning + t.critical + t.unknown }

// risk are the checks that endanger a leader now, as far as is known.
func (t tally) risk() (critical, warning bool) {
	if !t.until.IsZero() {
		return false, false
	}
	return t.critical > 0, t.warning > 0
}

// worst orders tallies: more trouble is greater. The age must not matter: a row that
// moved when it leaves the screen, and back when it is visible, would never rest.
func (t tally) worst() int64 {
	return int64(t.critical)<<32 + int64(t.warning)<<16 + int64(t.unknown)
}

// tallyChecks counts exactly the checks of the session, and those that Consul
// does not list or that could not be read as unknown.
func tallyChecks(s *election.Session, nodes map[string]election.NodeChecks) tally {
	var t tally
	if s == nil {
		return t
	}
	known := nodes[s.Node]
	t.until = known.Until
	t.count(s.NodeChecks, known)
	t.count(s.ServiceChecks, known)
	return t
}

func (t *tally) count(ids []string, known election.NodeChecks) {
	for _, id := range ids {
		switch c := findCheck(id, known); {
		case c == nil || known.Err != "":
			t.unknown++
		case c.Status == election.StatusPassing:
			t.passing++
		case c.Status == election.StatusWarning:
			t.warning++
		case c.Status == election.StatusCritical:
			t.critical++
		default:
			t.unknown++
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

// riskDetail warns of a leader that may fall.
func riskDetail(d *doc, s *scene, e *election.Election) {
	switch critical, warning := tallyChecks(e.Session, s.snap.Checks).risk(); {
	case critical:
		d.para(roleBad, d.sym.critical+" At risk: a check that keeps its session alive is critical. Consul ends the session and the lead with it.")
	case warning:
		d.para(roleDelay, d.sym.warning+" At risk: a check that keeps its session alive warns. When it turns critical, Consul ends the session.")
	}
}

// writeTally draws "✓ 1 ! 1" into exactly n cells.
func writeTally(l *line, t tally, n int) {
	end := min(l.used+n, l.width)
	parts := [...]struct {
		count int
		role  role
		sign  string
	}{
		{t.critical, roleBad, l.sym.critical},
		{t.warning, roleDelay, l.sym.warning},
		{t.passing, roleLed, l.sym.passing},
		{t.unknown, roleQuiet, l.sym.unknown},
	}
	first := true
	for _, p := range parts {
		if p.count == 0 {
			continue
		}
		number := strconv.Itoa(p.count)
		width := textWidth(p.sign) + 1 + len(number)
		if !first {
			width++
		}
		if l.used+width > end {
			break
		}
		if !first {
			l.gap(1)
		}
		l.text(p.role, p.sign)
		l.text(p.role, " ")
		l.text(p.role, number)
		first = false
	}
	l.gap(end - l.used)
}

// writeOldTally draws "! 12m ago" into exactly n cells, without the sign where there
// is no room.
func writeOldTally(l *line, t tally, asOf time.Time, n int) {
	text := age(asOf.Sub(t.until)) + " ago"
	if sign := t.sign(l.sym); textWidth(sign)+1+len(text) <= n {
		text = sign + " " + text
	}
	l.cell(roleQuiet, text, n)
}

// sign is that of the worst check.
func (t tally) sign(sym *symbols) string {
	switch {
	case t.critical > 0:
		return sym.critical
	case t.warning > 0:
		return sym.warning
	case t.unknown > 0:
		return sym.unknown
	}
	return sym.passing
}

// checkSign is the sign, role and word of one check's status.
func checkSign(sym *symbols, c *election.Check) (string, role, string) {
	if c == nil {
		return sym.unknown, roleQuiet, "unknown"
	}
	switch c.Status {
	case election.StatusPassing:
		return sym.passing, roleLed, "passing"
	case election.StatusWarning:
		return sym.warning, roleDelay, "warning"
	case election.StatusCritical:
		return sym.critical, roleBad, "critical"
	}
	return sym.unknown, roleQuiet, clean(c.Status)
}
