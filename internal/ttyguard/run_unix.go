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

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// restoreScreen undoes every mode of the terminal that the dashboard may have
// set. CAN ends an escape sequence that was cut short; the scroll region is reset
// first because that moves the cursor.
const restoreScreen = "\x18" + "\x1b[r" + ansi.ResetStyle + ansi.ResetModeSynchronizedOutput +
	ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent +
	ansi.ResetModeMouseExtSgr + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore +
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable + "\x1b]2;\x07" + "\r" + ansi.EraseLineRight

// Run starts this program again with the same arguments and waits until that
// child has ended. The terminal is then as it was before. An error says that
// there was no child.
func Run(stdin, stdout *os.File) (End, error) {
	terminal, err := term.GetState(stdin.Fd())
	if err != nil {
		return End{}, err
	}
	g := &guard{signals: make(chan os.Signal, 16), output: make(chan []byte, 1), requests: make(chan struct{})}
	signal.Notify(g.signals, forwarded()...)
	defer signal.Stop(g.signals)
	if err := g.start(stdin, stdout); err != nil {
		return End{}, err
	}
	end := ending(g.await(), <-g.output)
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
		syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGTSTP, syscall.SIGCONT,
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			all = append(all, sig)
		}
	}
	return all
}

// guard is the parent's side.
type guard struct {
	pid      int
	signals  chan os.Signal
	output   chan []byte   // what the child wrote to standard error
	requests chan struct{} // the child has restored the terminal and wants to be stopped
	resume   *os.File      // tells the child that it was continued
}

// start starts the child. Its end of the pipes is closed here, so that they end
// with the child.
func (g *guard) start(stdin, stdout *os.File) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	var near, far [3]*os.File // standard error, requests, resume
	for i := range near {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		near[i], far[i] = r, w
	}
	near[2], far[2] = far[2], near[2]
	cmd := &exec.Cmd{Path: path, Args: append([]string{childName}, os.Args[1:]...), Stdin: stdin, Stdout: stdout, Stderr: far[0]}
	cmd.ExtraFiles = []*os.File{requestFile - 3: far[1], resumeFile - 3: far[2]}
	if err := cmd.Start(); err != nil {
		return err
	}
	for _, f := range far {
		_ = f.Close()
	}
	g.pid, g.resume = cmd.Process.Pid, near[2]
	go g.read(near[0])
	go g.receive(near[1])
	return nil
}

func (g *guard) read(r *os.File) {
	defer r.Close()
	text, _ := io.ReadAll(io.LimitReader(r, maxOutput))
	_, _ = io.Copy(io.Discard, r) // a child that may not write would not end
	g.output <- text
}

func (g *guard) receive(r *os.File) {
	defer r.Close()
	request := make([]byte, 1)
	for {
		if _, err := r.Read(request); err != nil {
			return
		}
		g.requests <- struct{}{}
	}
}

// await passes signals on and stops the group until the child has ended.
func (g *guard) await() syscall.WaitStatus {
	states := make(chan syscall.WaitStatus)
	go g.wait(states)
	for {
		select {
		case sig := <-g.signals:
			g.pass(sig)
		case <-g.requests:
			g.suspend()
		case state := <-states:
			if !state.Stopped() {
				return state
			}
			if state.StopSignal() == syscall.SIGSTOP { // from outside; others stop the whole group
				stopGroup()
				g.pass(syscall.SIGCONT)
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

// suspend stops the group as the child has asked. A child that was told to end
// meanwhile (`kill %1`) is not resumed: the terminal is the shell's.
func (g *guard) suspend() {
	stopGroup()
	g.pass(syscall.SIGCONT)
	for len(g.signals) > 0 {
		switch sig := <-g.signals; sig {
		case syscall.SIGTSTP, syscall.SIGCONT: // answered by this stop
		default:
			g.pass(sig)
			return
		}
	}
	_, _ = g.resume.Write([]byte{0})
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
