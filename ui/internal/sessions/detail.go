package sessions

import (
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

func (v *Model) drawOpen(p *term.Painter, s *scene.Scene, r *row, width, height int) []string {
	sign := r.sign(p.Sym)
	name := scene.Clean(r.ses.Name)
	if name == "" {
		name = election.ShortID(r.ses.ID)
	}
	title := []term.Span{{sign.Role, sign.Text + " "}, {term.Strong, name}, {term.Quiet, "  on " + scene.Clean(r.ses.Node)}}
	right := []term.Control{term.Hint("esc", "all sessions")}
	lines := append(make([]string, 0, height), p.RuleWith(width, term.Fit(title, width-24, p.Sym), right))
	lines = p.Text(lines, v.document(s, r, width).Lines, v.top, height-1, width, 0)
	return p.Pad(lines, width, height)
}

// document returns the text about an open session.
func (v *Model) document(s *scene.Scene, r *row, width int) *term.Page {
	d := &term.Page{Width: width - 2, Sym: s.Sym}
	if v.scan.running() {
		d.Lines = append(term.Flow(v.scan.run.ProgressSpans(), d.Width), nil)
	}
	describe(d, s, r, &v.scan.result)
	return d
}

func describe(d *term.Page, s *scene.Scene, r *row, scan *scanResult) {
	if r.state == orphan {
		d.Para(term.Delay, "Probably an orphan: "+term.Plural(r.alike, "session")+" with this name, node and checks have no TTL and hold "+
			"no known key. A program that restarts may leave its sessions behind.")
		d.Blank()
	}
	if r.failure != nil {
		d.Para(term.Bad, d.Sym.Critical+" "+r.failure.Why())
		d.Blank()
	}
	d.Field("Session", term.Span{term.Text, scene.Clean(r.ses.ID)})
	if r.ses.Name != "" {
		d.Field("Name", term.Span{term.Text, scene.Clean(r.ses.Name)})
	}
	d.Field("Node", term.Span{term.Text, scene.Clean(r.ses.Node)})
	label, note := "First seen", "; Consul does not record when a session was created"
	if r.created {
		label, note = "Created", " ago"
	}
	d.Field(label, term.Span{term.Text, term.Clock(r.seen, s.Now)}, term.Span{term.Quiet, "  " + r.age(d.Sym, s) + note})
	scene.SessionSettings(d, s, r.ses)
	d.Head("Holds")
	heldDoc(d, s, r, scan)
}

func heldDoc(d *term.Page, s *scene.Scene, r *row, scan *scanResult) {
	if r.known() == 0 {
		d.Para(term.Quiet, term.Capital(r.nothing())+r.unknown(scan)+" The session may be a candidate: Consul does not record waiters.")
		return
	}
	for _, e := range r.holds {
		d.Beside([]term.Span{{term.Led, d.Sym.Led + " "}}, 2, term.Span{term.Strong, sanitize.Text(e.Name)},
			term.Span{term.Quiet, "  " + sanitize.Text(e.Key())},
			term.Span{term.Text, "  term "}, scene.TermSpan(e, d.Sym), term.Span{term.Text, ", for " + scene.Held(d.Sym, s.AsOf.Sub(e.Since), e.SinceKnown)})
	}
	for _, e := range r.slots {
		d.Beside([]term.Span{{term.TermB, d.Sym.Semaphore + " "}}, 2, term.Span{term.Strong, sanitize.Text(e.Name)},
			term.Span{term.Quiet, "  " + sanitize.Text(e.Key())}, term.Span{term.Text, "  a slot of the semaphore"})
	}
	if !r.scanned {
		d.Para(term.Quiet, strings.TrimPrefix(r.unknown(scan), ". "))
		return
	}
	d.Head("Unwatched keys, as of " + term.ClockTime(scan.at) + ", " + term.Duration(s.Now.Sub(scan.at)) + " ago")
	for i, key := range r.others {
		if i == shownOthers {
			d.Add(term.Span{term.Quiet, "and " + term.Plural(len(r.others)-i, "more key")})
			break
		}
		d.Indented(0, term.Span{term.Text, sanitize.Text(key)})
	}
	if len(r.others) == 0 {
		d.Add(term.Span{term.Quiet, "no keys"})
	}
	if r.partly {
		d.Para(term.Delay, "This token cannot read all keys: the session may hold more keys.")
	}
}

// shownOthers is the maximum number of unwatched keys in the text.
const shownOthers = 1000

// unknown returns the end of a sentence: the time of the scan, or the key that starts a scan.
func (r *row) unknown(scan *scanResult) string {
	switch {
	case r.scanned:
		return ", as of " + term.ClockTime(scan.at) + "."
	case !scan.at.IsZero():
		return ". The session is newer than the latest scan: it may hold keys outside the patterns (f scans again)."
	}
	return ". The session may hold keys outside the patterns (f scans the whole store)."
}
