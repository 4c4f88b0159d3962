//go:build unix

package holders

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"electop/internal/consultest"
)

// patience is the timeout of every wait. It is so long that a test does not fail on a slow machine.
const patience = 3 * time.Minute

// await polls until the condition is true and returns the time that this took.
func await(t *testing.T, what string, holds func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	if !consultest.Poll(patience, holds) {
		t.Fatalf("%s: not within %v", what, patience)
	}
	return time.Since(start)
}

// process is a program in its own process group, with its combined output.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}

	mu     sync.Mutex
	output bytes.Buffer
}

// Write appends to the output. Several processes may write concurrently.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}

// start runs the command until the test stops the command or ends. p.ended is true when the command has exited and
// its children have closed the output, or WaitDelay later.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	cmd.WaitDelay = 30 * time.Second
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	must(t, cmd.Start())
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // the process state has the exit code
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of %s:\n%s", strings.Join(cmd.Args, " "), p.text())
		}
	})
	return p
}

// kill ends the whole process group with SIGKILL.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal sends a signal to the whole process group.
func (p *process) signal(sig syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, sig) }

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// says waits until the output contains the text.
func (p *process) says(text string) time.Duration {
	p.t.Helper()
	return await(p.t, fmt.Sprintf("%q from %s", text, p.cmd.Args[0]), func() bool { return strings.Contains(p.text(), text) })
}

// number waits for a line that begins with the word, and returns the number after the word.
func (p *process) number(word string) (n int) {
	p.t.Helper()
	await(p.t, word+" and a number", func() bool {
		for line := range strings.Lines(p.text()) {
			if _, err := fmt.Sscanf(line, word+" %d\n", &n); err == nil {
				return true
			}
		}
		return false
	})
	return n
}

// exitCode waits for the end of the program.
func (p *process) exitCode() int {
	p.t.Helper()
	await(p.t, "the end of "+p.cmd.Args[0], p.ended)
	return p.cmd.ProcessState.ExitCode()
}

// alive reports whether a process that is not a child of this process is running. An ended process remains in the
// process table until its parent reaps it. The parent of an orphan is init.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !bytes.Contains(stat, []byte(") Z "))
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// result is the result of one run of electop.
type result struct {
	code           int
	stdout, stderr string
}

// String formats the result for failure messages.
func (r result) String() string {
	return fmt.Sprintf("exit code %d\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
}

// execute runs a command and waits until it has ended.
func execute(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Writer(&stdout), io.Writer(&stderr)
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited { //nolint:errorlint // Run wraps nothing
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// electop returns a command of electop with its files in a folder.
func electop(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = cleanEnvironment(asElectop+"=1", "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_DATA_HOME="+home)
	return cmd
}

// cleanEnvironment returns the environment of this process without the variables of Consul's tools.
func cleanEnvironment(extra ...string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "CONSUL_") {
			env = append(env, e)
		}
	}
	return append(env, extra...)
}
