package ui

import "electop/election"

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
	sessionDoc(d, s, r)
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
func sessionDoc(d *doc, s *scene, r *sessionRow) {
	if r.stands == sessionOrphan {
		d.para(roleDelay, "Probably an orphan: "+plural(r.alike, "session")+" of this name, on this node and with these checks hold "+
			"nothing that is watched here and have no TTL. A program that restarts may leave its sessions behind.")
		d.blank()
	}
	d.field("Session", span{roleText, clean(r.ses.ID)})
	if r.ses.Name != "" {
		d.field("Name", span{roleText, clean(r.ses.Name)})
	}
	d.field("Node", span{roleText, clean(r.ses.Node)})
	seen := []span{{roleText, clock(r.seen, s.now)}, {roleQuiet, "  " + duration(s.asOf.Sub(r.seen)) + " ago"}}
	if !r.fresh {
		seen = []span{{roleText, "at least since " + clock(r.seen, s.now)},
			{roleQuiet, "  " + r.age(d.sym, s) + "; it was there when the list was first read"}}
	}
	d.field("Seen since", seen...)
	sessionSettings(d, s, r.ses)
	d.head("Holds")
	heldDoc(d, s, r)
}

func heldDoc(d *doc, s *scene, r *sessionRow) {
	if r.stands != sessionHolding {
		d.para(roleQuiet, "Nothing that is watched here. It may hold other keys, or wait as a candidate: Consul records nobody who waits.")
		return
	}
	for _, e := range r.holds {
		d.beside([]span{{roleLed, d.sym.led + " "}}, 2, span{roleStrong, election.Sanitize(e.Name)},
			span{roleQuiet, "  " + election.Sanitize(e.Key())},
			span{roleText, "  term " + number(e.Term) + ", for " + atLeast(d.sym, duration(s.asOf.Sub(e.Since)), e.SinceKnown)})
	}
	for _, e := range r.slots {
		d.beside([]span{{roleTermB, d.sym.semaphore + " "}}, 2, span{roleStrong, election.Sanitize(e.Name)},
			span{roleQuiet, "  " + election.Sanitize(e.Key())}, span{roleText, "  a slot of the semaphore"})
	}
}
