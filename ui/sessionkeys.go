package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/term"
)

// sessionsKey handles the keys of the sessions view.
func (m *Model) sessionsKey(msg tea.KeyPressMsg) tea.Cmd {
	switch k := &m.keys; {
	case key.Matches(msg, k.Scan):
		return m.toggleScan()
	case key.Matches(msg, k.Destroy):
		m.openSessionDialog()
		return nil
	case key.Matches(msg, k.Release):
		m.say(term.Delay, "A session can be destroyed (x) but not released. Release an election in view 1.")
		return nil
	case key.Matches(msg, k.Copy):
		if r := m.sessions.selected(); r != nil {
			return m.copyText("session", r.ses.ID)
		}
		return nil
	}
	if m.sessions.open {
		m.openSessionKey(msg)
	} else {
		m.sessionListKey(msg)
	}
	return nil
}

func (m *Model) sessionListKey(msg tea.KeyPressMsg) {
	v := m.sessions
	if step, ok := m.keys.Step(msg, max(1, m.visibleSessions()), len(v.order)); ok {
		v.moveTo(v.index + step)
		return
	}
	r := v.selected()
	switch k := &m.keys; {
	case key.Matches(msg, k.Open):
		v.open, v.top = r != nil, 0
	case key.Matches(msg, k.Mark) && r != nil:
		if v.marks[r.ses.ID] {
			delete(v.marks, r.ses.ID)
		} else {
			v.marks[r.ses.ID] = true
		}
		v.moveTo(v.index + 1)
	case key.Matches(msg, k.Sort):
		m.sortSessions(sessionSorting{key: (v.sort.key + 1) % len(sessionSorts())})
	case key.Matches(msg, k.Reverse):
		m.sortSessions(sessionSorting{key: v.sort.key, reverse: !v.sort.reverse})
	case key.Matches(msg, k.Wide):
		v.wide = !v.wide
	}
}

// openSessionKey scrolls the open session. Another key of the list closes nothing.
func (m *Model) openSessionKey(msg tea.KeyPressMsg) {
	step, ok := m.keys.Step(msg, max(1, m.where().body.H-1), 1<<20)
	switch {
	case key.Matches(msg, m.keys.PaneDown):
		step = 1
	case key.Matches(msg, m.keys.PaneUp):
		step = -1
	case !ok:
		return
	}
	m.sessions.top = max(0, m.sessions.top+step)
}

func (m *Model) sortSessions(s sessionSorting) {
	m.sessions.sort = s
	m.sessions.refresh(m.shown)
	direction := ""
	if s.reverse {
		direction = ", reversed"
	}
	m.say(term.Quiet, "Sorted by "+s.word()+direction+".")
}

// sortSessionsBy sorts by the key whose word begins so.
func (m *Model) sortSessionsBy(word string, reverse bool) bool {
	for i, w := range sessionSorts() {
		if word != "" && strings.HasPrefix(w, word) {
			m.sortSessions(sessionSorting{key: i, reverse: reverse})
			return true
		}
	}
	return false
}

// sessionTarget is a session as the target of a destroy: no key is bound to it.
func sessionTarget(s *election.Session) election.Target {
	return election.Target{Session: s.ID, Node: s.Node, Behavior: s.Behavior, LockDelay: s.EnforcedLockDelay()}
}

// openSessionDialog asks before the marked sessions, or else the selected one,
// are destroyed.
func (m *Model) openSessionDialog() {
	if reason := m.cannotAct(election.ActionDestroy); reason != "" {
		m.say(term.Delay, reason)
		return
	}
	v := m.sessions
	d := &dialog{kind: election.ActionDestroy, bare: true, canSearch: m.search != nil}
	for i := range v.rows {
		switch r := &v.rows[i]; {
		case !v.marks[r.ses.ID]:
		case matchSession(v.filter, r):
			d.visible = append(d.visible, bareTarget(r.ses, false))
		default:
			d.hidden = append(d.hidden, bareTarget(r.ses, true))
		}
	}
	r := v.selected()
	switch {
	case r != nil && len(d.visible)+len(d.hidden) == 0:
		d.visible = append(d.visible, bareTarget(r.ses, false))
	case r != nil && len(d.visible) == 0:
		t := bareTarget(r.ses, false)
		d.unmarked = t.label()
	case len(d.visible)+len(d.hidden) == 0:
		m.say(term.Delay, "There is no session to destroy.")
		return
	}
	d.choose()
	m.showDialog(d)
}

func bareTarget(s *election.Session, hidden bool) boundTarget {
	return boundTarget{Target: sessionTarget(s), session: s, hidden: hidden}
}

// visibleSessions is how many rows of the list are on the screen.
func (m *Model) visibleSessions() int {
	return sessionRows(m.where().body.H, len(m.sessionNews(m.scene(), m.width)))
}
