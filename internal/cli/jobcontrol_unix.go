//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"electop/internal/ttyguard"
)

// jobControl lets a shell stop and continue the dashboard.
type jobControl struct {
	// ended is closed when a signal ends the process while it is stopped.
	ended   chan struct{}
	signals chan os.Signal
	// tty is the dashboard's terminal. If it is not in raw mode after a SIGCONT, the shell has changed the mode.
	tty uintptr
	// lent is set while a command of the user uses the terminal.
	lent atomic.Bool
}

func newJobControl() *jobControl {
	j := &jobControl{ended: make(chan struct{}), signals: make(chan os.Signal, 8), tty: os.Stdin.Fd()}
	j.listen()
	return j
}

func (j *jobControl) listen() { signal.Notify(j.signals, syscall.SIGTSTP, syscall.SIGCONT) }

func (j *jobControl) close() { signal.Stop(j.signals) }

// suspend requests a stop, like a SIGTSTP from another process.
func (j *jobControl) suspend() { _ = syscall.Kill(os.Getpid(), syscall.SIGTSTP) }

// next waits for the next signal to stop or continue. It returns false if ctx ends first. Call the returned function
// while the terminal is restored: it suspends the program, or does nothing if only raw mode must be set again. A nil
// function means that a redraw is enough.
func (j *jobControl) next(ctx context.Context) (func(), bool) {
	for {
		select {
		case <-ctx.Done():
			return nil, false
		case sig := <-j.signals:
			switch {
			case j.lent.Load():
				if sig == syscall.SIGTSTP {
					j.stop() // the terminal is already restored: the event loop waits for the command
				}
			case sig == syscall.SIGTSTP:
				return j.stop, true
			case j.raw(): // continued after a SIGSTOP: the content of the screen is unknown
				return nil, true
			default:
				return func() {}, true // the shell has changed the mode: raw mode must be set again
			}
		}
	}
}

// lend lets a command of the user use the terminal until back is called. The command is in the process group of the
// dashboard, so that the shell stops and continues both; ctrl-\ ends only the command.
func (j *jobControl) lend() (back func()) {
	quits := make(chan os.Signal, 1)
	signal.Notify(quits, syscall.SIGQUIT)
	j.lent.Store(true)
	return func() {
		j.lent.Store(false)
		signal.Stop(quits)
	}
}

func (j *jobControl) raw() bool {
	mode, err := term.GetState(j.tty)
	return err != nil || mode.Lflag&unix.ICANON == 0
}

// stop stops this process until it is continued.
func (j *jobControl) stop() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, endSignals()...)
	defer signal.Stop(ends)
	continued := make(chan struct{})
	go func() { defer close(continued); ttyguard.Suspend() }()
	select {
	case <-continued:
	case <-ends:
		// A signal ended the stopped process in the background (`kill %1`). The shell uses the terminal at this time, so
		// the dashboard must not write to the terminal, not even to restore it.
		close(j.ended)
		select {}
	}
	// Drop the stop requests that arrived during this stop.
	signal.Stop(j.signals)
	for len(j.signals) > 0 {
		<-j.signals
	}
	j.listen()
}
