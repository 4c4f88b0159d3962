// Package sessions implements the Sessions view, which lists all sessions.
package sessions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Model is the list of sessions.
type Model struct {
	scene.List[*row]
	content
}

// New returns a view without sessions.
func New(k keys.Map) *Model {
	v := &Model{}
	v.List = scene.List[*row]{
		ListState: scene.ListState{Keys: k, Scope: query.Sessions, Sorts: v.columns(nil).SortKeys()}, Refresh: v.refresh, Select: v.matching,
		ID: func(r *row) string { return scene.SessionRow(r.ses) },
	}
	return v
}

// Selected returns the session under the cursor, or nil if there is none.
func (v *Model) Selected() *election.Session {
	if r := v.List.Selected(); r != nil {
		return r.ses
	}
	return nil
}

// Result describes how many sessions match the filter: "3 of 9 sessions".
func (v *Model) Result(*scene.Scene) string {
	return strconv.Itoa(len(v.Rows)) + " of " + kit.Plural(len(v.rows), "session")
}

// refresh sorts and filters the rows. It rebuilds them first if the sessions or elections changed.
func (v *Model) refresh(s *scene.Scene) {
	snap := s.Shown
	if v.sessions != snap.SessionList || !election.SameSlice(v.elections, snap.Elections) {
		v.content = build(snap)
		known := make(map[string]bool, len(v.rows))
		for _, r := range v.rows {
			known[v.ID(r)] = true
		}
		v.Unmark(func(id string) bool { return !known[id] })
	}
	failed := failedLeaders(snap) // checks can change although the list and the board do not
	for _, r := range v.rows {
		r.failure = failed[r.ses.ID]
	}
	rows := v.Select(v.Filter, s)
	by := v.columns(s).Sorted(v.Sorts[v.By])
	slices.SortFunc(rows, func(a, b *row) int {
		c := by(a, b)
		if v.Reverse {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.ses.Name, b.ses.Name), strings.Compare(a.datacenter, b.datacenter), strings.Compare(a.ses.Node, b.ses.Node), strings.Compare(a.ses.ID, b.ses.ID))
	})
	v.Set(rows)
}

func (v *Model) matching(f query.Filter, _ *scene.Scene) []*row {
	return election.Without(v.rows, func(r *row) bool {
		return slices.ContainsFunc(f.Words, func(w query.Word) bool { return matchWord(&w, r) == w.Not })
	})
}

// Update handles a message. While the board shows the past, the list does not change, because the history stores no
// sessions.
func (v *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	action := v.update(msg, s)
	v.Scroll(v.Rect.H - 2 - len(v.news(s)))
	return action
}

func (v *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Choose:
		return v.choose(msg, s)
	case scene.Resized:
		return v.Handle(msg, s)
	case scene.Back:
		if s.Past != nil {
			return scene.Pass{}
		}
	}
	if s.Past != nil {
		return nil
	}
	switch msg := msg.(type) {
	case scene.Changed, scene.Opened:
		v.refresh(s)
		return nil
	case scene.GoTo:
		v.GoTo(msg.ID)
		return nil
	case tea.KeyPressMsg:
		if r := v.List.Selected(); r != nil && key.Matches(msg, v.Keys.Open) {
			return v.open(r)
		}
	}
	return v.Handle(msg, s)
}

// choose requests the destroy of sessions.
func (v *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	if c.Kind == election.ActionRelease {
		return scene.Refuse("A session can be destroyed (" + v.Keys.Destroy.Help().Key + ") but not released. Release an election in view 1.")
	}
	return v.Choose(c, "session", s, func(r *row) (scene.Target, string) { return s.BindSession(r.ses), "" })
}

// columns returns the columns of the table.
func (v *Model) columns(s *scene.Scene) kit.Table[*row] {
	name, node, hold := max(11, min(28, 2+v.name)), max(6, min(24, v.node)), max(16, min(25, v.hold))
	behavior, delay, id := len("BEHAVIOR"), len("LOCK-DELAY"), 36
	if v.node == 0 && len(v.Rows) > 0 { // leases, which only have an ID
		name, node, behavior, delay, id = 18, 0, 0, 0, 0
	}
	return kit.Table[*row]{
		{Name: "name", By: func(a, b *row) int { return strings.Compare(a.ses.Name, b.ses.Name) }, Title: "SESSION", Indent: 2, Most: name, Cell: drawName},
		{Name: "dc", Most: v.datacenter, Span: func(r *row) kit.Span { return kit.Text.Span(scene.Clean(r.datacenter)) }},
		{Name: "node", By: func(a, b *row) int { return strings.Compare(a.ses.Node, b.ses.Node) }, Rank: 6, Most: node, Span: func(r *row) kit.Span { return kit.Text.Span(scene.Clean(r.ses.Node)) }},
		{Name: "state", By: func(a, b *row) int { return cmp.Compare(a.state, b.state) }}, // not a column: the sign shows the state
		{Name: "holds", By: func(a, b *row) int { return cmp.Compare(len(b.holds), len(a.holds)) }, Least: hold, Most: max(hold, v.hold), Span: holdsText},
		{Name: "age", By: func(a, b *row) int { return a.seen.Compare(b.seen) }, Rank: 5, Most: 8, Span: func(r *row) kit.Span { return kit.Text.Span(r.age(s.In(r.datacenter))) }},
		{Name: "ttl", By: func(a, b *row) int { return cmp.Compare(a.ses.TTL, b.ses.TTL) }, Rank: 4, Most: 6, Span: func(r *row) kit.Span { return kit.Text.Span(r.ses.TTLText()) }},
		{Name: "behavior", Rank: 2, Most: behavior, Span: func(r *row) kit.Span { return kit.Quiet.Span(scene.Clean(r.ses.Behavior)) }},
		{Name: "lock-delay", Rank: 1, Most: delay, Span: func(r *row) kit.Span { return kit.Quiet.Span(r.ses.LockDelay.String()) }},
		{Name: "id", Rank: 3, Whole: true, Least: min(id, 8), Most: id, Cell: func(r *row, l *kit.Line, n int) { l.Cell(kit.Quiet, scene.SessionText(r.ses.ID, n > 8), n) }},
	}
}

func drawName(r *row, l *kit.Line, width int) {
	name := kit.Text.Span(scene.Clean(r.ses.Name))
	switch {
	case r.ses.Store.Leases:
		name.Text = scene.Clean(r.ses.ID)
	case name.Text == "":
		name = kit.Faint.Span("no name")
	}
	if l.Marked {
		name.Role = kit.Accent
	}
	l.Texts(r.sign(l.Sym), kit.Text.Span(" "))
	l.Cell(name.Role, name.Text, width-2)
}

// View draws the list or the open session in the area set by [scene.Resized].
func (v *Model) View(s *scene.Scene, p *kit.Painter) []string {
	w, h := v.Rect.W, v.Rect.H
	title := kit.Strong.Spans("Sessions")
	if s.Past != nil {
		text := kit.Quiet.Span(" Sessions are " + scene.NotStored + " in the history.")
		return p.Pad([]string{p.Rule(w, title), p.Draw(w), p.Draw(w, text)}, w, h)
	}
	if len(v.rows) > 0 {
		title = append(title, kit.Quiet.Span("  "+strconv.Itoa(len(v.rows))+", "+strconv.Itoa(v.holding)+" hold a watched key"))
	}
	if v.orphans > 0 {
		title = append(title, kit.Delay.Span("  "+kit.Plural(v.orphans, "orphan")+"?"))
	}
	var hidden []kit.Span
	if len(v.Rows) > v.Height {
		hidden = kit.Quiet.Spans(p.Sym.Up + " " + strconv.Itoa(v.Offset) + "  " + p.Sym.Down + " " + strconv.Itoa(v.Below()))
	}
	lines := []string{p.Rule(w, title, kit.Label(hidden...))}
	lines = p.Text(lines, v.news(s), 0, h, w)
	if len(v.Rows) > 0 {
		table := v.columns(s).Fit(w)
		lines = append(lines, table.Head(p, w, v.Sorts, v.Sorts[v.By], !v.Reverse))
		lines = append(lines, v.Draw(p, func(r *row) kit.Tone {
			if s.In(r.datacenter).Stale {
				return kit.Stale
			}
			return p.Tone
		}, table.Row)...)
	}
	return p.Pad(lines, w, h)
}

// news returns the lines above the list: why it is empty, incomplete or old. A banner shows a lost connection.
func (v *Model) news(s *scene.Scene) (lines [][]kit.Span) {
	add := func(part *election.Snapshot, r kit.Role, text string) {
		if len(s.Shown.Parts) > 1 {
			text = scene.Clean(part.Datacenter) + ": " + text
		}
		lines = append(lines, kit.Flow(r.Spans(text), v.Rect.W-2)...)
	}
	for _, part := range s.Shown.Datacenters() {
		list, lost := part.SessionList, part.Connection.State == election.Lost
		switch {
		case list == nil && s.Paused:
			add(part, kit.Delay, "The board is paused: press "+v.Keys.Pause.Help().Key+" to continue and read the sessions.")
			continue
		case list == nil || lost && len(list.Sessions) == 0:
			add(part, kit.Quiet, "The sessions have not been read yet.")
			continue
		case list.Err != "" && list.Denied && len(list.Sessions) == 0:
			add(part, kit.Delay, kit.Capital(scene.Clean(list.Err))+". Listing sessions requires session_prefix \"\" { policy = \"read\" }, or a session rule for one node to list only the sessions of that node.")
		case list.Err != "" && !lost:
			add(part, kit.Delay, kit.Capital(scene.Clean(list.Err))+".")
		case len(v.rows) == 0:
			text := "No sessions are visible."
			if !part.Store.Leases {
				text += " Consul omits sessions that the token cannot read, so hidden sessions may exist."
			}
			add(part, kit.Delay, text)
		}
		if !list.Until.IsZero() && len(list.Sessions) > 0 && !lost {
			add(part, kit.Delay, "This list is "+s.Ago(list.Until)+" old.")
		}
		if list.Partial {
			add(part, kit.Delay, "Access to some sessions is denied: they are not listed.")
		}
	}
	if len(v.rows) > 0 && len(v.Rows) == 0 {
		lines = append(lines, kit.Quiet.Spans("No session matches the filter. Esc clears it."))
	}
	return lines
}
