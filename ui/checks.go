package ui

import (
	"strconv"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// riskDetail warns of a leader that may fall.
func riskDetail(d *term.Page, s *scene.Scene, e *election.Election) {
	switch critical, warning := scene.TallyChecks(e.Session, s.Shown.Checks).Risk(); {
	case critical:
		d.Para(term.Bad, d.Sym.Critical+" At risk: a check that keeps its session alive is critical. Consul ends the session and the lead with it.")
	case warning:
		d.Para(term.Delay, d.Sym.Warning+" At risk: a check that keeps its session alive warns. When it turns critical, Consul ends the session.")
	}
}

// writeTally draws "✓ 1 ! 1" into exactly n cells.
func writeTally(l *term.Line, t scene.Tally, n int) {
	end := min(l.Used+n, l.Width)
	parts := [...]struct {
		count int
		role  term.Role
		sign  string
	}{
		{t.Critical, term.Bad, l.Sym.Critical},
		{t.Warning, term.Delay, l.Sym.Warning},
		{t.Passing, term.Led, l.Sym.Passing},
		{t.Unknown, term.Quiet, l.Sym.Unknown},
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
func writeOldTally(l *term.Line, t scene.Tally, asOf time.Time, n int) {
	text := age(asOf.Sub(t.Until)) + " ago"
	if sign := t.Sign(l.Sym); term.Width(sign)+1+len(text) <= n {
		text = sign + " " + text
	}
	l.Cell(term.Quiet, text, n)
}
