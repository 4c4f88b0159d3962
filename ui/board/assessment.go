package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/scene"
)

// urgent reports whether an election has urgent advice that no other sign in its row shows. It does not compare the
// election with other elections, because this is expensive for each row.
func urgent(e *election.Election, asOf time.Time) bool {
	return slices.ContainsFunc(insight.NewBoard(nil, nil).Advise(e, nil, asOf), func(a insight.Advice) bool {
		return a.Urgent && a.Code != "overwritten"
	})
}

// semaphoreText describes a semaphore in the leader column, for example "semaphore 2 of 3".
func semaphoreText(e *election.Election) string {
	sem := election.ReadSemaphore(e, nil)
	if sem == nil {
		return scene.SemaphoreWord + "?"
	}
	return scene.SemaphoreWord + strconv.Itoa(len(sem.Holders)) + " of " + strconv.Itoa(sem.Limit)
}
