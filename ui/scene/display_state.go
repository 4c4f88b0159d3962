package scene

import (
	"electop/election"
	"electop/ui/kit"
)

// DisplayState is the displayed state of an election.
type DisplayState uint8

// The displayed states.
const (
	StateLed DisplayState = iota
	StateVacant
	StateLockDelay
	StateSemaphore // a key that has several holders by design
	StateUnreadable
	StateIdle // a finished job: no leader since before electop started, and no candidate
	// StateUnsearched is vacant or idle: the election had no leader when electop found it, and electop has not searched
	// for candidates yet.
	StateUnsearched
)

// StateOf returns the displayed state of an election.
func (s *Scene) StateOf(e *election.Election) DisplayState {
	if e.Unreadable {
		return StateUnreadable
	}
	switch state := e.State(s.AsOf); {
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
	return [...]string{"led", "vacant", "lock-delay", "semaphore", "unreadable", "idle", "vacant"}[s]
}

// Sign returns the symbol of the state and its colour role.
func (s DisplayState) Sign(sym *kit.Symbols) (string, kit.Role) {
	sign := [...]string{sym.Led, sym.Vacant, sym.Delay, sym.Semaphore, sym.Unknown, sym.Dot, sym.Vacant}[s]
	return sign, [...]kit.Role{kit.Led, kit.Vacant, kit.Delay, kit.Accent, kit.Quiet, kit.Quiet, kit.Quiet}[s]
}

// Counts contains the number of elections in each state. Warning and Critical count the leaders at risk by the worst
// check of their sessions. Failed counts the leaders that have failed although their sessions hold the keys.
type Counts struct {
	Of                        [StateUnsearched + 1]int
	Warning, Critical, Failed int
}
