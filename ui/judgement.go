package ui

import (
	"slices"
	"strconv"
	"time"

	"electop/election"
	"electop/election/insight"
)

// judgement is what the table says of an election beside its state, as far as
// that follows from the election alone.
type judgement struct {
	// urgent says that there is urgent advice which no other sign tells of.
	urgent bool
	// semaphore is "semaphore 2 of 3" for a semaphore's key.
	semaphore string
}

// judgements remembers them for the rows that were drawn. Elections are
// immutable; what depends on the clock (flapping ends by itself) is looked at
// anew every few seconds.
type judgements struct {
	alone *insight.Board
	known map[*election.Election]judgement
	at    time.Time
}

// judgementAge is how long a judgement holds, judgementLimit how many are kept.
const (
	judgementAge   = 5 * time.Second
	judgementLimit = 512
)

func newJudgements() judgements {
	return judgements{alone: insight.NewBoard(nil, nil), known: map[*election.Election]judgement{}}
}

func (j *judgements) of(e *election.Election, asOf time.Time) judgement {
	if age := asOf.Sub(j.at); age < 0 || age >= judgementAge || len(j.known) > judgementLimit {
		clear(j.known)
		j.at = asOf
	}
	found, ok := j.known[e]
	if !ok {
		found = judgement{urgent: slices.ContainsFunc(j.alone.Advise(e, nil, asOf), unsigned), semaphore: semaphoreText(e)}
		j.known[e] = found
	}
	return found
}

// unsigned reports urgent advice that has no sign of its own.
func unsigned(a insight.Advice) bool { return a.Urgent && a.Code != "overwritten" }

// semaphoreWord stands before a semaphore's numbers.
const semaphoreWord = "semaphore "

func semaphoreText(e *election.Election) string {
	if !e.IsSemaphore() {
		return ""
	}
	sem := election.ReadSemaphore(e, nil)
	if sem == nil {
		return semaphoreWord + "?"
	}
	return semaphoreWord + strconv.Itoa(len(sem.Holders)) + " of " + strconv.Itoa(sem.Limit)
}
