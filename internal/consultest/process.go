package consultest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Process is one run of a server.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd.Wait has returned
}

// StartProcess starts a server that appends its output to a log file. It ends when the test binary is killed.
func StartProcess(binary, logPath string, args []string) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	// After Start, the child has its own copy of the file descriptor.
	defer func() { _ = log.Close() }()

	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("consultest: cannot start %s: %w", binary, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // ignore the error: the log contains the reason for a failure
	}()
	return p, nil
}

// End sends the signal and waits until the process has ended. If this takes longer than grace, it sends SIGKILL.
func (p *Process) End(sig os.Signal, grace time.Duration) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("consultest: cannot send signal %v to %s: %w", sig, p.cmd.Path, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("consultest: %s did not end within %s after signal %v and was killed", p.cmd.Path, grace, sig)
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Signal sends a signal, for example SIGSTOP.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Tail returns the last limit bytes of a file for a failure message. If the file cannot be read, it returns the text
// of the error.
func Tail(path string, limit int64) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		if _, err := f.Seek(-limit, io.SeekEnd); err != nil {
			return err.Error()
		}
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
