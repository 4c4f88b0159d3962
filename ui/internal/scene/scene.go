package scene

import (
	"time"

	"electop/election"
)

// Insight looks into an election of the shown snapshot.
func (s *Scene) Insight(e *election.Election) *Assessment {
	return s.Insights.Look(e, s.around(e), s.Snap.Elections, s.AsOf)
}

// around are the surroundings of an election. A board that is paused has those
// of the election that was looked at then; of another one newer ones serve.
func (s *Scene) around(e *election.Election) *election.Surroundings {
	for _, snap := range []*election.Snapshot{s.Snap, s.Live} {
		if snap.Surroundings != nil && snap.Surroundings.Key == e.Key() {
			return snap.Surroundings
		}
	}
	return nil
}

// Scene is what everything on the screen is drawn from.
type Scene struct {
	Snap *election.Snapshot
	// asOf is the moment at which the snapshot is looked at: now, or when it
	// was paused or the link was lost. now is the clock's.
	AsOf, Now time.Time
	Stale     bool
	// StaleSince is since when the election that is drawn is stale, if others are
	// not.
	StaleSince time.Time
	// Live is the newest snapshot, which a paused board does not show.
	Live     *election.Snapshot
	Insights *InsightCache
	// Studies says that surroundings are read at all.
	Studies bool
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
