package scene

import (
	"time"

	"electop/election"
	"electop/ui/kit"
)

// Messages from the program to components, in addition to key presses and the messages
// of the components' own commands.

// Resized sets the component's part of the screen.
type Resized struct{ kit.Rect }

// Changed reports a new scene: a new snapshot, clock tick or selection. Before is the previous
// scene, never nil.
type Changed struct{ Before *Scene }

// Opened reports that the program shows the component. The component then scrolls to the top.
type Opened struct{}

// Clicked is a left click on an item that the component drew.
type Clicked struct{ kit.Area }

// Wheeled scrolls the component under the pointer by Step lines. In a list, it moves the cursor.
type Wheeled struct{ Step int }

// Filtered sets the filter; an empty text removes it.
type Filtered struct{ Text string }

// Since shows the events since a moment. The zero time shows all events.
type Since struct{ At time.Time }

// GoTo moves the cursor to the election or session with this ID. If Reveal is set, the component clears a filter that
// hides this row.
type GoTo struct {
	ID     string
	Reveal bool
}

// SortBy sorts by the sort key whose name starts with the first word of Text. The word "reverse" may follow. If there
// is no such key, the component shows the valid keys.
type SortBy struct{ Text string }

// Choose requests [Ask] for the chosen targets. If Filter is not empty, the targets are all rows that match it. If
// there is no valid target, the component returns [Say] with the reason.
type Choose struct {
	Kind   election.ActionKind
	Filter string
}

// Back undoes one step; the component returns [Pass] if it has nothing to undo.
type Back struct{}

// Overlay is a dialog, a page or a menu over the views. It receives all keys while it is open. A component that returns it
// as its action opens it, about current data.
type Overlay struct {
	kit.Sheet
	// S is the newest scene. The program sets it before the text is written.
	S *Scene
	// Targets are the targets of the action, whose permissions the program reads.
	Targets []Target
}
