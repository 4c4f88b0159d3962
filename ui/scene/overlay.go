package scene

import (
	tea "charm.land/bubbletea/v2"

	"electop/ui/kit"
)

// Overlay is a dialog, a page or a menu over the views. It receives all keys while it is open.
type Overlay struct {
	kit.Sheet
	// Update, if set, receives the newest scene after each update of the program, before the text is written.
	Update func(s *Scene) Action
	// Targets are the targets of the action, whose permissions the program reads.
	Targets []Target
}

// Open opens an overlay about current data and closes the one that was open. Cmd, if set, is the command of its read.
type Open struct {
	*Overlay
	Cmd tea.Cmd
}
