//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
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
	j := &jobControl{ended: make(chan struct{}), signals: make(chan os.Signal, 1), tty: os.Stdin.Fd()}
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

// stop stops this process until it is continued. SIGSTOP works also in a process
// group that no shell controls; the parent then continues it at once.
func (j *jobControl) stop() {
	continued, ends := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-continued
	signal.Stop(continued)
	signal.Stop(ends)
	select {
	case <-ends:
		// Ended in the background (`kill %1`), where the terminal is the shell's: the
		// screen must not take it again, not even to give it back.
		close(j.ended)
		select {}
	default:
	}
	// This stop has answered the requests that came in until now.
	signal.Stop(j.signals)
	select {
	case <-j.signals:
	default:
	}
	j.listen()
}
