package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// dialog asks before an operator's action. It is bound to the holds it was
// opened with: it acts on exactly those, and refuses when they changed.
type dialog struct {
	kind    election.ActionKind
	targets []boundTarget
	// others are watched elections that are held by a session that would be
	// destroyed, beside the targets themselves.
	others []string
	// lost says that the link is lost, so that nobody knows what would be hit.
	lost bool
	// onAction says that the button that acts has the focus; Cancel has it at
	// first.
	onAction bool
}

// boundTarget is a hold as it was when the dialog was opened.
type boundTarget struct {
	election.Target
	heldFor string
	// changed says what became of the hold since, empty while it stands.
	changed string
}

// openDialog opens a dialog for the marked elections, or else the selected one.
func (m *Model) openDialog(kind election.ActionKind) {
	if reason := m.cannotAct(kind); reason != "" {
		m.say(roleDelay, reason)
		return
	}
	d := &dialog{kind: kind}
	for _, e := range m.chosen() {
		if standingOf(e, m.asOf()) != standsLed {
			continue
		}
		held := atLeast(m.sym, duration(m.asOf().Sub(e.Since)), e.SinceKnown)
		d.targets = append(d.targets, boundTarget{Target: e.Target(), heldFor: held})
	}
	if len(d.targets) == 0 {
		m.say(roleDelay, m.nothingToDo(kind))
		return
	}
	if kind == election.ActionDestroy {
		d.targets = oneEachSession(d.targets)
	}
	m.dialog, m.mode = d, modeDialog
	d.check(m.live)
}

// cannotAct says why an action is not possible now, empty when it is.
func (m *Model) cannotAct(kind election.ActionKind) string {
	word := string(kind)
	switch {
	case m.opts.ReadOnly:
		return "Read-only: " + word + " is switched off (--read-only)."
	case m.opts.Operator == nil:
		return "This screen only looks: there is no way to " + word + " from here."
	case m.live.Connection.State == election.Lost:
		return "Not while Consul does not answer: what is shown is old."
	}
	return ""
}

// chosen are the marked elections, or else the selected one.
func (m *Model) chosen() []*election.Election {
	if m.shown == nil {
		return nil
	}
	var es []*election.Election
	for _, e := range m.shown.Elections {
		if m.table.marks[e.Key()] {
			es = append(es, e)
		}
	}
	if e := m.table.selected(); len(es) == 0 && e != nil {
		es = append(es, e)
	}
	return es
}

func (m *Model) nothingToDo(kind election.ActionKind) string {
	es := m.chosen()
	if len(es) == 1 {
		return oneLine(es[0].Name, 60) + " has no leader: there is nothing to " + string(kind) + "."
	}
	return "There is nothing to " + string(kind) + "."
}

// oneEachSession keeps the first target of each session: a session can be
// destroyed once only.
func oneEachSession(targets []boundTarget) []boundTarget {
	seen := map[string]bool{}
	var kept []boundTarget
	for _, t := range targets {
		if !seen[t.Session] {
			kept = append(kept, t)
		}
		seen[t.Session] = true
	}
	return kept
}

// check compares the holds with what is known now.
func (d *dialog) check(live *election.Snapshot) {
	d.lost = live.Connection.State == election.Lost
	for i := range d.targets {
		t := &d.targets[i]
		t.changed = changeOf(t.Target, live.Find(t.Key))
	}
	if d.kind == election.ActionDestroy {
		d.others = d.heldBeside(live)
	}
	if !d.acts() {
		d.onAction = false
	}
}

// changeOf says how a hold differs from what was seen, empty when it does not.
func changeOf(t election.Target, e *election.Election) string {
	switch {
	case e == nil || !e.Exists:
		return "the key is gone"
	case e.Unreadable:
		return "the key may no longer be read"
	case !e.Pair.Held():
		return "nobody leads any more"
	case e.Pair.Session != t.Session:
		return oneLine(e.Leader, 60) + " leads now, term " + number(e.Term)
	case e.Pair.ModifyIndex != t.ModifyIndex:
		return "the key was written since"
	}
	return ""
}

// heldBeside lists the watched elections that fall with the targets' sessions.
func (d *dialog) heldBeside(live *election.Snapshot) []string {
	sessions, keys := map[string]bool{}, map[string]bool{}
	for _, t := range d.targets {
		sessions[t.Session], keys[t.Key] = t.changed == "", true
	}
	var names []string
	for _, e := range live.Elections {
		if e.Pair.Held() && sessions[e.Pair.Session] && !keys[e.Key()] {
			names = append(names, election.Sanitize(e.Name))
		}
	}
	return names
}

// standing are the targets that are still as they were.
func (d *dialog) standing() []boundTarget {
	var ts []boundTarget
	for _, t := range d.targets {
		if t.changed == "" {
			ts = append(ts, t)
		}
	}
	return ts
}

// acts reports whether there is anything left that the dialog may do.
func (d *dialog) acts() bool { return !d.lost && len(d.standing()) > 0 }

// dialogKey gives a key to the open dialog.
func (m *Model) dialogKey(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialog
	switch msg.String() {
	case "esc", "n", "q", "ctrl+c":
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
	case "r":
		if !d.acts() {
			m.lookAgain()
		}
	}
	return nil
}

func (m *Model) cancelDialog() tea.Cmd {
	changed := !m.dialog.acts()
	m.dialog, m.mode = nil, modeBoard
	if !changed {
		m.say(roleQuiet, "Cancelled: nothing was done.")
	}
	return nil
}

// lookAgain binds the dialog to the holds as they are now.
func (m *Model) lookAgain() {
	kind := m.dialog.kind
	key := m.dialog.targets[0].Key
	m.dialog, m.mode = nil, modeBoard
	m.setPaused(false)
	if len(m.table.marks) == 0 && m.shown.Find(key) != nil {
		m.table.cursor = key
		m.table.relocate()
	}
	m.openDialog(kind)
}

// confirm carries the action out, on the holds that still stand.
func (m *Model) confirm() tea.Cmd {
	d := m.dialog
	if !d.acts() {
		return nil
	}
	targets := d.standing()
	m.dialog, m.mode = nil, modeBoard
	clear(m.table.marks)
	return m.act(d.kind, targets)
}

// actionTime is how long one action may take.
const actionTime = 10 * time.Second
