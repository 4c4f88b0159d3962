package board

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/scene"
)

// judgement is what the table says of an election beside its state, as far as
// that follows from the election alone.
type judgement struct {
	// urgent says that there is urgent advice which no other sign tells of.
	urgent bool
	// semaphore is "semaphore 2 of 3" for a semaphore's key.
	semaphore string
}

// judge looks at an election by itself: a board of all elections costs too much
// for each row of a frame.
func judge(e *election.Election, asOf time.Time) judgement {
	alone := insight.NewBoard(nil, nil)
	return judgement{urgent: slices.ContainsFunc(alone.Advise(e, nil, asOf), unsigned), semaphore: semaphoreText(e)}
}

// unsigned reports urgent advice that has no sign of its own.
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
