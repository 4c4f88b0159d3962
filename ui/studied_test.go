package ui

import (
	"context"

	"electop/election"
)

// outside records the calls of Study, WatchSessions and Rights.
type outside struct {
	studied  []string
	listings []bool
	asked    []election.Target
	rights   election.Rights
}

func (o *outside) options(opts *Options) {
	fake(opts).onStudy = func(_, key string) { o.studied = append(o.studied, key) }
	fake(opts).onWatchSessions = func(on bool) { o.listings = append(o.listings, on) }
	fake(opts).onRights = func(_ context.Context, t election.Target) (election.Rights, error) {
		o.asked = append(o.asked, t)
		return o.rights, nil
	}
}

// studies is an option: the dashboard reads surroundings and sessions, and cannot search the store.
func studies(o *Options) {
	fake(o).onStudy = func(string, string) {}
	fake(o).onSurvey = func(context.Context, string, []string) []election.Surroundings { return nil } // the driver responds
	fake(o).onWatchSessions = func(bool) {}
}

// searches is an option: a search finds two more keys of every session.
func searches(o *Options) {
	studies(o)
	fake(o).onHoldings = func(_ context.Context, _ string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
		progress(9800, 9800)
		var found []election.Pair
		for _, session := range sessions {
			found = append(found, election.Pair{Key: "locks/nightly", Session: session}, election.Pair{Key: "locks/reindex", Session: session})
		}
		return found, false, nil
	}
}
