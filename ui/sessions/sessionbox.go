package sessions

import (
	"cmp"
	"slices"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// open opens the box that shows a session in full. It stays on the session while the list changes.
func (v *Model) open(r *row) scene.Action {
	title := cmp.Or(scene.Clean(r.ses.Name), election.ShortID(r.ses.ID))
	if node := scene.Clean(r.ses.Node); node != "" {
		title += " on " + node
	}
	o := &scene.Overlay{Sheet: kit.Sheet{Title: title, Width: 110}}
	o.Buttons = []kit.Button{{Key: v.Keys.Destroy.Keys()[0], Hint: "destroy", Do: func() any {
		return scene.Ask{Kind: election.ActionDestroy, Targets: []scene.Target{o.S.BindSession(r.ses)}}
	}}}
	o.Write = func(page *kit.Page) {
		if i := slices.IndexFunc(v.rows, func(other *row) bool { return v.ID(other) == v.ID(r) }); i >= 0 {
			r = v.rows[i]
		} else {
			page.Para(kit.Bad, "The session has ended, or the token can no longer read it.")
			return
		}
		v.write(page, o.S, r)
	}
	return o
}

// write writes the text about a session.
func (v *Model) write(d *kit.Page, s *scene.Scene, r *row) {
	if r.state == orphan {
		d.Para(kit.Delay, "Probably an orphan: "+kit.Plural(r.alike, "session")+" with this name, node and checks have no TTL and hold "+
			"no known key. A program that restarts may leave its sessions behind.")
		d.Blank()
	}
	if r.failure != nil {
		d.Para(kit.Bad, d.Sym.Critical+" "+r.failure.Why())
		d.Blank()
	}
	d.Value("Session", scene.Clean(r.ses.ID))
	d.Value("Name", scene.Clean(r.ses.Name))
	d.Value("Node", scene.Clean(r.ses.Node))
	label, note := "First seen", "; "+r.ses.Store.String()+" does not record when a session was created"
	if r.created {
		label, note = "Created", " ago"
	}
	d.Value(label, s.Clock(r.seen), r.age(s)+note)
	s.SessionSettings(d, r.ses)
	d.Head("Holds")
	switch {
	case r.waits != nil:
		d.Para(kit.Quiet, kit.Capital(holdsText(r).Text)+".")
	case len(r.holds) == 0:
		d.Para(kit.Quiet, "No watched keys. The session may be a candidate.")
	}
	for _, e := range r.holds {
		sign, what := kit.Accent.Span(d.Sym.Semaphore+" "), kit.Text.Spans("  a slot of the semaphore")
		if !isSlot(e) {
			sign = kit.Led.Span(d.Sym.Led + " ")
			what = append(s.TermSpans(e), kit.Text.Span(", for "+s.Held(s.AsOf.Sub(e.Since), e.SinceKnown)))
		}
		d.Beside([]kit.Span{sign}, 2, append([]kit.Span{{kit.Strong, sanitize.Text(e.Name)}, {kit.Quiet, "  " + sanitize.Text(e.Key())}}, what...)...)
	}
	d.Para(kit.Quiet, "The session may hold keys outside the patterns: "+v.Keys.Destroy.Help().Key+" lists them before it destroys the session.")
}
