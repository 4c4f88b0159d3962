package board

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// noteWidth is the width of "overwritten", a note next to a leader. The table is never wider for a note, so that
// it does not move columns; where there is no room for it, a sign replaces it.
const noteWidth = 11

// semaphoreWord precedes the numbers of holders and slots of a semaphore.
const semaphoreWord = "semaphore "

// columns returns all columns in their default order. A window of 80 columns hides columns rather than cut a name of 24
// characters.
func (m *Model) columns(s *scene.Scene) kit.Table[*row] {
	w := m.widths
	name := max(12, w.name+2)   // 12 cells are enough for the title, its sign and the sort marker
	leader := max(15, w.leader) // "lock-delay ~60s"
	node, term := max(6, w.node), max(4, w.term)
	checks := 11
	if s.Past != nil { // the history does not store checks
		checks = 0
	}
	if !m.recordsNodes {
		node, checks = 0, 0
	}
	period := windowText(m.Window)
	return kit.Table[*row]{
		{Name: "election", Indent: 2, Least: min(name, 26), Want: min(name, 34), Most: min(name, 60), Cell: drawName},
		{Name: "dc", Least: min(w.datacenter, 6), Want: min(w.datacenter, 12), Most: min(w.datacenter, 24), Span: func(r *row) kit.Span { return kit.Text.Span(scene.Clean(r.e.Datacenter)) }},
		{Name: "leader", Least: min(leader, 24), Want: min(leader, 30), Most: min(leader+kit.ColumnGap+max(w.address, noteWidth), 52), Cell: drawLeader},
		{Name: "node", Rank: 6, Least: min(node, 13), Want: min(node, 22), Most: min(node, 40), Span: func(r *row) kit.Span { return r.node }},
		{Name: "for", Least: 9, Want: 10, Most: 10, Span: func(r *row) kit.Span { return r.since }},
		{Name: "term", Rank: 2, Right: true, Most: term, Span: termSpan},
		{Name: "session", Rank: 1, Whole: true, Least: 8, Want: 8, Most: 36, Cell: drawSession},
		{Name: "checks", Rank: 4, Least: min(checks, 7), Want: min(checks, 7), Most: checks, Cell: drawChecks},
		{Name: "lane", Title: "LAST " + period, Short: period, Rank: 5, Least: 10, Want: 20, Most: 60, Cell: func(r *row, l *kit.Line, n int) { r.drawLane(l, n, m.Window) }},
		{Name: "changes", Title: "CHANGES/h", Short: "CHG/h", Rank: 3, Right: true, Least: 5, Want: 9, Most: 9, Span: changesSpan},
	}
}

// ColumnNames lists the columns in their default order.
func ColumnNames() (names []string) {
	for _, c := range (&Model{}).columns(&scene.Scene{}) {
		names = append(names, c.Name)
	}
	return names
}

// extent holds the widths of the table's contents, in cells.
type extent struct {
	name, leader, address, node, term int
	// datacenter is the width of the longest name of a datacenter. It is 0 if the board shows only one datacenter.
	datacenter int
}

// measure widens the columns for an election. The widths do not depend on whether the election has a leader, so that
// columns do not move when the leader is lost.
func (c *extent) measure(e *election.Election) {
	leader, node := latestLeader(e)
	c.name = max(c.name, kit.Width(sanitize.Text(e.Name)))
	c.leader = max(c.leader, kit.Width(leader))
	number := len(strconv.AppendUint(make([]byte, 0, 20), e.Term, 10))
	if e.Store.Revisions {
		number += len("rev")
	}
	c.term = max(c.term, number+1) // one cell is for the mark of an overwritten key, or the space before a revision
	if node != "" {
		c.node = max(c.node, kit.Width(scene.Clean(node))+len("()"))
	}
}

// latestLeader returns the leader and its node, or those of the last leader if there is no leader.
func latestLeader(e *election.Election) (leader, node string) {
	if last := e.LastTerm(); last != nil && !e.Held() {
		return last.Leader, last.Node
	}
	return e.Leader, e.Node()
}

// table returns the configured columns. It always contains the column of names and, with several datacenters, the
// column of datacenters, because elections in different datacenters can have the same name.
func (m *Model) table(s *scene.Scene) kit.Table[*row] {
	all := m.columns(s)
	if len(m.chosen) == 0 {
		return all
	}
	var chosen, needed kit.Table[*row]
	for _, name := range slices.Compact(slices.Clone(m.chosen)) {
		if i := slices.IndexFunc(all, func(c kit.Column[*row]) bool { return c.Name == name }); i >= 0 {
			chosen = append(chosen, all[i])
		}
	}
	for _, c := range all[:2] {
		if !slices.Contains(m.chosen, c.Name) {
			needed = append(needed, c)
		}
	}
	return append(needed, chosen...)
}

// row describes an election for the cells of its row.
type row struct {
	e     *election.Election
	s     *scene.Scene
	state scene.DisplayState
	tone  kit.Role // of the sign of the state
	name  kit.Span
	mark  kit.Span // sign after the name; empty if there is none
	// leader is followed by extra or, if extra does not fit, by short.
	leader, extra kit.Span
	short         string
	node, since   kit.Span
	checks        insight.Tally
}

// describe returns the row of an election. s is the scene of this election.
func describe(e *election.Election, s *scene.Scene) row {
	dash := kit.Faint.Span(s.Sym.Dash)
	r := row{e: e, s: s, state: s.StateOf(e), name: kit.Text.Span(sanitize.Text(e.Name)), node: dash, since: dash}
	_, r.tone = r.state.Sign(s.Sym)
	switch r.state {
	case scene.StateLed:
		r.describeLed()
	case scene.StateUnreadable:
		r.name.Role, r.leader = kit.Quiet, kit.Quiet.Span("unreadable")
		if e.Leader != "" {
			r.extra = kit.Quiet.Span("was " + e.Leader)
		}
	case scene.StateSemaphore:
		r.leader = kit.Text.Span(semaphoreWord + "?")
		if sem := election.ReadSemaphore(e, nil); sem != nil {
			r.leader.Text = semaphoreWord + strconv.Itoa(len(sem.Holders)) + " of " + strconv.Itoa(sem.Limit)
		}
	default:
		r.describeVacant()
	}
	if s.PartStale() {
		r.extra, r.short = kit.Delay.Span("stale"), "!"
	}
	if r.mark.Text == "" && r.state != scene.StateUnreadable && urgent(e, s.AsOf) {
		r.mark = kit.Delay.Span(s.Sym.Urgent)
	}
	return r
}

// urgent reports whether an election has urgent advice that no other sign in its row shows. It does not compare the
// election with other elections, because this is expensive for each row.
func urgent(e *election.Election, asOf time.Time) bool {
	return slices.ContainsFunc(insight.NewBoard(nil, nil).Advise(e, nil, asOf), func(a insight.Finding) bool {
		return a.Urgent && a.Code != "overwritten"
	})
}

func (r *row) describeLed() {
	e, checks := r.e, r.s.Shown.ChecksOf(r.e)
	r.leader, r.extra = kit.Text.Span(e.Leader), kit.Quiet.Span(valueAddress(e.Pair.Value, e.Leader))
	r.since = kit.Text.Span(r.s.AtLeast(election.BriefDuration(r.s.AsOf.Sub(e.Since)), e.SinceKnown))
	if r.node = kit.Quiet.Span("?"); e.Store.Leases {
		r.node = kit.Faint.Span(r.s.Sym.Dash)
	} else if node := e.Node(); node != "" {
		r.node = kit.Text.Span(scene.Clean(node))
	}
	if e.Overwritten() {
		r.tone, r.extra, r.short = kit.Delay, kit.Delay.Span("overwritten"), "!"
	}
	alarm := func() { r.name.Role, r.tone, r.mark = kit.Bad, kit.Bad, kit.Bad.Span(r.s.Sym.Critical) }
	if e.Session != nil {
		r.checks = insight.TallyChecks(e.Session, checks)
		switch critical, warning := r.checks.Risk(); {
		case critical:
			alarm()
		case warning:
			r.name.Role, r.tone, r.mark = kit.Delay, kit.Delay, kit.Delay.Span(r.s.Sym.Warning)
		}
	}
	if insight.FailureOf(e, checks).Current() {
		alarm()
		r.extra, r.short = kit.Bad.Span(insight.FailureBrief), r.s.Sym.Critical
	}
}

func (r *row) describeVacant() {
	e := r.e
	r.name.Role, r.leader = r.tone, r.tone.Span("no leader")
	switch r.state {
	case scene.StateIdle:
		r.leader.Text = "idle"
	case scene.StateLockDelay:
		label := "lock-delay "
		if e.LockDelayDoubtful {
			label = "lock-delay? "
		}
		r.leader.Text = label + "~" + election.Remaining(e.LockDelayUntil.Sub(r.s.AsOf))
	case scene.StateVacant:
		if e.Candidateless {
			r.leader.Text = "no candidate"
		}
	default:
	}
	switch {
	case e.Pair.Blocked():
		r.extra = kit.Quiet.Span("blocked")
	case !e.Exists && !e.Store.Revisions:
		r.extra = kit.Quiet.Span("key deleted")
	case r.state == scene.StateVacant && !e.LockDelayUntil.IsZero():
		r.extra = kit.Quiet.Span("can be acquired")
	}
	if last := e.LastTerm(); last != nil && last.Node != "" {
		r.node = kit.Quiet.Span("(" + scene.Clean(last.Node) + ")")
	}
	ago := election.BriefDuration
	if !e.VacantSinceKnown {
		ago = election.BriefAge // "≥16m18s ago" is wider than the column
	}
	r.since = r.tone.Span(r.s.AtLeast(ago(r.s.AsOf.Sub(e.VacantSince))+" ago", e.VacantSinceKnown))
}

// addressLimit is the maximum size of a value that is searched for an address, in bytes.
const addressLimit = 4096

// valueAddress returns the address[:port] in a JSON value. It returns "" if there is no address, or if the label of the
// leader contains the address.
func valueAddress(v []byte, leader string) string {
	if len(v) == 0 || len(v) > addressLimit {
		return ""
	}
	address := election.JSONMember(v, "address")
	if address == "" {
		address = election.JSONMember(v, "addr")
	}
	if address == "" {
		return ""
	}
	if port := election.JSONMember(v, "port"); port != "" && !strings.Contains(address, ":") {
		address = net.JoinHostPort(address, port)
	}
	if address = scene.Clean(address); strings.Contains(leader, address) {
		return ""
	}
	return address
}

// drawName draws the sign of the state, the name and the mark. The mark may use the gap after the column.
func drawName(r *row, l *kit.Line, width int) {
	sign, _ := r.state.Sign(l.Sym)
	l.Text(r.tone, sign)
	l.Gap(1)
	if r.mark.Text == "" {
		l.Cell(r.name.Role, r.name.Text, width-2)
		return
	}
	used := min(width-2, kit.Width(r.name.Text))
	l.Cell(r.name.Role, r.name.Text, used)
	if used < width-2 {
		l.Gap(1)
	}
	l.Text(r.mark.Role, r.mark.Text)
}

// drawLeader draws the leader and, if it fits, the note next to it. If a warning does not fit, drawLeader draws
// its symbol instead.
func drawLeader(r *row, l *kit.Line, width int) {
	end, extra, leader := l.Used+width, r.extra, r.leader
	if r.state != scene.StateLed && kit.Width(leader.Text) > width {
		leader.Text = strings.TrimPrefix(strings.TrimPrefix(leader.Text, semaphoreWord), "lock-")
	}
	left := width - kit.Width(leader.Text) - kit.ColumnGap
	if kit.Width(extra.Text) > left {
		extra.Text = r.short
	}
	if extra.Text == "" {
		l.Cell(leader.Role, leader.Text, width)
		return
	}
	l.Cell(leader.Role, leader.Text, min(kit.Width(leader.Text), width-kit.ColumnGap-kit.Width(extra.Text)))
	l.Gap(kit.ColumnGap)
	l.Cell(extra.Role, extra.Text, end-l.Used)
}

func termSpan(r *row) kit.Span {
	if r.state == scene.StateSemaphore {
		return kit.Faint.Span(r.s.Sym.Dash)
	}
	return r.s.TermSpan(r.e)
}

func drawSession(r *row, l *kit.Line, width int) {
	if r.state != scene.StateLed {
		l.Cell(kit.Faint, l.Sym.Dash, width)
		return
	}
	l.Cell(kit.Quiet, scene.SessionText(r.e.Pair.Session, width > 8), width)
}

func changesSpan(r *row) kit.Span {
	n, role := r.e.Changes(r.s.AsOf, query.ChangesWindow), kit.Text
	switch {
	case n == 0:
		role = kit.Faint
	case n > 3:
		role = kit.Delay
	}
	return role.Span(strconv.Itoa(n))
}

// drawChecks draws "✓ 1 ! 1". If the checks are not current, it draws the worst sign and their age: "! 12m ago".
func drawChecks(r *row, l *kit.Line, width int) {
	t, e, text, role := r.checks, r.e, "", kit.Quiet
	switch {
	case r.state != scene.StateLed, e.Store.Leases:
		text, role = l.Sym.Dash, kit.Faint
	case e.Session == nil:
		text = l.Sym.Unknown
	case t.Total() == 0:
		text = "none"
	case r.s.Shown.ChecksOf(e)[e.Session.Node].Err != "":
		text = "unread"
	case !t.Until.IsZero():
		text = election.BriefAge(r.s.AsOf.Sub(t.Until)) + " ago"
		if sign := scene.TallySign(t, l.Sym); kit.Width(sign)+1+len(text) <= width {
			text = sign + " " + text
		}
	}
	if text != "" {
		l.Cell(role, text, width)
		return
	}
	end, gap := min(l.Used+width, l.Width), ""
	for _, part := range [...]struct {
		count int
		role  kit.Role
		sign  string
	}{
		{t.Critical, kit.Bad, l.Sym.Critical}, {t.Warning, kit.Delay, l.Sym.Warning},
		{t.Passing, kit.Led, l.Sym.Passing}, {t.Unknown, kit.Quiet, l.Sym.Unknown},
	} {
		if part.count == 0 {
			continue
		}
		text = gap + part.sign + " " + strconv.Itoa(part.count)
		if l.Used+kit.Width(text) > end {
			break
		}
		l.Text(part.role, text)
		gap = " "
	}
	l.Gap(end - l.Used)
}

func (r *row) drawLane(l *kit.Line, width int, window time.Duration) {
	if r.e.IsSemaphore() && len(r.e.Terms) == 0 {
		l.Cell(kit.Faint, l.Sym.Dash, width)
		return
	}
	vacant := kit.Vacant
	if r.state == scene.StateIdle || r.state == scene.StateUnsearched {
		vacant = kit.Faint
	}
	writeLane(l, lane(width, r.e, r.s.AsOf, window, r.s.Lanes), vacant)
}
