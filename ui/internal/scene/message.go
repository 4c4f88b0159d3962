package scene

import (
	"electop/election"
	"electop/ui/internal/term"
)

// The messages that the program sends to components, beside [tea.KeyPressMsg] and
// the messages of their own commands.

// Resized gives a component its part of the screen. What lies over the board gets
// the whole window, at the end of every update: it lays out its text then.
type Resized struct{ term.Rect }

// Changed says that the scene is another one: a snapshot came, the clock ticked, or
// what is shown was chosen anew. Before is the scene until now, never nil.
type Changed struct{ Before *Scene }

// Opened says that the component is shown, from its beginning.
type Opened struct{}

// Clicked is a click with the left button, in cells of the component's own part.
type Clicked struct{ X, Y int }

// Wheeled scrolls what is under the pointer by lines.
type Wheeled struct{ Step int }

// Moved moves the cursor by rows while a filter is typed.
type Moved struct{ Step int }

// Filtered filters anew; an empty text shows everything.
type Filtered struct{ Text string }

// GoTo puts the cursor on the election or session with this ID. The filter ends if it
// hides it and Reveal is set.
type GoTo struct {
	ID     string
	Reveal bool
}

// SortBy sorts by the key whose word begins so. For a word that is no key's the
// component says which there are.
type SortBy struct {
	Word    string
	Reverse bool
}

// Widen makes the table wide, or normal again.
type Widen struct{}

// Choose has the component return [Ask] about what is chosen, or [Say] why not.
type Choose struct{ Kind election.ActionKind }

// Unmark removes the marks of targets.
type Unmark struct{ Targets []Target }

// Back takes one step back; the component returns [Pass] when it has nothing to undo.
type Back struct{}

// Refreshed is the answer to [Refresh].
type Refreshed struct{}

// ListActions has the log list every action of this run.
type ListActions struct{}
