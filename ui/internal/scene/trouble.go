package scene

import (
	"time"

	"electop/election"
)

// NoTrouble is the rank of an election without a problem.
const NoTrouble = 6

// Trouble ranks elections by urgency, the most urgent first.
func Trouble(e *election.Election, snap *election.Snapshot, asOf time.Time) int64 {
	switch StandingOf(e, asOf) {
	case StandsVacant:
		return 0
	case StandsDelay:
		return 1
	case StandsUnreadable:
		return 2
	case StandsSemaphore:
		return NoTrouble
	default:
		return ledTrouble(e, snap)
	}
}

// ledTrouble ranks elections that have a leader.
func ledTrouble(e *election.Election, snap *election.Snapshot) int64 {
	t := TallyChecks(e.Session, snap.Checks)
	switch {
	case t.Critical > 0:
		return 3
	case e.Overwritten():
		return 4
	case t.Warning > 0:
		return 5
	}
	return NoTrouble
}

// ChangesWindow is the period in which changes are counted.
const ChangesWindow = time.Hour
