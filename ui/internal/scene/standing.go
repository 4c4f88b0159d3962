package scene

import (
	"time"

	"electop/ui/internal/term"

	"electop/election"
)

// Standing is what an election is in, as the screen tells it apart.
type Standing uint8

// The standings of an election.
const (
	StandsLed Standing = iota
	StandsDelay
	StandsVacant
	StandsSemaphore // a key that has several holders by design
	StandsUnreadable
)

// StandingOf is what an election is in at a moment.
func StandingOf(e *election.Election, asOf time.Time) Standing {
	if e.Unreadable {
		return StandsUnreadable
	}
	switch state := e.State(asOf); {
	case state == election.Led:
		return StandsLed
	case e.IsSemaphore():
		return StandsSemaphore
	case state == election.InLockDelay:
		return StandsDelay
	default:
		return StandsVacant
	}
}

// Word is the standing in the vocabulary of the command line and the filter.
func (s Standing) Word() string {
	return [...]string{"led", "lock-delay", "vacant", "semaphore", "unreadable"}[s]
}

// Sign is the symbol of the standing and its role.
func (s Standing) Sign(sym *term.Symbols) (string, term.Role) {
	switch s {
	case StandsLed:
		return sym.Led, term.Led
	case StandsDelay:
		return sym.Delay, term.Delay
	case StandsVacant:
		return sym.Vacant, term.Vacant
	case StandsSemaphore:
		return sym.Semaphore, term.TermB
	default:
		return sym.Unreadable, term.Quiet
	}
}

// SemaphoreWord stands before a semaphore's numbers.
const SemaphoreWord = "semaphore "
