// Package supervise runs the program of a campaign under a supervisor process, which
// stops the program when the campaign cannot because it is frozen or was killed.
package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"electop/internal/procgroup"
)

// Command is the hidden command that [Start] runs; it must call [Run].
const Command = "supervise"

// tickInterval is how late a signal may be sent. The supervisor polls because a
// timer does not advance while the machine is suspended.
const tickInterval = 100 * time.Millisecond

// File descriptors that the supervisor inherits: it reads deadlines from the first
// and writes the process group of the program to the second.
const (
	deadlinesFile = 3
	groupFile     = 4
)

var (
	// ErrStart reports that the program could not be started.
	ErrStart = errors.New("cannot start the program")

	errExpired = errors.New("stopped the program: electop did not confirm its leadership in time")
)

// Run is the supervisor process. It runs the program in a new process group until the program ends or a deadline
// passes. The error is the program's [exec.ExitError], wraps [ErrStart], or names the reason why the program was
// stopped.
func Run(program []string, s Streams) error {
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	deadlines, group := inherited(deadlinesFile, "deadlines"), inherited(groupFile, "group")
	lines := bufio.NewReader(deadlines)
	first, err := readDeadlines(lines)
	if err != nil {
		return err
	}
	if reached(time.Now(), first.Term) {
		return errExpired
	}
	if err := procgroup.AdoptOrphans(); err != nil {
		return err
	}
	cmd := exec.Command(program[0], program[1:]...) //nolint:noctx // it ends at its deadlines
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	cmd.SysProcAttr = procgroup.NewGroup()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	v := supervisor{group: cmd.Process.Pid, deadlines: first}
	fmt.Fprintln(group, v.group)
	_ = group.Close() // the campaign reads until the end of the pipe
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	received := make(chan Deadlines)
	go receive(lines, received)
	err = v.run(received, exited)
	if v.expired {
		return errExpired
	}
	return err
}

// inherited is a file descriptor that the program must not inherit.
func inherited(fd int, name string) *os.File {
	procgroup.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

func readDeadlines(lines *bufio.Reader) (Deadlines, error) {
	line, err := lines.ReadString('\n')
	if err != nil {
		return Deadlines{}, err
	}
	return decode(line, time.Now())
}

// receive forwards deadlines. It closes the channel when the campaign has ended.
func receive(lines *bufio.Reader, received chan<- Deadlines) {
	defer close(received)
	for {
		d, err := readDeadlines(lines)
		if err != nil {
			return
		}
		received <- d
	}
}

// supervisor is the state of a supervised program.
type supervisor struct {
	group     int // the program's process group
	deadlines Deadlines
	exited    bool      // the program ended; its children may still run
	termed    bool      // SIGTERM was sent
	killAt    time.Time // when SIGKILL follows SIGTERM
	killed    time.Time // when SIGKILL was first sent
	expired   bool      // SIGTERM was sent because a deadline passed or the campaign ended
}

// run sends the signals that are due until the group has no process left. It
// returns the result of the program.
func (v *supervisor) run(received <-chan Deadlines, exited <-chan error) (result error) {
	tick := time.NewTicker(tickInterval)
	defer tick.Stop()
	for !v.finished(time.Now()) {
		select {
		case d, ok := <-received:
			if ok {
				v.deadlines = d
				v.sendSignals(time.Now(), false)
				continue
			}
			received, v.deadlines.Term = nil, time.Now()
			v.sendSignals(time.Now(), true)
		case result = <-exited:
			// Children that the program left running must end too.
			exited, v.exited, v.deadlines.Term = nil, true, time.Now()
			v.sendSignals(time.Now(), false)
		case <-tick.C:
			v.sendSignals(time.Now(), true)
		}
	}
	return result
}

// finished reports whether the program has ended and its group has no process left.
func (v *supervisor) finished(now time.Time) bool {
	return v.exited && (procgroup.Gone(v.group) || !v.killed.IsZero() && now.Sub(v.killed) > procgroup.VanishTimeout)
}

// sendSignals sends the signals that are due. SIGKILL is repeated: a process that
// was just being started may have missed the first one.
func (v *supervisor) sendSignals(now time.Time, expired bool) {
	term, kill := reached(now, v.deadlines.Term), reached(now, v.deadlines.Kill)
	kill = kill || v.termed && reached(now, v.killAt)
	if !v.termed && (term || kill) {
		v.termed, v.killAt = true, now.Add(v.deadlines.Grace)
		v.expired = expired && !v.exited
		_ = procgroup.Signal(v.group, syscall.SIGTERM) // fails if the group has ended
	}
	if kill {
		if v.killed.IsZero() {
			v.killed = now
		}
		_ = procgroup.Signal(v.group, syscall.SIGKILL)
	}
}
