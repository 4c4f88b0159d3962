// Package scene is what every component of the screen reads, and what it may ask
// for: the snapshot that is shown, what is inferred from it, and the actions and
// messages between the components and the program.
package scene

import (
	"time"

	"electop/election"
	"electop/ui/internal/term"
)

// Scene is what is looked at now. The program makes it anew at the end of every
// update; components read it, and keep and change nothing of it.
type Scene struct {
	// Shown is drawn, Live is the newest snapshot: Shown is older while paused.
	Shown, Live *election.Snapshot
	// AsOf is the moment at which Shown is looked at: Now, or when the board was
	// paused or the link was lost. Now is the clock's.
	AsOf, Now     time.Time
	Stale, Paused bool
	// StaleSince is since when the election that is drawn is stale, if others are
	// not: only [Scene.Of] sets it.
	StaleSince time.Time
	// Latency is that of the link as of the last tick of the clock.
	Latency time.Duration
	Sym     *term.Symbols

	// ReadOnly and CanAct (there is an operator), Studies (surroundings are read) and
	// Lists (sessions are listed) are what the program was started with.
	ReadOnly, CanAct, Studies, Lists bool

	// Selected is the election under the board's cursor, nil for none.
	Selected *election.Election
	// NameWidth is how wide the names of elections are, in cells.
	NameWidth int
	// Actions are the operator's actions of this run as events, oldest first.
	Actions []EventLine
	// Missing is the rule that the token lacks for an action on a target, empty when
	// nothing is known to be missing.
	Missing func(kind election.ActionKind, t election.Target) string
	// Earlier is what the latest scan of the store found of sessions, nil when it
	// does not cover all of them.
	Earlier func(sessions []string) *Search

	// insight is about insightOf.
	insight   *Assessment
	insightOf *election.Election
}

// Look infers what there is to say of the selected election, so that drawing has to
// infer nothing.
func (s *Scene) Look(c *InsightCache) {
	if e := s.Selected; e != nil {
		part := s.Of(e)
		s.insight, s.insightOf = c.Look(e, s.around(e), s.Shown.Elections, part.AsOf), e
	}
}

// Insight is what is inferred of the selected election; of any other, nothing.
func (s *Scene) Insight(e *election.Election) *Assessment {
	if e == nil || s.insightOf != e {
		return &Assessment{}
	}
	return s.insight
}

// around are the surroundings of an election. A board that is paused has those
// of the election that was looked at then; of another one newer ones serve.
func (s *Scene) around(e *election.Election) *election.Surroundings {
	for _, snap := range []*election.Snapshot{s.Shown, s.Live} {
		if snap.Surroundings != nil && snap.Surroundings.Key == e.Key() {
			return snap.Surroundings
		}
	}
	return nil
}

// Of is the scene as an election is drawn in it: one of a stale part is looked at
// as of when it was last current.
func (s *Scene) Of(e *election.Election) *Scene {
	if e == nil || s.Stale || len(s.Live.Connection.Stale) == 0 {
		return s
	}
	since, stale := s.Live.StaleSince(e.Key())
	if !stale {
		return s
	}
	part := *s
	part.StaleSince = since
	if since.Before(s.AsOf) {
		part.AsOf = since
	}
	return &part
}

// PartStale says that the election that is drawn is stale and others are not.
func (s *Scene) PartStale() bool { return !s.StaleSince.IsZero() }

// Refusal says why an action is not possible now, empty when it is.
func (s *Scene) Refusal(kind election.ActionKind) string {
	word := string(kind)
	switch c := s.Live.Connection; {
	case s.ReadOnly:
		return "Read-only: " + word + " is disabled (--read-only)."
	case !s.CanAct:
		return "Unavailable: this dashboard cannot " + word + "."
	case c.State == election.Lost:
		return StaleText(c)
	case c.State != election.Live:
		return "Unavailable until Consul is connected."
	}
	return ""
}

// StaleText says that nothing can be done while the link is lost.
func StaleText(c election.Connection) string {
	if c.Refused {
		return "Unavailable while Consul rejects this token: this data is stale."
	}
	return "Unavailable while Consul is unreachable: this data is stale."
}
