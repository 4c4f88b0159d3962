package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
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

// worstOf returns an error with the most severe of the exit codes, or nil if all mean success.
func worstOf(codes ...int) error {
	for _, code := range []int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitUsage, exitNoElection} {
		if slices.Contains(codes, code) {
			return exitError(code)
		}
	}
	return nil
}

// exitOfAll returns an error with the most severe exit code of outcomes and other codes, or nil if all mean success.
func exitOfAll(all []act.Outcome, waited bool, codes ...int) error {
	for _, o := range all {
		codes = append(codes, exitOf(o, waited))
	}
	return worstOf(codes...)
}

// exitOf returns the exit code of an outcome. With waited, an action whose next leader was not observed has failed.
func exitOf(o act.Outcome, waited bool) int {
	drains := o.Action == election.ActionDrain
	switch cmp.Or(o.Failure, o.Kind) {
	case act.OutcomeMoved, act.OutcomeSkipped, resultProposed:
		return exitOK
	case act.OutcomeReturned, act.OutcomeStayed:
		return exitSameLeader
	case act.OutcomeNoLeader, resultManual:
		return exitNoLeader
	case act.OutcomeChanged:
		return exitChanged
	case act.OutcomeDenied:
		return exitDenied
	case act.OutcomeDone:
		if !waited {
			return exitOK
		}
	case act.OutcomeVacant:
		if drains {
			return exitOK
		}
	case act.OutcomeWaiting:
		if !drains {
			return exitNoLeader
		}
	default:
	}
	return exitFailed
}

// usageError reports an invalid command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error {
	return usageError(fmt.Sprintf(format, args...))
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
	var silent exitError
	if err != nil && !errors.As(err, &silent) {
		fmt.Fprintln(w, "electop: "+consulx.Describe(err))
	}
	return codeOf(err)
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	var code exitError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errNoElection), errors.Is(err, errNoNode):
		return exitNoElection
	case errors.Is(err, election.ErrMoved):
		return exitChanged
	case errors.Is(err, election.ErrDenied):
		return exitDenied
	}
	return exitFailed
}
