package scene

import (
	"time"

	"electop/ui/internal/term"

	"electop/election"
)

// Standing is the state of an election as displayed.
type Standing uint8

// The displayed states.
const (
	StandsLed Standing = iota
	StandsDelay
	StandsVacant
	StandsSemaphore // a key that has several holders by design
	StandsUnreadable
)

// StandingOf returns the displayed state of an election at asOf.
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

// Word is the state in the vocabulary of the command line and the filter.
func (s Standing) Word() string {
	return [...]string{"led", "lock-delay", "vacant", "semaphore", "unreadable"}[s]
}

// Sign returns the symbol of the state and its colour role.
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

// SemaphoreWord precedes a semaphore's numbers.
const SemaphoreWord = "semaphore "
