package cli

import (
	"errors"
	"fmt"
	"io"

	"electop/consulx"
	"electop/election/insight"
)

// Exit codes. The help of electop describes them.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNoElection = 3
	exitChanged    = 4
	exitDenied     = 5
	exitSameLeader = 6
	exitNoLeader   = 7
)

// bySeverity returns the exit codes of results, the most severe first.
func bySeverity() [6]int {
	return [...]int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitOK}
}

// worstOf returns an error with the most severe of the exit codes, or nil if all mean success.
func worstOf(codes map[int]bool) error {
	for _, code := range bySeverity() {
		if code != exitOK && codes[code] {
			return exitError(code)
		}
	}
	return nil
}

// exitOf returns the exit code of a result. With waited, an action whose next leader was not observed has failed.
func exitOf(kind insight.OutcomeKind, waited bool) int {
	switch kind {
	case insight.OutcomeDone:
		if waited {
			return exitFailed
		}
		return exitOK
	case insight.OutcomeMoved, resultProposed:
		return exitOK
	case insight.OutcomeReturned:
		return exitSameLeader
	case insight.OutcomeNoLeader, resultWaiting, resultManual:
		return exitNoLeader
	case insight.OutcomeChanged:
		return exitChanged
	case insight.OutcomeDenied:
		return exitDenied
	default:
		return exitFailed
	}
}

// usageError reports an invalid command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// errNoElection and errNoNode report that no election or node has the given name.
var (
	errNoElection = errors.New("no such election")
	errNoNode     = errors.New("no such node")
)

// exitError ends electop with an exit code and without a message: either electop has already reported the result, or a
// program that electop ran has failed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// reportError writes an error as one line and returns its exit code.
func reportError(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	var code exitError
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintln(w, "electop: "+consulx.Describe(err))
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errNoElection), errors.Is(err, errNoNode):
		return exitNoElection
	case errors.Is(err, consulx.ErrMoved):
		return exitChanged
	case errors.Is(err, consulx.ErrDenied):
		return exitDenied
	}
	return exitFailed
}
