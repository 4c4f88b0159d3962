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

// jobControl lets a shell stop the dashboard and continue it.
type jobControl struct {
	// ended is closed when the process is told to end while it is stopped.
	ended   chan struct{}
	signals chan os.Signal
	// tty is the terminal whose mode tells whether the screen must be taken again.
	tty uintptr
}

func newJobControl() *jobControl {
	j := &jobControl{ended: make(chan struct{}), signals: make(chan os.Signal, 8), tty: os.Stdin.Fd()}
	j.listen()
	return j
}

func (j *jobControl) listen() { signal.Notify(j.signals, syscall.SIGTSTP, syscall.SIGCONT) }

func (j *jobControl) close() { signal.Stop(j.signals) }

// suspend asks for a stop, as a SIGTSTP from outside does.
func (j *jobControl) suspend() { _ = syscall.Kill(os.Getpid(), syscall.SIGTSTP) }

// next waits for the next request to give the terminal back.
func (j *jobControl) next(ctx context.Context) (func(), bool) {
	select {
	case <-ctx.Done():
		return nil, false
	case sig := <-j.signals:
		switch {
		case sig == syscall.SIGTSTP:
			return j.stop, true
		case j.raw(): // continued after a SIGSTOP: what is on the screen is not known
			return nil, true
		}
		return func() {}, true // the shell has changed the mode: take the terminal again
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
		// Ended in the background (`kill %1`), where the terminal is the shell's: the
		// screen must not take it again, not even to give it back.
		close(j.ended)
		select {}
	}
	// This stop has answered the requests that came in until now.
	signal.Stop(j.signals)
	for len(j.signals) > 0 {
		<-j.signals
	}
	j.listen()
}
