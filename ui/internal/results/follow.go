package results

import (
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
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
// "released", "destroyed" or "fixed" until a leader is elected. After that, it is the time without a leader.
func (l Log) Followed(now time.Time) func(e *election.Election) string {
	return func(e *election.Election) string {
		a, held := l.newest[e.ID()], e.Exists && e.Pair.Held()
		switch {
		case a == nil || a.done.IsZero():
			return ""
		case !a.over && !held && a.Kind == insight.OutcomeDone:
			return a.participle()
		case a.over && held && e.Pair.Session == a.New.Session && now.Sub(a.ended) < followedTime:
			return a.took()
		}
		return ""
	}
}

func (a *action) participle() string {
	switch a.Action {
	case election.ActionRelease:
		return "released"
	case election.ActionDestroy:
		return "destroyed"
	default:
		return "fixed"
	}
}

// took returns the time without a leader, as a text. After a fix, it returns the time from the fix to the next term.
func (a *action) took() string {
	switch {
	case a.VacancyKnown:
		return election.AfterVacancy(a.Vacancy)
	case a.Vacancy > 0:
		return "after at most " + election.FormatDuration(a.Vacancy)
	}
	return ""
}

// StartFix applies the fix that the user confirmed.
func (l Log) StartFix(c scene.ConfirmFix, s *scene.Scene) (Log, scene.Action) {
	b := newBatch(c.Kind, []scene.Target{c.Target}, s.Now)
	b[0].by, b[0].apply = c.By, c.Apply
	return l.begin(b)
}
