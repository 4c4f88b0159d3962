package consultest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// process is one run of the Consul binary.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd.Wait has returned
}

func startProcess(binary, logPath string, args []string) (*process, error) {
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
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // ignore the error: the log contains the reason for a failure
	}()
	return p, nil
}

// end sends the signal and waits until the process has ended. If this takes longer than grace, it sends SIGKILL.
func (p *process) end(sig os.Signal, grace time.Duration) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("consultest: cannot send signal %v to consul: %w", sig, err)
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
	return fmt.Errorf("consultest: consul did not end within %s after signal %v and was killed", grace, sig)
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail returns the last limit bytes of a file for a failure message. If the file cannot be read, it returns the text
// of the error.
func tail(path string, limit int64) string {
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
