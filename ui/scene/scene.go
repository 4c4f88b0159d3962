// Package scene holds the state that all components of the screen read, and the actions and
// messages between components and the program.
package scene

import (
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/kit"
)

// Scene is the state to display. The program creates a new scene after every update. Components must not modify or
// store it.
type Scene struct {
	// Live is the newest snapshot. Shown is the snapshot to draw: Live, an older one while paused, or the snapshot of
	// Past.
	Shown, Live *election.Snapshot
	// AsOf is the time that Shown describes: Now, the start of the pause, the moment of Past, the last contact before the
	// connection was lost or, before the first response from Consul, the end of the history.
	AsOf, Now     time.Time
	Stale, Paused bool
	// Warning is a warning about the history in one line, or empty if there is none.
	Warning string
	// Past is the displayed moment of the past, or nil for the present.
	Past *Past
	// Lanes holds the recorded terms for the lanes. It is nil if there are none.
	Lanes *Lanes
	// StaleSince is set by [Scene.Of] if the drawn election is stale and other elections are not.
	StaleSince time.Time
	// Unreachable is set by [Scene.Of] if the datacenter of the drawn election does not respond and other datacenters
	// do.
	Unreachable bool
	// Latency is the latency of the connection at the last clock tick.
	Latency time.Duration
	Config

	// Selected is the election under the board's cursor, or nil if there is none.
	Selected *election.Election
	// NameWidth is the width of the longest election name, in cells.
	NameWidth int
	// Actions contains the operator's actions in this run as events, oldest first.
	Actions []EventLine
	// insight is the assessment of the selected election.
	insight *Assessment
}

// Config is what changes only with a command of the user.
type Config struct {
	Sym *kit.Symbols
	// ReadOnly is an option of the program.
	ReadOnly bool
	// Patterns are the watched patterns.
	Patterns []string
	// Datacenters contains the names of all datacenters on the board, even in the scene of one datacenter. It is nil if
	// the board shows only one datacenter.
	Datacenters []string
	// Address is Consul's address. Context is the current context of the config file, or empty, and Contexts are all.
	// ContextHint names the contexts if none is used.
	Address, Context, ContextHint string
	Contexts                      []string
	// Demo describes a demonstration. It is empty outside a demonstration.
	Demo string
	// Missing returns the ACL rule that the token lacks for an action. It is empty if the token has the rule or the
	// permission is unknown.
	Missing func(kind election.ActionKind, t election.Target) string
}

// Several reports whether the board shows several datacenters.
func (s *Scene) Several() bool { return len(s.Datacenters) > 1 }

// In returns the scene of one datacenter, for a component that shows only this datacenter.
func (s *Scene) In(datacenter string) *Scene {
	if s.Live.Parts == nil {
		return s
	}
	part := *s
	part.Live, part.Shown = s.Live.In(datacenter), s.Shown.In(datacenter)
	if c := part.Live.Connection; c.State == election.Lost && s.Past == nil {
		part.Stale = true
		if !c.LastContact.IsZero() && c.LastContact.Before(s.AsOf) {
			part.AsOf = c.LastContact
		}
	}
	return &part
}

// Sessions returns all sessions of a snapshot, or nil if they were not read.
func Sessions(snap *election.Snapshot) []*election.Session {
	switch {
	case snap.SessionList != nil:
		return snap.SessionList.Sessions
	case snap.Surroundings != nil:
		return snap.Surroundings.Sessions
	}
	return nil
}

// LiveSince returns the start of the period for which the snapshot contains the events of all datacenters, or zero if
// there is none. For a moment of the past it returns this moment, because all events are then from the history.
func (s *Scene) LiveSince() time.Time {
	if s.Past != nil {
		return s.Past.At
	}
	var since time.Time
	for _, part := range s.Shown.Datacenters() { // each datacenter has its own latest events
		if len(part.Events) > 0 {
			since = election.Later(part.Events[0].Time, since)
		}
	}
	return since
}

// Past is the recorded state at a moment of the past. It is immutable.
type Past struct {
	At       time.Time
	Snapshot *election.Snapshot
	// Event is the event to which the user stepped, or nil if there is none, and Why its explanation. More is the number
	// of other events with exactly the same time.
	Event, Why *election.Event
	More       int
	// Observed reports whether an observer was running at At. If not, Gap is the gap in observation around At. Its Since
	// is zero if there is no earlier observation. Its Until is zero if there is no later observation.
	Observed bool
	Gap      history.Range
	// Blind is the name of the datacenter with the gap if at least one other datacenter was observed, or empty.
	Blind string
	// Patterns are the patterns of the elections.
	Patterns []string
}

// Moment returns At, or the zero time for the present.
func (p *Past) Moment() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.At
}

// Unobserved reports whether p is a moment of the past at which no observer was running.
func (p *Past) Unobserved() bool { return p != nil && !p.Observed }

// Lanes holds the recorded terms and observations of some elections for the period of the lanes. It is immutable. As an
// action, it replaces those of the scene.
type Lanes struct {
	// At is the end of the period, and Window is its length. Moment is zero if the period ends in the present.
	At, Moment time.Time
	Window     time.Duration
	// The keys of Terms and Observed are values of [election.Election.ID].
	Terms    map[election.ID][]history.Term
	Observed map[election.ID]history.Periods
}

// Of returns the terms of an election and the periods in which it was observed until At. known is false if they
// were not read.
func (l *Lanes) Of(e *election.Election) (terms []history.Term, observed history.Periods, known bool) {
	if l == nil {
		return nil, nil, false
	}
	id := e.ID()
	observed, known = l.Observed[id]
	return l.Terms[id], observed, known
}

// NotStored is the text shown in place of data that the history does not store.
const NotStored = "not stored"
