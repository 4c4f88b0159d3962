package scene

import "electop/election"

// Target is what an action is about: a hold as it was when it was chosen, or a
// session.
type Target struct {
	election.Target
	HeldFor string
	// Bare is set for a session without an election.
	Bare *election.Session
	// Hidden says that the filter hides it.
	Hidden bool
}

// Bind makes a target of a hold as it is now.
func (s *Scene) Bind(e *election.Election, hidden bool) Target {
	return Target{Target: e.Target(), HeldFor: Held(s.Sym, s.AsOf.Sub(e.Since), e.SinceKnown), Hidden: hidden}
}

// BindSession makes a target of a session, whatever it holds.
func BindSession(ses *election.Session, hidden bool) Target {
	return Target{Target: election.Target{
		Session: ses.ID, Node: ses.Node, Behavior: ses.Behavior, LockDelay: ses.EnforcedLockDelay(),
	}, Bare: ses, Hidden: hidden}
}

// Label names a target in one short text.
func (t *Target) Label() string {
	switch {
	case t.Election != "":
		return OneLine(t.Election, 60)
	case t.Bare != nil && t.Bare.Name != "":
		return "session " + OneLine(t.Bare.Name, 40)
	}
	return "session " + election.ShortID(t.Session)
}

// Title names a target in a list, where several sessions may have one name.
func (t *Target) Title() string {
	if t.Bare != nil && t.Bare.Name != "" {
		return OneLine(t.Bare.Name, 40) + " " + election.ShortID(t.Session)
	}
	return t.Label()
}

// Chosen is what is marked or, only when nothing is, what is under the cursor.
type Chosen struct {
	// Visible and Hidden are the targets that the filter shows and hides.
	Visible, Hidden []Target
	// Leaderless names marked elections that have no leader.
	Leaderless []string
	// Unmarked names the row under the cursor when all marks are hidden.
	Unmarked string
	// Bare says that the targets are sessions, whatever they hold.
	Bare bool
}
