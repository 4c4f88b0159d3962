package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/term"
)

// dialogKey gives a key to the open dialog.
func (m *Model) dialogKey(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialog
	switch msg.String() {
	case "esc", "n", "q", "ctrl+c":
		if d.searching() {
			d.search.Stop()
			return nil
		}
		return m.cancelDialog()
	case "left", "h", "right", "l", "tab", "shift+tab":
		d.onAction = !d.onAction && d.ready()
	case "y":
		return m.confirm()
	case "enter":
		if d.onAction {
			return m.confirm()
		}
		return m.cancelDialog()
	case "space":
		m.toggleHidden()
	case "f":
		return m.toggleSearch()
	case "a":
		d.full = !d.full && d.cut
		m.checkDialog()
	case "r":
		if !d.acts() {
			m.refreshDialog()
		}
	default:
		if step, ok := m.keys.Step(msg, max(1, d.text.Rows), len(d.text.Lines)); ok {
			d.scroll(step)
		}
	}
	return nil
}

// scroll moves the text by at most a page, so that no line is skipped unseen.
func (d *dialog) scroll(step int) { d.text.Scroll(min(step, d.text.Rows)) }

func (d *dialog) searching() bool { return d.search != nil && !d.search.Over }

// maySearch reports a dialog in which f does something.
func (d *dialog) maySearch() bool {
	return d.canSearch && d.acts() && !d.checking() && d.kind == election.ActionDestroy &&
		(d.search == nil || d.search.Stopped || d.search.Err != nil || d.search.Earlier)
}

// toggleSearch searches the whole KV store for what else would fall, or stops.
func (m *Model) toggleSearch() tea.Cmd {
	d := m.dialog
	switch {
	case d.searching():
		d.search.Stop()
	case d.maySearch():
		var sessions []string
		for _, t := range d.standing() {
			if !slices.Contains(sessions, t.Session) {
				sessions = append(sessions, t.Session)
			}
		}
		var run tea.Cmd
		d.search, run = m.search(sessions, m.opts.Now())
		return tea.Batch(run, d.search.Ticked())
	}
	return nil
}

// toggleHidden makes targets of the marked elections or sessions that the filter
// hides, or leaves them out again. A search that went on was for other targets.
func (m *Model) toggleHidden() {
	d := m.dialog
	if len(d.hidden) == 0 {
		return
	}
	if d.searching() {
		d.search.Stop()
	}
	d.includesHidden = !d.includesHidden
	d.choose()
	d.search = m.earlierSearch(d)
	m.checkDialog()
}

// closeDialog ends the dialog and what it started.
func (m *Model) closeDialog() {
	if d := m.dialog; d != nil {
		if d.searching() {
			d.search.Stop()
		}
		d.endSurvey()
	}
	m.dialog, m.mode = nil, modeBoard
}

func (m *Model) cancelDialog() tea.Cmd {
	couldAct := m.dialog.acts()
	m.closeDialog()
	if couldAct {
		m.say(term.Quiet, "Cancelled: nothing was changed.")
	}
	return nil
}

// refreshDialog binds the dialog to the holds of the same keys as they are now,
// and asks anew what the token may do. It never chooses anew: the cursor may be
// on another row by now.
func (m *Model) refreshDialog() {
	d := m.dialog
	for _, t := range d.targets {
		delete(m.rights.known, holdOf(t.Target))
	}
	if d.searching() {
		d.search.Stop()
	}
	m.setPaused(false)
	m.note = note{}
	d.endSurvey()
	if !d.bare { // a session never changes: it is there or gone
		d.visible, d.hidden = m.rebind(d.visible), m.rebind(d.hidden)
		d.choose()
	}
	d.search = m.earlierSearch(d)
	m.checkDialog()
}

// confirm carries the action out, on the holds that still stand.
func (m *Model) confirm() tea.Cmd {
	d := m.dialog
	if !d.ready() {
		switch {
		case d.acts() && d.checking():
			m.say(term.Delay, "Nothing was done: the check is still running.")
		case d.read():
			m.say(term.Delay, "Nothing was done: the text is new. Read it, then confirm again.")
		}
		return nil
	}
	targets := d.standing()
	m.closeDialog()
	m.unmark(targets)
	return m.act(d.kind, d.withElections(targets, m.live))
}

// unmark removes the marks of what is acted on, and no others: the filter may
// have changed since the dialog was opened.
func (m *Model) unmark(targets []boundTarget) {
	for _, t := range targets {
		if t.session != nil {
			delete(m.sessions.marks, t.Session)
		} else {
			delete(m.table.Marks, t.Key)
		}
	}
}

// actionTime is how long one action may take.
const actionTime = 10 * time.Second
