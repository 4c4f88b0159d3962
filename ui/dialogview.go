package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// dialogWidth is the widest a dialog becomes.
const dialogWidth = 84

// fit lays the text out for a window. What changed since, or is out of sight in
// this window, has to be scrolled to before the action is enabled.
func (d *dialog) fit(sym *symbols, now time.Time, width, height int) tea.Cmd {
	d.now = now
	w := min(dialogWidth, width-4)
	page := &doc{width: w - boxSides, sym: sym}
	d.write(page)
	changed := d.text.show(page.lines, w, max(1, height-boxFrame-len(d.foot(sym))))
	d.onAction = d.onAction && d.read()
	if !changed && d.text.seen <= d.seen {
		d.seen = d.text.seen
		return nil
	}
	d.seen, d.noticed = d.text.seen, false
	d.changes++
	msg := noticeMsg{of: d, changes: d.changes}
	return tea.Tick(noticeTime, func(time.Time) tea.Msg { return msg })
}

// noticeTime is how long a text must be visible before it can be confirmed. Keys
// that were typed ahead of it arrive earlier.
const noticeTime = 300 * time.Millisecond

// noticeMsg says that noticeTime has passed since a change of the visible text.
type noticeMsg struct {
	of      *dialog
	changes int
}

// notice enables the action unless the text has changed again since.
func (m *Model) notice(msg noticeMsg) {
	if msg.of.changes == msg.changes {
		msg.of.noticed = true
	}
}

// draw lays the dialog over the lines of the screen.
func (d *dialog) draw(p *painter, lines []string, width int) {
	edge := roleAccent
	if d.kind == election.ActionDestroy {
		edge = roleVacant
	}
	b := box{edge: edge, title: d.title(), body: d.text.window(), foot: d.foot(p.sym)}
	b.draw(p, lines, d.text.width, width)
}

func (d *dialog) title() string {
	what := plural(len(d.targets), "election")
	switch {
	case len(d.targets) == 0:
		return capital(string(d.kind)) + " marked " + d.noun() + "s"
	case d.bare && len(d.targets) == 1:
		return "Destroy " + d.targets[0].label()
	case d.bare:
		return "Destroy " + plural(len(d.targets), "session")
	case len(d.targets) == 1:
		what = oneLine(d.targets[0].Election, 40)
	}
	if d.refused() {
		what += ": refused"
	}
	switch {
	case d.kind == election.ActionRelease:
		return "Release " + what
	case len(d.sessions()) > 1:
		return "Destroy the sessions of " + what
	}
	return "Destroy the session of " + what
}

// foot are the rows that never scroll: the progress of a search, where the text
// stands, and the buttons.
func (d *dialog) foot(sym *symbols) [][]span {
	var rows [][]span
	if d.searching() {
		rows = append(rows, d.search.progressSpans())
	}
	return append(rows, d.positionSpans(sym), d.buttons())
}

// positionSpans says what is out of sight, and that it withholds the action.
func (d *dialog) positionSpans(sym *symbols) []span {
	where := d.text.position()
	if where == "" {
		return nil
	}
	if d.acts() && !d.read() {
		text, short := "scroll to the end to enable "+d.word(), "scroll down to enable "+d.word()
		if d.text.seen < d.text.offset { // a line above changed since it was visible
			text, short = "scroll up: the text changed", "scroll up: the text changed"
		}
		if d.text.width < 60 {
			return []span{{roleKey, sym.keyMove}, {roleDelay, " " + short}}
		}
		return []span{{roleKey, sym.keyMove}, {roleQuiet, " " + where + "; "}, {roleDelay, text}}
	}
	return []span{{roleKey, sym.keyMove}, {roleQuiet, " " + where}}
}

func (d *dialog) word() string { return capital(string(d.kind)) }

// buttons end the dialog; brackets mark the one that Enter presses.
func (d *dialog) buttons() []span {
	if len(d.targets) == 0 {
		return []span{{roleButtonOn, "[ Close ]"}, {roleText, "   "}, {roleKey, "space"}, {roleQuiet, " include the hidden marks"}}
	}
	if !d.acts() {
		return []span{{roleButtonOn, "[ Close ]"}, {roleText, "   "}, {roleKey, "r"}, {roleQuiet, " refresh"}}
	}
	cancel, action := span{roleButtonOn, "[ Cancel ]"}, span{roleButton, "  " + d.word() + "  "}
	if !d.ready() {
		action = span{roleFaint, " (" + d.word() + ") "}
		if d.onAction { // it keeps the focus until the action is enabled again
			cancel, action = span{roleButton, "  Cancel  "}, span{roleFaint, "[(" + d.word() + ")]"}
		}
		return []span{cancel, {roleText, "  "}, action, {roleText, "    "}, {roleKey, "esc"}, {roleQuiet, " cancel"}}
	}
	if d.onAction {
		cancel, action = span{roleButton, "  Cancel  "}, span{roleAlarm, "[ " + d.word() + " ]"}
	}
	return []span{
		cancel, {roleText, "  "}, action, {roleText, "    "},
		{roleKey, "y"}, {roleQuiet, " " + string(d.kind) + "  "}, {roleKey, "esc"}, {roleQuiet, " cancel"},
	}
}
