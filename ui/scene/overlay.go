package scene

import "electop/ui/kit"

// Overlay is a dialog, a page or a menu over the views. It receives all keys while it is open.
type Overlay struct {
	kit.Sheet
	// Update, if set, receives the newest scene after each update of the program, before the text is written.
	Update func(s *Scene) Action
}

// Open opens an overlay and closes the one that was open.
type Open struct{ *Overlay }
