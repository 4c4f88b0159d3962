package results

import (
	"time"

	"electop/election"
	"electop/election/insight"
)

// followedTime is the duration for which the row of an election shows the result of an action.
const followedTime = 30 * time.Second

// index records the actions of a batch as the newest actions on their elections. It omits drains, because a drain has
// its own table.
func (r *record) index(b batch) {
	for _, a := range b {
		if a.Target.Key != "" && a.drain == nil {
			r.newest[a.Target.ID()] = a
		}
	}
}

// Followed returns a function that describes the newest action on an election for the election's row. The text is
// "released" or "destroyed" until a leader is elected. After that, it is the time without a leader.
func (l Log) Followed(now time.Time) func(e *election.Election) string {
	return func(e *election.Election) string {
		a, held := l.newest[e.ID()], e.Exists && e.Pair.Held()
		switch {
		case a == nil || a.done.IsZero():
			return ""
		case !a.over && !held && a.Kind == insight.OutcomeDone:
			return map[election.ActionKind]string{election.ActionRelease: "released", election.ActionDestroy: "destroyed"}[a.Action]
		case a.over && held && e.Pair.Session == a.New.Session && now.Sub(a.ended) < followedTime:
			return a.took()
		}
		return ""
	}
}

// took returns the time without a leader, as a text.
func (a *action) took() string {
	switch {
	case a.VacancyKnown:
		return election.AfterVacancy(a.Vacancy)
	case a.Vacancy > 0:
		return "after at most " + election.FormatDuration(a.Vacancy)
	}
	return ""
}
