package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"electop/consulx"
)

// Exit codes; docs: design.md, section 4.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNoElection = 3
	exitMoved      = 4
	exitDenied     = 5
	exitSameLeader = 6
	exitNoLeader   = 7
)

// usageError is a command line that makes no sense, with what would.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// errNoElection says that no election has the name or key that was given.
var errNoElection = errors.New("no such election")

// exitError ends electop with an exit code and no further message: that of a
// program that electop ran, or that of results which have been reported.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report writes an error as one line and gives the exit code it stands for.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
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
	case errors.Is(err, errNoElection):
		return exitNoElection
	case errors.Is(err, consulx.ErrMoved):
		return exitMoved
	case errors.Is(err, consulx.ErrDenied):
		return exitDenied
	}
	return exitFailed
}

// interrupted reports that a command ended because it was asked to.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled))
}
