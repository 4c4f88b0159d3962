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

// restoreScreen resets every terminal mode that the dashboard may have set. It begins with CAN, which ends an
// incomplete escape sequence, and with the reset of the scroll region, which moves the cursor.
const restoreScreen = "\x18" + "\x1b[r" + ansi.ResetStyle + ansi.ResetModeSynchronizedOutput +
	ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent +
	ansi.ResetModeMouseExtSgr + ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste + ansi.ResetModeUnicodeCore +
	ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable + "\x1b]2;\x07" + "\r" + ansi.EraseLineRight

// Run starts this program again as a child with the same arguments, waits until the child has ended, and restores the
// terminal after a crash. It returns an error only if it could not start the child.
func Run(stdin, stdout *os.File) (End, error) {
	terminal, err := term.GetState(stdin.Fd())
	if err != nil {
		return End{}, err
	}
	p := &parent{signals: make(chan os.Signal, 16), output: make(chan []byte, 1), requests: make(chan struct{})}
	signal.Notify(p.signals, forwarded()...)
	defer signal.Stop(p.signals)
	if err := p.start(stdin, stdout); err != nil {
		return End{}, err
	}
	end := newEnd(p.await(), <-p.output)
	if end.Crashed {
		_ = term.Restore(stdin.Fd(), terminal) // ignore the error: the terminal may no longer exist
		_, _ = io.WriteString(stdout, restoreScreen)
	}
	return end, nil
}

// forwarded returns the signals that the parent forwards to the dashboard. A signal that was ignored at the start
// (nohup) remains ignored.
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

// parent is the parent process of a dashboard.
type parent struct {
	pid      int
	signals  chan os.Signal
	output   chan []byte   // standard error of the child
	requests chan struct{} // receives a value when the child has restored the terminal and requests a stop
	resume   *os.File      // notifies the child that the shell has continued the process group
}

// start starts the child. It closes its own copies of the child's pipe ends, so that the pipes close when the child
// ends.
func (p *parent) start(stdin, stdout *os.File) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	var near, far [3]*os.File // pipes for standard error, requests and resume
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
	p.pid, p.resume = cmd.Process.Pid, near[2]
	go p.read(near[0])
	go p.receive(near[1])
	return nil
}

func (p *parent) read(r *os.File) {
	defer r.Close()
	text, _ := io.ReadAll(io.LimitReader(r, maxOutput))
	_, _ = io.Copy(io.Discard, r) // read everything, because a full pipe would block the child
	p.output <- text
}

func (p *parent) receive(r *os.File) {
	defer r.Close()
	request := make([]byte, 1)
	for {
		if _, err := r.Read(request); err != nil {
			return
		}
		p.requests <- struct{}{}
	}
}

// await forwards signals and handles stops until the child has ended.
func (p *parent) await() syscall.WaitStatus {
	states := make(chan syscall.WaitStatus)
	go p.wait(states)
	for {
		select {
		case sig := <-p.signals:
			p.pass(sig)
		case <-p.requests:
			p.suspend()
		case state := <-states:
			if !state.Stopped() {
				return state
			}
			if state.StopSignal() == syscall.SIGSTOP { // another process sent SIGSTOP to the child only; other stop signals reach the whole group
				stopGroup()
				p.pass(syscall.SIGCONT)
			}
		}
	}
}

// wait sends the state of the child after each stop, and after its exit.
func (p *parent) wait(states chan<- syscall.WaitStatus) {
	for {
		var state syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &state, unix.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		states <- state
		if err != nil || !state.Stopped() {
			return
		}
	}
}

func (p *parent) pass(sig os.Signal) {
	if number, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(p.pid, number) // the child may have already ended
	}
}

// suspend stops the process group when the child requests it. If another signal arrives during the stop, for example
// from `kill %1`, suspend forwards it and does not resume the child, because the shell uses the terminal.
func (p *parent) suspend() {
	stopGroup()
	p.pass(syscall.SIGCONT)
	for len(p.signals) > 0 {
		switch sig := <-p.signals; sig {
		case syscall.SIGTSTP, syscall.SIGCONT: // ignore these signals, because the group was already stopped and continued
		default:
			p.pass(sig)
			return
		}
	}
	_, _ = p.resume.Write([]byte{0})
}

// newEnd describes how the child ended.
func newEnd(state syscall.WaitStatus, output []byte) End {
	text, ordered := bytes.CutSuffix(output, []byte{orderly})
	end := End{Crashed: !ordered, Code: state.ExitStatus(), Output: text}
	if state.Signaled() {
		end.Crashed, end.Signal, end.Code = true, state.Signal(), 128+int(state.Signal())
	}
	return end
}
