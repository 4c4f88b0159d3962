package ui

import (
	"electop/ui/internal/scene"
)

// searched takes the end of a search, if what it was for is still open.
func (m *Model) searched(msg scene.Searched) {
	switch {
	case m.dialog != nil && m.dialog.search == msg.Of:
		msg.Of.Ended(msg)
		m.checkDialog()
	case m.sessions.scan.run == msg.Of:
		msg.Of.Ended(msg)
		m.sessions.scan.ended()
		m.sessions.refresh(m.shown)
	}
}
