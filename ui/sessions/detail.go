package sessions

import (
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (v *Model) drawOpen(p *kit.Painter, s *scene.Scene, r *row) []string {
	width, height := v.rect.W, v.rect.H
	sign := r.sign(p.Sym)
	name := scene.Clean(r.ses.Name)
	if name == "" {
		name = election.ShortID(r.ses.ID)
	}
	title := []kit.Span{{sign.Role, sign.Text + " "}, {kit.Strong, name}, {kit.Quiet, "  on " + scene.Clean(r.ses.Node)}}
	right := []kit.Control{kit.Hint("esc", "all sessions")}
	lines := append(make([]string, 0, height), p.RuleWith(width, kit.Fit(title, width-24, p.Sym), right))
	lines = p.Text(lines, v.document(s, r, width).Lines, v.top, height-1, width)
	return p.Pad(lines, width, height)
}

// document returns the text about an open session.
func (v *Model) document(s *scene.Scene, r *row, width int) *kit.Page {
	d := &kit.Page{Width: width - 2, Sym: s.Sym}
	if v.scan.run.Running() {
		d.Lines = append(kit.Flow(v.scan.run.ProgressSpans(v.keys.Scan.Help().Key), d.Width), nil)
	}
	v.describe(d, s, r)
	return d
}

func (v *Model) describe(d *kit.Page, s *scene.Scene, r *row) {
	if r.state == orphan {
		d.Para(kit.Delay, "Probably an orphan: "+kit.Plural(r.alike, "session")+" with this name, node and checks have no TTL and hold "+
			"no known key. A program that restarts may leave its sessions behind.")
		d.Blank()
	}
	if r.failure != nil {
		d.Para(kit.Bad, d.Sym.Critical+" "+r.failure.Why())
		d.Blank()
	}
	d.Field("Session", kit.Span{kit.Text, scene.Clean(r.ses.ID)})
	if r.ses.Name != "" {
		d.Field("Name", kit.Span{kit.Text, scene.Clean(r.ses.Name)})
	}
	d.Field("Node", kit.Span{kit.Text, scene.Clean(r.ses.Node)})
	label, note := "First seen", "; Consul does not record when a session was created"
	if r.created {
		label, note = "Created", " ago"
	}
	d.Field(label, kit.Span{kit.Text, kit.Clock(r.seen, s.Now)}, kit.Span{kit.Quiet, "  " + r.age(d.Sym, s) + note})
	scene.SessionSettings(d, s, r.ses)
	d.Head("Holds")
	v.writeHeld(d, s, r)
}

func (v *Model) writeHeld(d *kit.Page, s *scene.Scene, r *row) {
	scan := &v.scan.result
	if r.known() == 0 {
		d.Para(kit.Quiet, kit.Capital(r.nothing())+v.unknown(r)+" The session may be a candidate: Consul does not record waiters.")
		return
	}
	for _, e := range r.holds {
		d.Beside([]kit.Span{{kit.Led, d.Sym.Led + " "}}, 2, kit.Span{kit.Strong, sanitize.Text(e.Name)},
			kit.Span{kit.Quiet, "  " + sanitize.Text(e.Key())},
			kit.Span{kit.Text, "  term "}, scene.TermSpan(e, d.Sym), kit.Span{kit.Text, ", for " + scene.Held(d.Sym, s.AsOf.Sub(e.Since), e.SinceKnown)})
	}
	for _, e := range r.slots {
		d.Beside([]kit.Span{{kit.Accent, d.Sym.Semaphore + " "}}, 2, kit.Span{kit.Strong, sanitize.Text(e.Name)},
			kit.Span{kit.Quiet, "  " + sanitize.Text(e.Key())}, kit.Span{kit.Text, "  a slot of the semaphore"})
	}
	if !r.scanned {
		d.Para(kit.Quiet, strings.TrimPrefix(v.unknown(r), ". "))
		return
	}
	d.Head("Unwatched keys, as of " + kit.ClockTime(scan.at) + ", " + kit.Duration(s.Now.Sub(scan.at)) + " ago")
	for i, key := range r.others {
		if i == shownOthers {
			d.Add(kit.Span{kit.Quiet, "and " + kit.Plural(len(r.others)-i, "more key")})
			break
		}
		d.Indented(0, kit.Span{kit.Text, sanitize.Text(key)})
	}
	if len(r.others) == 0 {
		d.Add(kit.Span{kit.Quiet, "no keys"})
	}
	if r.partly {
		d.Para(kit.Delay, "This token cannot read all keys: the session may hold more keys.")
	}
}

// shownOthers is the maximum number of unwatched keys in the text.
const shownOthers = 1000

// unknown returns the end of a sentence: the time of the scan, or the key that starts a scan.
func (v *Model) unknown(r *row) string {
	scan, scans := &v.scan.result, v.keys.Scan.Help().Key
	switch {
	case r.scanned:
		return ", as of " + kit.ClockTime(scan.at) + "."
	case !scan.at.IsZero():
		return ". The session is newer than the latest scan: it may hold keys outside the patterns (" + scans + " scans again)."
	}
	return ". The session may hold keys outside the patterns (" + scans + " scans the whole store)."
}
