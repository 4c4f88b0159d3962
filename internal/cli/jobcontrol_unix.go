//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
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
	// tty is the dashboard's terminal. If it is no longer in raw mode, the shell has changed its mode.
	tty uintptr
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

// next waits for the next stop or continue. The returned function suspends the program; call it while the terminal is
// restored. It is nil if the screen must only be redrawn.
func (j *jobControl) next(ctx context.Context) (func(), bool) {
	select {
	case <-ctx.Done():
		return nil, false
	case sig := <-j.signals:
		switch {
		case sig == syscall.SIGTSTP:
			return j.stop, true
		case j.raw(): // continued after a SIGSTOP: the content of the screen is unknown
			return nil, true
		}
		return func() {}, true // the shell has changed the mode, so it must be set again
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
		// A signal ended the process in the background (`kill %1`), where the terminal belongs to the shell: the
		// dashboard must not write to it, not even to restore it.
		close(j.ended)
		select {}
	}
	// Drop the requests that arrived meanwhile: this stop has served them.
	signal.Stop(j.signals)
	for len(j.signals) > 0 {
		<-j.signals
	}
	j.listen()
}
