package scene

import (
	"time"

	"electop/election"
	"electop/ui/kit"
)

// DisplayState is the displayed state of an election.
type DisplayState uint8

// The displayed states.
const (
	StateLed DisplayState = iota
	StateLockDelay
	StateVacant
	StateSemaphore // a key that has several holders by design
	StateUnreadable
	StateIdle // a finished job: no leader since before electop started, and no candidate
	// StateUnsearched is vacant or idle: the election had no leader when electop found it, and electop has not searched
	// for candidates yet.
	StateUnsearched
)

// DisplayStateOf returns the displayed state of an election at asOf.
func DisplayStateOf(e *election.Election, asOf time.Time) DisplayState {
	if e.Unreadable {
		return StateUnreadable
	}
	switch state := e.State(asOf); {
	case state == election.Led:
		return StateLed
	case e.IsSemaphore():
		return StateSemaphore
	case state == election.InLockDelay:
		return StateLockDelay
	case state == election.Idle:
		return StateIdle
	case e.Unsearched:
		return StateUnsearched
	default:
		return StateVacant
	}
}

// Word returns the name of the state on the command line and in filters.
func (s DisplayState) Word() string {
	return [...]string{"led", "lock-delay", "vacant", "semaphore", "unreadable", "idle", "vacant"}[s]
}

// Sign returns the symbol of the state and its colour role.
func (s DisplayState) Sign(sym *kit.Symbols) (string, kit.Role) {
	switch s {
	case StateLed:
		return sym.Led, kit.Led
	case StateLockDelay:
		return sym.Delay, kit.Delay
	case StateVacant:
		return sym.Vacant, kit.Vacant
	case StateSemaphore:
		return sym.Semaphore, kit.Accent
	case StateUnsearched:
		return sym.Vacant, kit.Quiet
	case StateIdle:
		return sym.Idle, kit.Quiet
	default:
		return sym.Unreadable, kit.Quiet
	}
}

// SemaphoreWord precedes the numbers of holders and slots of a semaphore.
const SemaphoreWord = "semaphore "
