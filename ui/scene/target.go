package scene

import (
	"electop/election"
)

// Target is the target of an action: a session, or the hold that existed when the user chose the election.
type Target struct {
	election.Target
	HeldFor string
	// SessionOnly is the session if the target is a session. It is nil if the target is a hold.
	SessionOnly *election.Session
	// Where is the datacenter as [Scene.Where] returns it.
	Where string
}

// Bind returns a target for an election's current hold.
func (s *Scene) Bind(e *election.Election) Target {
	return Target{Target: e.Target(), HeldFor: Held(s.Sym, s.AsOf.Sub(e.Since), e.SinceKnown), Where: s.Where(e.Datacenter)}
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
