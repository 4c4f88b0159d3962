package results

import (
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// followedTime is how long the row of an election shows the result of an action.
const followedTime = 30 * time.Second

// index makes the actions of a batch the newest ones of their elections. The live table shows those of a drain.
func (r *record) index(b batch) {
	for _, a := range b {
		if a.Target.Key != "" && a.drain == nil {
			r.newest[a.Target.Key] = a
		}
	}
}

// Followed returns what the row of an election shows about the newest action on it: that the
// action was applied, and then how long the election had no leader.
func (l Log) Followed(now time.Time) func(e *election.Election) string {
	return func(e *election.Election) string {
		a, held := l.newest[e.Key()], e.Exists && e.Pair.Held()
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

// took is the time from the end of the term, or from a fix, to the next leader.
func (a *action) took() string {
	switch {
	case a.VacancyKnown:
		return "after " + election.FormatDuration(a.Vacancy)
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
