package cli

import (
	"errors"
	"fmt"
	"io"

	"electop/consulx"
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

// usageError reports an invalid command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// errNoElection reports that no election has the given name or key.
var errNoElection = errors.New("no such election")

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
	case errors.Is(err, errNoElection):
		return exitNoElection
	case errors.Is(err, consulx.ErrMoved):
		return exitChanged
	case errors.Is(err, consulx.ErrDenied):
		return exitDenied
	}
	return exitFailed
}
