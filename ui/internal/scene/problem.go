package scene

import (
	"time"

	"electop/election"
)

// NoProblem is the rank of an election without a problem.
const NoProblem = 6

// ProblemRank ranks elections by urgency, the most urgent first.
func ProblemRank(e *election.Election, snap *election.Snapshot, asOf time.Time) int64 {
	switch DisplayStateOf(e, asOf) {
	case StateVacant:
		return 0
	case StateLockDelay:
		return 1
	case StateUnreadable:
		return 2
	case StateSemaphore, StateIdle, StateUnsearched:
		return NoProblem
	default:
		return ledRank(e, snap)
	}
}

func ledRank(e *election.Election, snap *election.Snapshot) int64 {
	t := TallyChecks(e.Session, snap.Checks)
	switch {
	case t.Critical > 0:
		return 3
	case e.Overwritten():
		return 4
	case t.Warning > 0:
		return 5
	}
	return NoProblem
}

// ChangesWindow is the period in which changes are counted.
const ChangesWindow = time.Hour
