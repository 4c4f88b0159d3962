package ui

import (
	"strings"

	"electop/election"
	"electop/election/sanitize"
)

// drawOpen draws one session in full.
func (v *sessionsView) drawOpen(p *painter, s *scene, r *sessionRow, width, height int) []string {
	sign := r.sign(p.sym)
	name := clean(r.ses.Name)
	if name == "" {
		name = election.ShortID(r.ses.ID)
	}
	title := []span{{sign.role, sign.text + " "}, {roleStrong, name}, {roleQuiet, "  on " + clean(r.ses.Node)}}
	right := []span{{roleKey, "esc"}, {roleQuiet, " all sessions"}}
	lines := append(make([]string, 0, height), p.rule(width, fitSpans(title, width-24, p.sym), right))
	d := &doc{width: width - 2, sym: p.sym}
	if v.scan.running() {
		d.lines = append(flow(v.scan.run.progressSpans(), d.width), nil)
	}
	sessionDoc(d, s, r, &v.scan.result)
	v.top = max(0, min(v.top, len(d.lines)-(height-1)))
	l := newLine(p, width)
	for i, spans := range d.lines[v.top:min(len(d.lines), v.top+height-1)] {
		l.reset(p.tone)
		l.gap(1)
		l.texts(spans...)
		if left := len(d.lines) - v.top - (height - 1); i == height-2 && left > 0 {
			moreMark(l, p.sym, left, false)
		}
		lines = append(lines, l.done())
	}
	return p.pad(lines, width, height)
}

// sessionDoc tells everything that is known of a session.
func sessionDoc(d *doc, s *scene, r *sessionRow, scan *scanResult) {
	if r.stands == sessionOrphan {
		d.para(roleDelay, "Probably an orphan: "+plural(r.alike, "session")+" with this name, node and checks have no TTL and hold "+
			"no known key. A program that restarts may leave its sessions behind.")
		d.blank()
	}
	d.field("Session", span{roleText, clean(r.ses.ID)})
	if r.ses.Name != "" {
		d.field("Name", span{roleText, clean(r.ses.Name)})
	}
	d.field("Node", span{roleText, clean(r.ses.Node)})
	label, note := "First seen", "; Consul does not record when a session was created"
	if r.created {
		label, note = "Created", " ago"
	}
	d.field(label, span{roleText, clock(r.seen, s.now)}, span{roleQuiet, "  " + r.age(d.sym, s) + note})
	sessionSettings(d, s, r.ses)
	d.head("Holds")
	heldDoc(d, s, r, scan)
}

func heldDoc(d *doc, s *scene, r *sessionRow, scan *scanResult) {
	if r.known() == 0 {
		d.para(roleQuiet, capital(r.nothing())+r.unknown(scan)+" It may wait as a candidate: Consul does not record waiters.")
		return
	}
	for _, e := range r.holds {
		d.beside([]span{{roleLed, d.sym.led + " "}}, 2, span{roleStrong, sanitize.Text(e.Name)},
			span{roleQuiet, "  " + sanitize.Text(e.Key())},
			span{roleText, "  term "}, termSpan(e, d.sym), span{roleText, ", for " + held(d.sym, s.asOf.Sub(e.Since), e.SinceKnown)})
	}
	for _, e := range r.slots {
		d.beside([]span{{roleTermB, d.sym.semaphore + " "}}, 2, span{roleStrong, sanitize.Text(e.Name)},
			span{roleQuiet, "  " + sanitize.Text(e.Key())}, span{roleText, "  a slot of the semaphore"})
	}
	if !r.scanned {
		d.para(roleQuiet, strings.TrimPrefix(r.unknown(scan), ". "))
		return
	}
	d.head("Not watched, as of " + clockTime(scan.at) + ", " + duration(s.now.Sub(scan.at)) + " ago")
	for i, key := range r.others {
		if i == shownOthers {
			d.add(span{roleQuiet, "and " + plural(len(r.others)-i, "more key")})
			break
		}
		d.indented(0, span{roleText, sanitize.Text(key)})
	}
	if len(r.others) == 0 {
		d.add(span{roleQuiet, "no key"})
	}
	if r.partly {
		d.para(roleDelay, "This token may not read all keys: there may be more.")
	}
}

// shownOthers is how many keys outside the patterns are listed.
const shownOthers = 1000

// unknown ends a sentence with as of when it is known what a session holds outside
// the patterns, or with how to find out.
func (r *sessionRow) unknown(scan *scanResult) string {
	switch {
	case r.scanned:
		return ", as of " + clockTime(scan.at) + "."
	case !scan.at.IsZero():
		return ". The session is newer than the latest scan: it may hold keys outside the patterns (f scans again)."
	}
	return ". It may hold keys outside the patterns (f scans the whole store)."
}
