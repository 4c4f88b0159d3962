package sessions

import (
	"cmp"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (v *Model) drawOpen(p *kit.Painter, s *scene.Scene, r *row) []string {
	width, height := v.Rect.W, v.Rect.H
	sign := r.sign(p.Sym)
	title := []kit.Span{{sign.Role, sign.Text + " "}, {kit.Strong, cmp.Or(scene.Clean(r.ses.Name), election.ShortID(r.ses.ID))},
		{kit.Quiet, "  on " + scene.Clean(r.ses.Node)}}
	lines := []string{p.RuleWith(width, kit.Fit(title, width-24, p.Sym), []kit.Control{kit.Hint("esc", "all sessions")})}
	return p.Pad(p.Text(lines, v.document(s, r).Lines, v.top, height-1, width), width, height)
}

// document returns the text about an open session.
func (v *Model) document(s *scene.Scene, r *row) *kit.Page {
	d := &kit.Page{Width: v.Rect.W - 2, Sym: s.Sym}
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
	d.Field(label, kit.Span{kit.Text, kit.Clock(r.seen, s.Now)}, kit.Span{kit.Quiet, "  " + r.age(s) + note})
	scene.SessionSettings(d, s, r.ses)
	d.Head("Holds")
	if len(r.holds) == 0 {
		d.Para(kit.Quiet, "No watched keys. The session may be a candidate: Consul does not record waiters.")
	}
	for _, e := range r.holds {
		sign, what := kit.Span{kit.Accent, d.Sym.Semaphore + " "}, []kit.Span{{kit.Text, "  a slot of the semaphore"}}
		if !isSlot(e) {
			sign = kit.Span{kit.Led, d.Sym.Led + " "}
			what = []kit.Span{{kit.Text, "  term "}, scene.TermSpan(e, d.Sym), {kit.Text, ", for " + scene.Held(d.Sym, s.AsOf.Sub(e.Since), e.SinceKnown)}}
		}
		d.Beside([]kit.Span{sign}, 2, append([]kit.Span{{kit.Strong, sanitize.Text(e.Name)}, {kit.Quiet, "  " + sanitize.Text(e.Key())}}, what...)...)
	}
	d.Para(kit.Quiet, "The session may hold keys outside the patterns: "+v.Keys.Destroy.Help().Key+" searches the whole store before it destroys the session.")
	return d
}
