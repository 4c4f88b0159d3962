package ui

import (
	"strconv"
	"time"

	"electop/election"
	"electop/ui/internal/term"
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
func riskDetail(d *term.Page, s *scene, e *election.Election) {
	switch critical, warning := tallyChecks(e.Session, s.snap.Checks).risk(); {
	case critical:
		d.Para(term.Bad, d.Sym.Critical+" At risk: a check that keeps its session alive is critical. Consul ends the session and the lead with it.")
	case warning:
		d.Para(term.Delay, d.Sym.Warning+" At risk: a check that keeps its session alive warns. When it turns critical, Consul ends the session.")
	}
}

// writeTally draws "✓ 1 ! 1" into exactly n cells.
func writeTally(l *term.Line, t tally, n int) {
	end := min(l.Used+n, l.Width)
	parts := [...]struct {
		count int
		role  term.Role
		sign  string
	}{
		{t.critical, term.Bad, l.Sym.Critical},
		{t.warning, term.Delay, l.Sym.Warning},
		{t.passing, term.Led, l.Sym.Passing},
		{t.unknown, term.Quiet, l.Sym.Unknown},
	}
	first := true
	for _, p := range parts {
		if p.count == 0 {
			continue
		}
		number := strconv.Itoa(p.count)
		width := term.Width(p.sign) + 1 + len(number)
		if !first {
			width++
		}
		if l.Used+width > end {
			break
		}
		if !first {
			l.Gap(1)
		}
		l.Text(p.role, p.sign)
		l.Text(p.role, " ")
		l.Text(p.role, number)
		first = false
	}
	l.Gap(end - l.Used)
}

// writeOldTally draws "! 12m ago" into exactly n cells, without the sign where there
// is no room.
func writeOldTally(l *term.Line, t tally, asOf time.Time, n int) {
	text := age(asOf.Sub(t.until)) + " ago"
	if sign := t.sign(l.Sym); term.Width(sign)+1+len(text) <= n {
		text = sign + " " + text
	}
	l.Cell(term.Quiet, text, n)
}

// sign is that of the worst check.
func (t tally) sign(sym *term.Symbols) string {
	switch {
	case t.critical > 0:
		return sym.Critical
	case t.warning > 0:
		return sym.Warning
	case t.unknown > 0:
		return sym.Unknown
	}
	return sym.Passing
}

// checkSign is the sign, role and word of one check's status.
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
	return sym.Unknown, term.Quiet, clean(c.Status)
}
