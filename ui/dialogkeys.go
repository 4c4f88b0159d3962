package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// dialogKey gives a key to the open dialog.
func (m *Model) dialogKey(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialog
	switch msg.String() {
	case "esc", "n", "q", "ctrl+c":
		if d.searching() {
			d.search.stop()
			return nil
		}
		return m.cancelDialog()
	case "left", "h", "right", "l", "tab", "shift+tab":
		d.onAction = !d.onAction && d.acts()
	case "y":
		return m.confirm()
	case "enter":
		if d.onAction {
			return m.confirm()
		}
		return m.cancelDialog()
	case "f":
		return m.toggleSearch()
	case "r":
		if !d.acts() {
			m.lookAgain()
		}
	default:
		if step, ok := m.step(msg, max(1, m.height/2), 1000); ok {
			d.offset = max(0, d.offset+step)
		}
	}
	return nil
}

func (d *dialog) searching() bool { return d.search != nil && !d.search.over }

// maySearch reports a dialog in which f does something.
func (d *dialog) maySearch() bool {
	return d.canSearch && d.acts() && d.kind == election.ActionDestroy && (d.search == nil || d.search.stopped || d.search.err != nil)
}

// toggleSearch searches the whole KV store for what else would fall, or stops.
func (m *Model) toggleSearch() tea.Cmd {
	d := m.dialog
	switch {
	case d.searching():
		d.search.stop()
	case d.maySearch():
		var sessions []string
		for _, t := range d.standing() {
			sessions = append(sessions, t.Session)
		}
		var run tea.Cmd
		d.search, run = m.search(sessions)
		return tea.Batch(run, d.search.ticked())
	}
	return nil
}

// searched takes the end of a search, if its dialog is still open.
func (m *Model) searched(msg searchedMsg) {
	if m.dialog != nil && m.dialog.search == msg.of {
		msg.of.ended(msg)
	}
}

// closeDialog ends the dialog and what it started.
func (m *Model) closeDialog() {
	if m.dialog != nil && m.dialog.searching() {
		m.dialog.search.stop()
	}
	m.dialog, m.mode = nil, modeBoard
}

func (m *Model) cancelDialog() tea.Cmd {
	changed := !m.dialog.acts()
	m.closeDialog()
	if !changed {
		m.say(roleQuiet, "Cancelled: nothing was done.")
	}
	return nil
}

// lookAgain binds the dialog to the holds of the same keys as they are now, and
// asks anew what the token may do. The dialog is never rebuilt from the cursor:
// that may stand on another row by now. What is gone stays as it was, and says so.
func (m *Model) lookAgain() {
	d := m.dialog
	for _, t := range d.targets {
		delete(m.rights.known, holdOf(t.Target))
	}
	if d.searching() {
		d.search.stop()
	}
	m.setPaused(false)
	m.note = note{}
	d.search, d.offset = nil, 0
	if !d.bare { // a session never changes: it is there or gone
		d.targets = m.rebind(d.targets, d.kind == election.ActionDestroy)
	}
	m.checkDialog()
}

// rebind looks up the same keys in the newest snapshot. With once, a session
// that leads several of them is taken for the first only.
func (m *Model) rebind(old []boundTarget, once bool) []boundTarget {
	seen := map[string]bool{}
	bound := make([]boundTarget, 0, len(old))
	for _, t := range old {
		e := m.live.Find(t.Key)
		if e == nil || standingOf(e, m.asOf()) != standsLed {
			bound = append(bound, t)
			continue
		}
		if t = m.bind(e); once && seen[t.Session] {
			continue
		}
		seen[t.Session] = true
		bound = append(bound, t)
	}
	return bound
}

// confirm carries the action out, on the holds that still stand.
func (m *Model) confirm() tea.Cmd {
	d := m.dialog
	if !d.acts() {
		return nil
	}
	targets := d.standing()
	m.closeDialog()
	clear(m.table.marks)
	clear(m.sessions.marks)
	return m.act(d.kind, targets)
}

// actionTime is how long one action may take.
const actionTime = 10 * time.Second
