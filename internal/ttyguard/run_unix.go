//go:build unix

package ttyguard

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// stopTime is how long SIGTTOU may take to stop this process. The kernel ignores
// it where no shell could continue the process group.
const stopTime = 100 * time.Millisecond

// restoreScreen undoes every mode of the terminal that the dashboard may have
// set. CAN ends an escape sequence that was cut short; the scroll region is reset
// first because that moves the cursor.
const restoreScreen = "\x18" + "\x1b[r" + ansi.ResetStyle + ansi.ResetModeSynchronizedOutput +
	ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent +
	ansi.ResetModeMouseExtSgr + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable + "\r" + ansi.EraseLineRight

// Run starts this program again with the same arguments and waits until that
// child has ended. The terminal is then as it was before. An error says that
// there was no child.
func Run(stdin, stdout *os.File) (End, error) {
	terminal, err := term.GetState(stdin.Fd())
	if err != nil {
		return End{}, err
	}
	g := &guard{signals: make(chan os.Signal, 16), stops: make(chan os.Signal, 1)}
	signal.Notify(g.signals, forwarded()...)
	signal.Notify(g.stops, syscall.SIGTSTP)
	defer signal.Stop(g.signals)
	defer signal.Stop(g.stops)
	output, err := g.start(stdin, stdout)
	if err != nil {
		return End{}, err
	}
	end := ending(g.await(), <-output)
	if end.Crashed {
		_ = term.Restore(stdin.Fd(), terminal) // the terminal itself may be gone
		_, _ = io.WriteString(stdout, restoreScreen)
	}
	return end, nil
}

// forwarded are the signals that are meant for the dashboard, whichever of the
// two processes they reach. A signal that the user has set to be ignored (nohup)
// stays ignored.
func forwarded() []os.Signal {
	all := []os.Signal{
		syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGCONT,
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			all = append(all, sig)
		}
	}
	return all
}

type guard struct {
	pid     int
	signals chan os.Signal
	stops   chan os.Signal // SIGTSTP
}

// start starts the child and gives what it will have written to standard error.
func (g *guard) start(stdin, stdout *os.File) (<-chan []byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := &exec.Cmd{Path: path, Args: append([]string{childName}, os.Args[1:]...), Stdin: stdin, Stdout: stdout, Stderr: w}
	if err := cmd.Start(); err != nil {
		_ = r.Close()
		return nil, err
	}
	g.pid = cmd.Process.Pid
	output := make(chan []byte, 1)
	go func() {
		defer r.Close()
		text, _ := io.ReadAll(io.LimitReader(r, maxOutput))
		_, _ = io.Copy(io.Discard, r) // a child that may not write would not end
		output <- text
	}()
	return output, nil
}

// await passes signals on until the child has ended.
func (g *guard) await() syscall.WaitStatus {
	states := make(chan syscall.WaitStatus)
	go g.wait(states)
	for {
		select {
		case sig := <-g.signals:
			g.pass(sig)
		case sig := <-g.stops:
			g.pass(sig)
		case state := <-states:
			if !state.Stopped() {
				return state
			}
			// SIGTTIN and SIGTTOU have stopped the whole group already.
			if sig := state.StopSignal(); sig == syscall.SIGSTOP || sig == syscall.SIGTSTP {
				g.stop()
			}
		}
	}
}

// wait delivers every stop of the child and, as the last state, its end.
func (g *guard) wait(states chan<- syscall.WaitStatus) {
	for {
		var state syscall.WaitStatus
		_, err := syscall.Wait4(g.pid, &state, unix.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		states <- state
		if err != nil || !state.Stopped() {
			return
		}
	}
}

func (g *guard) pass(sig os.Signal) {
	if number, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(g.pid, number) // the child may have ended by now
	}
}

// stop stops the whole process group, as ctrl-z does, once the child has restored
// the terminal and stopped. It returns when the user continues the group.
func (g *guard) stop() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	signal.Stop(g.stops)
	select {
	case <-g.stops: // what asked for this stop
	default:
	}
	_ = syscall.Kill(0, syscall.SIGTSTP)
	// A Go process that once asked for SIGTSTP cannot be stopped by it any more.
	_ = syscall.Kill(os.Getpid(), syscall.SIGTTOU)
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-continued:
	case <-late.C:
	}
	signal.Notify(g.stops, syscall.SIGTSTP)
	g.passAll() // `kill %1` ends a stopped job: the child needs to know before it takes the terminal
	g.pass(syscall.SIGCONT)
}

// passAll passes on what has arrived.
func (g *guard) passAll() {
	for {
		select {
		case sig := <-g.signals:
			g.pass(sig)
		default:
			return
		}
	}
}

// ending says how the child ended.
func ending(state syscall.WaitStatus, output []byte) End {
	text, left := bytes.CutSuffix(output, []byte{orderly})
	end := End{Crashed: !left, Code: state.ExitStatus(), Output: text}
	if state.Signaled() {
		end.Crashed, end.Signal, end.Code = true, state.Signal(), 128+int(state.Signal())
	}
	return end
}
