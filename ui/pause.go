package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// asOf returns the time for which the shown snapshot is valid. This is now, unless the board is paused or shows the
// past, or the connection is lost. Before the first response from Consul, it is the end of the history.
func (f *feed) asOf() time.Time {
	c := f.live.Connection
	switch {
	case f.past != nil:
		return f.past.At
	case f.paused:
		return f.pausedAt
	case f.recorded() && f.live.RecordedUntil.Before(f.now):
		return f.live.RecordedUntil
	case c.State == election.Lost && !c.LastContact.IsZero() && c.LastContact.Before(f.now):
		return c.LastContact
	}
	return f.now
}

// pause freezes the board, or resumes it with the newest snapshot.
func (m *Model) pause(on bool) tea.Cmd {
	if m.past != nil {
		return m.refuse("This is the past: pause is disabled. Press esc to return to now.")
	}
	if on != m.paused && (!on || m.live.Loaded || len(m.live.Elections) > 0) {
		m.pausedAt = m.asOf()
		if m.paused = on; !on {
			m.shown = m.live
		}
	}
	return m.changed()
}

func (m *Model) togglePause(string) tea.Cmd { return m.pause(!m.paused) }
