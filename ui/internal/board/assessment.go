package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// assessment is what the table shows of an election in addition to its state.
type assessment struct {
	// urgent is set for urgent advice that has no other sign.
	urgent bool
	// semaphore is "semaphore 2 of 3" for a semaphore's key.
	semaphore string
}

// assess ignores other elections: comparing all of them for each row of a frame is expensive.
func assess(e *election.Election, asOf time.Time) assessment {
	alone := insight.NewBoard(nil, nil)
	return assessment{urgent: slices.ContainsFunc(alone.Advise(e, nil, asOf), unsigned), semaphore: semaphoreText(e)}
}

// unsigned reports whether urgent advice has no sign of its own.
func unsigned(a insight.Advice) bool { return a.Urgent && a.Code != "overwritten" }

func semaphoreText(e *election.Election) string {
	if !e.IsSemaphore() {
		return ""
	}
	sem := election.ReadSemaphore(e, nil)
	if sem == nil {
		return scene.SemaphoreWord + "?"
	}
	return scene.SemaphoreWord + strconv.Itoa(len(sem.Holders)) + " of " + strconv.Itoa(sem.Limit)
}
