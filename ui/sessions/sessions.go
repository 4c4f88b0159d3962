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
	keys   keys.Map
	search scene.Searcher
	rect   kit.Rect
	list   kit.List[*row] // the filtered and sorted rows
	filter query.Filter
	// open is set while the session under the cursor is shown in full. top is the first visible line.
	open bool
	top  int
	scan storeScan
	content
}

// content is what the rows are built from, and what was computed from it.
type content struct {
	rows      []row // one for each session
	sessions  *election.SessionList
	elections []*election.Election
	scanned   scanResult
	// holding and orphans are the numbers of sessions in these states.
	holding, orphans int
	// name, node and hold are the maximum widths of these columns, in cells. datacenter is the width of the datacenter
	// column, or 0 if there is only one datacenter.
	name, node, hold, datacenter int
}

// New returns a view without sessions.
func New(k keys.Map, search scene.Searcher) *Model {
	return &Model{keys: k, search: search, list: kit.List[*row]{
		ID:    func(r *row) string { return r.ses.ID },
		Is:    func(id string, r *row) bool { return r.ses.ID == id },
		Sorts: SortKeys(),
	}}
}

// SortKeys lists the sort keys of the table.
func SortKeys() []string { return []string{"name", "node", "state", "holds", "age", "ttl"} }

// Cursor returns the ID of the session under the cursor, or "" if there is none.
func (v *Model) Cursor() string { return v.list.Cursor }

// Selected returns the session under the cursor, or nil if there is none.
func (v *Model) Selected() *election.Session {
	if r := v.list.Selected(); r != nil {
		return r.ses
	}
	return nil
}

// Open reports whether the selected session is shown in full.
func (v *Model) Open() bool { return v.open }

// Filter returns the current filter.
func (v *Model) Filter() query.Filter { return v.filter }

// Result describes how many sessions match the filter: "3 of 9 sessions".
func (v *Model) Result(*scene.Scene) string {
	return strconv.Itoa(len(v.list.Rows)) + " of " + kit.Plural(len(v.rows), "session")
}

// Marks counts the marked sessions that the filter shows, and those that it hides.
func (v *Model) Marks(*scene.Scene) (visible, hidden int) { return v.list.Marks() }

// Place returns the place of the footer.
func (v *Model) Place() keys.Place {
	if v.open {
		return keys.Session
	}
	return keys.Sessions
}

// refresh sorts and filters the rows. It rebuilds them first if the sessions or elections changed.
func (v *Model) refresh(snap *election.Snapshot) {
	if v.sessions != snap.SessionList || !scene.SameSlice(v.elections, snap.Elections) || !v.scanned.at.Equal(v.scan.result.at) {
		v.content = build(snap, v.scan.result)
		known := make(map[string]bool, len(v.rows))
		for i := range v.rows {
			known[v.rows[i].ses.ID] = true
		}
		v.list.Unmark(func(id string) bool { return !known[id] })
	}
	failed := failedLeaders(snap) // checks can change although the list and the board do not
	rows := make([]*row, 0, len(v.rows))
	for i := range v.rows {
		r := &v.rows[i]
		r.failure = failed[r.ses.ID]
		if v.filter.Empty() || match(v.filter, r) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		c := compare(v.list.Sorts[v.list.By], a, b)
		if v.list.Reverse {
			c = -c
		}
		return cmp.Or(c, strings.Compare(a.ses.Name, b.ses.Name), strings.Compare(a.datacenter, b.datacenter), strings.Compare(a.ses.Node, b.ses.Node), strings.Compare(a.ses.ID, b.ses.ID))
	})
	was := v.list.Cursor
	v.list.Set(rows)
	v.open = v.open && v.list.Cursor == was
}

func compare(by string, a, b *row) int {
	switch by {
	case "node":
		return strings.Compare(a.ses.Node, b.ses.Node)
	case "state":
		return cmp.Compare(a.state, b.state)
	case "holds":
		return cmp.Compare(b.known(), a.known())
	case "age":
		return a.seen.Compare(b.seen)
	case "ttl":
		return cmp.Compare(a.ses.TTL, b.ses.TTL)
	}
	return strings.Compare(a.ses.Name, b.ses.Name)
}

// Update handles a message and returns an action for the program. While the board shows the past, the list does not
// change, because the history stores no sessions.
func (v *Model) Update(msg tea.Msg, s *scene.Scene) scene.Action {
	action := v.data(msg, s)
	if _, back := msg.(scene.Back); back && s.Past != nil {
		return scene.Pass{}
	}
	if s.Past == nil && action == nil {
		action = v.used(msg, s)
	}
	if r := v.list.Selected(); v.open && r != nil {
		v.top = max(0, min(v.top, len(v.document(s, r, v.rect.W).Lines)-(v.rect.H-1)))
	}
	v.list.Scroll(v.rect.H - 2 - len(v.news(s)))
	return action
}

// data handles the messages that the view also needs while the board shows the past.
func (v *Model) data(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Report:
		return scene.Say{Role: kit.Delay, Text: scene.Covered + "."} // a report is about elections
	case scene.Resized:
		v.rect = msg.Rect
	case scene.Unmark:
		done := map[string]bool{}
		for _, t := range msg.Targets {
			done[t.Session] = t.SessionOnly != nil
		}
		v.list.EndRange()
		v.list.Unmark(func(id string) bool { return done[id] })
	case scene.Choose:
		return v.choose(msg, s)
	}
	return nil
}

func (v *Model) used(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case scene.Changed:
		v.refresh(s.Shown)
	case scene.Opened:
		v.open = false
		v.refresh(s.Shown)
	case scene.Filtered:
		v.list.EndRange()
		v.filter = query.Parse(msg.Text, query.Sessions)
		v.refresh(s.Shown)
	case scene.GoTo:
		v.list.GoTo(msg.ID)
	case tea.KeyPressMsg:
		return v.pressed(msg, s)
	case scene.Clicked:
		return v.did(s)(v.list.Click(msg.Area))
	case scene.Wheeled:
		if v.open {
			v.top += msg.Step
			break
		}
		v.list.MoveTo(v.list.Index + msg.Step)
	case scene.Moved:
		v.list.MoveTo(v.list.Index + msg.Step)
	case scene.SortBy:
		return v.did(s)(v.list.SortByText(msg.Text))
	case scene.Back:
		return v.back(s)
	}
	return nil
}

// did completes the effect of an input on the list.
func (v *Model) did(s *scene.Scene) func(kit.Effect, string) scene.Action {
	return func(effect kit.Effect, note string) scene.Action {
		if effect == kit.Sorted {
			v.refresh(s.Shown)
		}
		return scene.Listed(effect, note)
	}
}

// back undoes one step.
func (v *Model) back(s *scene.Scene) scene.Action {
	switch {
	case v.scan.run.Running():
		v.scan.run.Stop()
	case v.open:
		v.open = false
	case v.list.Back(false):
		return scene.Say{} // removes the note about the range
	case !v.filter.Empty():
		v.filter = query.Filter{}
		v.refresh(s.Shown)
	case !v.list.Back(true):
		return scene.Pass{}
	}
	return nil
}

func (v *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	k := &v.keys
	switch {
	case key.Matches(msg, k.Scan):
		return v.toggleScan(s)
	case key.Matches(msg, k.Destroy):
		return v.choose(scene.Choose{Kind: election.ActionDestroy, By: msg.String()}, s)
	case key.Matches(msg, k.Release):
		return v.choose(scene.Choose{Kind: election.ActionRelease, By: msg.String()}, s)
	case v.open:
		step, _ := k.Step(msg, max(1, v.rect.H-1), 1<<20)
		switch {
		case key.Matches(msg, k.PaneDown):
			step = 1
		case key.Matches(msg, k.PaneUp):
			step = -1
		}
		v.top += step
	case key.Matches(msg, k.Open):
		v.open, v.top = len(v.list.Rows) > 0, 0
	default:
		return v.did(s)(v.list.Key(msg, scene.ListKeys(v.keys, s)))
	}
	return nil
}

// choose requests the destroy of sessions. If the request has a filter, the targets are the matching sessions.
// Otherwise they are the marked sessions or, without marks, the selected session.
func (v *Model) choose(c scene.Choose, s *scene.Scene) scene.Action {
	refuse := func(reason string) scene.Action { return scene.Say{Role: kit.Delay, Text: reason} }
	if c.Kind == election.ActionRelease {
		return refuse("A session can be destroyed (" + v.keys.Destroy.Help().Key + ") but not released. Release an election in view 1.")
	}
	if reason := s.Refusal(c.Kind); reason != "" {
		return refuse(reason)
	}
	ask := scene.Ask{Kind: c.Kind, By: c.By}
	if c.Filter != "" {
		f := query.Parse(c.Filter, query.Sessions)
		if err := f.Check(); err != nil {
			return scene.Unknown(err)
		}
		for i := range v.rows {
			if match(f, &v.rows[i]) {
				ask.Targets = append(ask.Targets, s.BindSession(v.rows[i].ses))
			}
		}
		if len(ask.Targets) == 0 {
			return refuse("No session matches " + scene.OneLine(c.Filter, 60) + ".")
		}
		return ask
	}
	visible, hidden := v.list.Marked()
	for _, r := range visible {
		ask.Targets = append(ask.Targets, s.BindSession(r.ses))
	}
	for i := range v.rows {
		if _, out := slices.BinarySearch(hidden, v.rows[i].ses.ID); out {
			t := s.BindSession(v.rows[i].ses)
			ask.Hidden = append(ask.Hidden, t.Title())
		}
	}
	if r := v.list.Selected(); r != nil && len(ask.Targets)+len(ask.Hidden) == 0 {
		ask.Targets = append(ask.Targets, s.BindSession(r.ses))
	}
	switch {
	case len(ask.Targets) > 0:
	case len(ask.Hidden) > 0:
		return refuse(scene.AllHidden)
	default:
		return refuse("There is no session to destroy.")
	}
	return ask
}

// columns returns the columns of the table. s is the scene of a row's datacenter.
func (v *Model) columns(s *scene.Scene) kit.Table[*row] {
	text := func(role kit.Role, of func(*row) string) func(*row, *kit.Line, int) {
		return func(r *row, l *kit.Line, n int) { l.Cell(role, of(r), n) }
	}
	name, node, hold := max(11, min(28, 2+v.name)), max(6, min(24, v.node)), max(16, min(25, v.hold))
	return kit.Table[*row]{
		{Sort: "name", Title: "SESSION", Indent: 2, Least: name, Most: name, Cell: (*row).drawName},
		{Title: "DC", Least: v.datacenter, Most: v.datacenter, Cell: text(kit.Text, func(r *row) string { return scene.Clean(r.datacenter) })},
		{Sort: "node", Title: "NODE", Rank: 6, Least: node, Most: node, Cell: text(kit.Text, func(r *row) string { return scene.Clean(r.ses.Node) })},
		{Sort: "holds", Title: "HOLDS", Least: hold, Most: max(hold, v.hold), Cell: (*row).drawHolds},
		{Sort: "age", Title: "AGE", Rank: 5, Least: 8, Most: 8, Cell: text(kit.Text, func(r *row) string { return r.age(s.Sym, s.In(r.datacenter)) })},
		{Sort: "ttl", Title: "TTL", Rank: 4, Least: 6, Most: 6, Cell: (*row).drawTTL},
		{Title: "BEHAVIOR", Rank: 2, Least: 8, Most: 8, Cell: text(kit.Quiet, func(r *row) string { return scene.Clean(r.ses.Behavior) })},
		{Title: "LOCK-DELAY", Rank: 1, Least: 10, Most: 10, Cell: text(kit.Quiet, func(r *row) string { return kit.Short(r.ses.LockDelay) })},
		{Title: "ID", Rank: 3, Whole: true, Least: 8, Most: 36, Cell: func(r *row, l *kit.Line, n int) { l.Cell(kit.Quiet, scene.SessionText(r.ses.ID, n > 8), n) }},
	}
}

func (r *row) drawName(l *kit.Line, width int) {
	sign, name := r.sign(l.Sym), kit.Span{kit.Text, scene.Clean(r.ses.Name)}
	if name.Text == "" {
		name = kit.Span{kit.Faint, "no name"}
	}
	if r.marked {
		name.Role = kit.Accent
	}
	l.Texts(sign, kit.Span{kit.Text, " "})
	l.Cell(name.Role, name.Text, width-2)
}

func (r *row) drawHolds(l *kit.Line, width int) {
	text := r.holdsText()
	l.Cell(text.Role, text.Text, width)
}

func (r *row) drawTTL(l *kit.Line, width int) {
	if r.ses.TTL == 0 {
		l.Cell(kit.Quiet, "none", width)
		return
	}
	l.Cell(kit.Text, kit.Short(r.ses.TTL), width)
}

// View draws the list or the open session in the area set by [scene.Resized].
func (v *Model) View(s *scene.Scene, p *kit.Painter) []string {
	w, h := v.rect.W, v.rect.H
	title := []kit.Span{{kit.Strong, "Sessions"}}
	if s.Past != nil {
		text := kit.Span{kit.Quiet, " Sessions are " + scene.NotStored + " in the history."}
		return p.Pad([]string{p.Rule(w, title, nil), p.Draw(w), p.Draw(w, text)}, w, h)
	}
	if r := v.list.Selected(); v.open && r != nil {
		return v.drawOpen(p, s, r)
	}
	if len(v.rows) > 0 {
		hold := " hold a key"
		if v.scan.result.at.IsZero() {
			hold = " hold a watched key"
		}
		title = append(title, kit.Span{kit.Quiet, "  " + strconv.Itoa(len(v.rows)) + ", " + strconv.Itoa(v.holding) + hold})
	}
	if v.orphans > 0 {
		title = append(title, kit.Span{kit.Delay, "  " + kit.Plural(v.orphans, "orphan") + "?"})
	}
	var hidden []kit.Span
	if l := &v.list; len(l.Rows) > l.Height {
		hidden = []kit.Span{{kit.Quiet, p.Sym.Up + " " + strconv.Itoa(l.Offset) + "  " + p.Sym.Down + " " + strconv.Itoa(l.Below())}}
	}
	lines := append(make([]string, 0, h), p.Rule(w, title, hidden))
	for _, spans := range v.news(s) {
		lines = append(lines, p.Draw(w, append([]kit.Span{{kit.Text, " "}}, spans...)...))
	}
	if len(v.list.Rows) == 0 {
		return p.Pad(lines, w, h)
	}
	table := v.columns(s).Fit(w)
	lines = append(lines, table.Head(p, w, v.list.Sorts, v.list.Sorts[v.list.By], !v.list.Reverse))
	tone := func(r *row) kit.Tone {
		if s.In(r.datacenter).Stale {
			return kit.Stale
		}
		return p.Tone
	}
	lines = append(lines, v.list.Draw(p, w, tone, func(l *kit.Line, r *row, marked bool) {
		shown := *r
		shown.marked = marked
		table.Row(l, &shown)
	})...)
	return p.Pad(lines, w, h)
}

// news returns the lines above the list: the reason why it is empty, incomplete or stale, and the state of the scan.
func (v *Model) news(s *scene.Scene) [][]kit.Span {
	var lines [][]kit.Span
	add := func(r kit.Role, text string) {
		for _, part := range kit.Wrap(text, v.rect.W-2) {
			lines = append(lines, []kit.Span{{r, part}})
		}
	}
	switch c := s.Live.Connection; {
	case v.sessions != nil:
		var texts []string // each once, with the names of its datacenters
		where := map[string][]string{}
		for _, part := range s.Shown.Datacenters() {
			for _, text := range lacks(part, s) {
				if where[text] == nil {
					texts = append(texts, text)
				}
				where[text] = append(where[text], scene.Clean(part.Datacenter))
			}
		}
		for _, text := range texts {
			if len(s.Shown.Parts) > 1 {
				text = strings.Join(where[text], ", ") + ": " + text
			}
			add(kit.Delay, text)
		}
	case s.Paused:
		add(kit.Delay, "The board is paused: press "+v.keys.Pause.Help().Key+" to continue and read the sessions.")
	case s.Stale && c.Refused:
		add(kit.Delay, "Consul rejects this token: the sessions were not read.")
	case s.Stale:
		add(kit.Delay, "Consul is unreachable: the sessions were not read.")
	default:
		add(kit.Quiet, "Reading the sessions.")
	}
	if len(v.rows) > 0 && len(v.list.Rows) == 0 {
		add(kit.Quiet, "No session matches the filter. Esc clears it.")
	}
	for _, spans := range v.scan.spans(s.Now, v.keys.Scan.Help().Key) {
		lines = append(lines, kit.Flow(spans, v.rect.W-2)...)
	}
	return lines
}

// lacks describes what is missing or stale in the list of one datacenter. Banners show the error of a lost connection.
func lacks(part *election.Snapshot, s *scene.Scene) (texts []string) {
	list, c := part.SessionList, part.Connection
	if list == nil {
		return []string{"The sessions have not been read yet."}
	}
	old := "This list is " + kit.Duration(s.Now.Sub(list.Until)) + " old."
	reason := kit.Capital(scene.Clean(list.Err)) + ". "
	if c.Refused {
		reason = "Consul rejects this token. "
	} else if c.State == election.Lost && len(s.Shown.Parts) > 1 {
		reason = "Unreachable. "
	}
	switch {
	case list.Err != "" && len(list.Sessions) == 0 && list.Denied && c.State != election.Lost && !c.Refused:
		texts = append(texts, reason+"Listing sessions requires session_prefix \"\" { policy = \"read\" }, or a session rule for one node to list only the sessions of that node.")
	case list.Err != "" && len(list.Sessions) == 0, c.State == election.Lost && len(list.Sessions) == 0:
		texts = append(texts, reason+"The sessions were not read.")
	case list.Err != "":
		texts = append(texts, reason+old)
	case !list.Until.IsZero():
		texts = append(texts, old)
	case len(s.Shown.SessionList.Sessions) == 0:
		texts = append(texts, "No sessions are visible. Consul omits sessions that the token cannot read, so hidden sessions may exist.")
	}
	if list.Partial {
		texts = append(texts, "This token cannot read all sessions: some are not listed.")
	}
	return texts
}
