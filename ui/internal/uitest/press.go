package uitest

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
)

// Press returns the message for a press of the named key: see [keys.Press].
func Press(name string) tea.KeyPressMsg { return keys.Press(name) }
