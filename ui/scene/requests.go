package scene

import (
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/ui/kit"
)

// Action is a request from a component to the program: a type of this file or a tea.Cmd. nil requests nothing.
type Action = any

type (
	// Say shows a note in the footer.
	Say = kit.Say
	// Close closes the open overlay.
	Close = kit.Close
)

// Copy copies Text to the clipboard of the terminal. What names the copied text in the note, for example "session".
type Copy struct{ What, Text string }

// ShowElection shows an election in the Elections view.
type ShowElection struct{ ID string }

// Zoom shows the details of the selected election on the whole screen.
type Zoom struct{}

// Probed reports that a probe of an election found no lock-delay, which holds until its key changes.
type Probed struct{ Election *election.Election }

// Ask opens the confirmation dialog for an action.
type Ask struct {
	Kind election.ActionKind
	// Targets are the chosen targets, at least one: elections or sessions.
	Targets []Target
	// Hidden and Leaderless name the marked rows that the filter hides, and the marked elections without a leader.
	Hidden, Leaderless []string
}

// Confirm starts an action on targets, removes the marks of the targets and closes the dialog.
type Confirm struct {
	Kind    election.ActionKind
	Targets []Target
	// Shown is what the user was shown about each session to destroy, by its ID.
	Shown map[string]election.Destroy
}

// Refresh ends a pause and discards the cached permissions for the targets.
type Refresh struct{ Targets []Target }

// Watch adds patterns to the watched patterns.
type Watch struct{ Patterns []string }

// Drain begins a drain that the user confirmed.
type Drain struct {
	Plan    act.Plan
	Destroy bool
}

// WriteReport writes an incident report about elections to a file.
type WriteReport struct {
	Of    []Subject
	Since time.Time
}

// Subject identifies an election in a report.
type Subject struct{ Datacenter, Key string }

// Visit shows a moment of the past, or the present if Past is nil. Cursor is the ID of the election to select. If it is
// empty, the selection does not change.
type Visit struct {
	Past   *Past
	Cursor string
}

// Pass reports that the component has nothing to undo. The program then goes back one step itself.
type Pass struct{}

// All is a list of actions that the program carries out in order.
type All []Action

// Target is the target of an action: a session, or the hold that existed when the user chose the election.
type Target struct {
	election.Target
	HeldFor string
	// SessionOnly is the session if the target is a session. It is nil if the target is a hold.
	SessionOnly *election.Session
	// Where is the datacenter as [Scene.Where] returns it.
	Where string
	// Next contains the candidates that the dialog showed, most likely first.
	Next []insight.Candidate
}

// Bind returns a target for an election's current hold.
func (s *Scene) Bind(e *election.Election) Target {
	return Target{Target: e.Target(), HeldFor: s.Held(s.AsOf.Sub(e.Since), e.SinceKnown), Where: s.Where(e.Datacenter)}
}

// Where returns a datacenter as the end of a text: " in dc2". It is empty if the board shows only one datacenter.
func (s *Scene) Where(datacenter string) string {
	if !s.Several() {
		return ""
	}
	return " in " + Short(datacenter)
}

// BindSession returns a target for a session. The target does not depend on the keys of the session.
func (s *Scene) BindSession(ses *election.Session) Target {
	return Target{Where: s.Where(ses.Datacenter), Target: ses.Target(), SessionOnly: ses}
}

// Row returns the ID of the row of the list from which the user chose the target.
func (t *Target) Row() string {
	if t.SessionOnly != nil {
		return SessionRow(t.SessionOnly)
	}
	return string(t.ID())
}

// SessionRow identifies a session. Two clusters may have sessions with the same ID, after a restore.
func SessionRow(s *election.Session) string { return s.Datacenter + " " + s.ID }

// Label returns the short name of a target.
func (t *Target) Label() string {
	switch {
	case t.Election != "":
		return Short(t.Election)
	case t.SessionOnly != nil && t.SessionOnly.Name != "":
		return "session " + Short(t.SessionOnly.Name)
	}
	return "session " + election.ShortID(t.Session)
}

// Title returns the name of a target in a list. If the board shows several datacenters, it contains the datacenter. For
// a session it contains the session ID, because session names are not unique.
func (t *Target) Title() string {
	if t.SessionOnly != nil && t.SessionOnly.Name != "" {
		return Short(t.SessionOnly.Name) + " " + election.ShortID(t.Session) + t.Where
	}
	return t.Label() + t.Where
}
