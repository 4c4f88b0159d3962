package scene

import (
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/term"
)

// Action is what a component returns for the program to do; nil for nothing.
type Action interface{ isAction() }

// Say shows a note in the footer.
type Say struct {
	Role term.Role
	Text string
}

// Copy copies a text through the terminal. What names it: "session", "value".
type Copy struct{ What, Text string }

// ShowElection shows an election in the first view.
type ShowElection struct{ ID string }

// Zoom shows the selected election in full.
type Zoom struct{}

// Ask opens the dialog about an action on what is chosen, from which at least one
// target is visible or hidden.
type Ask struct {
	Kind election.ActionKind
	Chosen
}

// Confirm carries an action out on targets, removes their marks and closes the
// dialog.
type Confirm struct {
	Kind    election.ActionKind
	Targets []Target
}

// Refresh ends a pause, forgets what is known of the token's rights to targets, and
// then sends [Refreshed] to the dialog.
type Refresh struct{ Targets []Target }

// ShowResults opens the panel of the log of actions.
type ShowResults struct{}

// Close closes the dialog or the panel of results and shows a quiet note, if there is
// a text.
type Close struct{ Text string }

// Run runs a command; its message comes back to the component.
type Run struct{ Cmd tea.Cmd }

// Quit ends the program, once no write is under way or at the second time.
type Quit struct{}

// Pass says that there was nothing to undo: the program goes a step back itself.
type Pass struct{}

// All are several actions, in order.
type All []Action

func (Say) isAction()          {}
func (Copy) isAction()         {}
func (ShowElection) isAction() {}
func (Zoom) isAction()         {}
func (Ask) isAction()          {}
func (Confirm) isAction()      {}
func (Refresh) isAction()      {}
func (ShowResults) isAction()  {}
func (Close) isAction()        {}
func (Run) isAction()          {}
func (Quit) isAction()         {}
func (Pass) isAction()         {}
func (All) isAction()          {}
