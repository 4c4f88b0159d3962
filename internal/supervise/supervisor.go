// Package supervise runs the program of a campaign under a supervisor process. The supervisor stops the program if
// the campaign is frozen or was killed.
package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is the name of a hidden command that [Start] runs. The command must call [Run].
const Command = "supervise"

// vanishTimeout is how long electop waits for a process group to end after SIGKILL. A process in an uninterruptible
// system call may take longer.
const vanishTimeout = time.Second

// tickInterval is the maximum delay of a signal. The supervisor polls, because a timer does not advance while the
// machine is suspended.
const tickInterval = 100 * time.Millisecond

// File descriptors that the supervisor inherits. It reads deadlines from deadlinesFile, and writes the program's
// process group to groupFile.
const (
	deadlinesFile = 3
	groupFile     = 4
)

var (
	// ErrStart reports that the supervisor could not start the program.
	ErrStart = errors.New("cannot start the program")

	errExpired = errors.New("stopped the program: electop did not confirm its leadership in time")
)

// Run runs the program in a new process group until the program ends or a deadline passes. It returns the program's
// [exec.ExitError], an error that wraps [ErrStart], or the reason for stopping the program.
func Run(cmd *exec.Cmd) error {
	// The kernel kills the program when the thread that started it ends, so this thread must not end.
	runtime.LockOSThread()
	deadlines, group := inherited(deadlinesFile, "deadlines"), inherited(groupFile, "group")
	stream := json.NewDecoder(deadlines)
	var first Deadlines
	if err := stream.Decode(&first); err != nil {
		return fmt.Errorf("cannot read the deadlines of the program: %w", err)
	}
	first = first.received(time.Now())
	if reached(time.Now(), first.Term) {
		return errExpired
	}
	if err := AdoptOrphans(); err != nil {
		return err
	}
	cmd.SysProcAttr = newGroup()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	v := supervisor{group: cmd.Process.Pid, deadlines: first}
	fmt.Fprintln(group, v.group)
	received := make(chan Deadlines)
	go receive(stream, received)
	err := v.run(received, wait(cmd))
	if v.expired {
		return errExpired
	}
	return err
}

// wait sends the result of a command when it has ended.
func wait(cmd *exec.Cmd) <-chan error {
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return exited
}

// inherited returns the file of an inherited descriptor. The supervised program does not inherit it.
func inherited(fd int, name string) *os.File {
	closeOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// receive sends each received deadline to the channel. It closes the channel when the pipe of the campaign is closed.
func receive(stream *json.Decoder, received chan<- Deadlines) {
	defer close(received)
	for {
		var d Deadlines
		if stream.Decode(&d) != nil {
			return
		}
		received <- d.received(time.Now())
	}
}

// supervisor is the state of a supervised program.
type supervisor struct {
	group     int  // process group of the program
	waits     bool // the program holds no lock: wait for its children after its end, instead of stopping them
	deadlines Deadlines
	exited    bool      // the program ended, but its children may still run
	killAt    time.Time // time at which SIGKILL must follow SIGTERM, or zero before SIGTERM
	killed    time.Time // time at which SIGKILL was first sent
	expired   bool      // SIGTERM was sent because a deadline passed or the campaign ended
}

// run sends signals when they are due, until the group has no processes. It returns the result of the program.
func (v *supervisor) run(received <-chan Deadlines, exited <-chan error) (result error) {
	tick := time.NewTicker(tickInterval)
	defer tick.Stop()
	for !v.finished(time.Now()) {
		select {
		case d, ok := <-received:
			if ok {
				v.deadlines = d
			} else {
				received, v.deadlines.Term = nil, time.Now()
			}
		case result = <-exited:
			if exited, v.exited = nil, true; !v.waits {
				v.deadlines.Term = time.Now() // child processes of the program must also end
			}
		case <-tick.C:
		}
		v.sendSignals(time.Now())
	}
	return result
}

// finished reports whether the program has ended and its group has no processes, or only some that do not end after
// SIGKILL. Of a program that holds a lock, the first process must have ended.
func (v *supervisor) finished(now time.Time) bool {
	return v.exited && Gone(v.group) || (v.exited || v.waits) && !v.killed.IsZero() && now.Sub(v.killed) > vanishTimeout
}

// sendSignals sends the signals that are due. It repeats SIGKILL, because the first one does not reach a process that
// is just being started.
func (v *supervisor) sendSignals(now time.Time) {
	term, kill := reached(now, v.deadlines.Term), reached(now, v.deadlines.Kill)
	if termed := !v.killAt.IsZero(); termed {
		kill = kill || reached(now, v.killAt)
	} else if term || kill {
		v.killAt = now.Add(v.deadlines.Grace)
		v.expired = !v.deadlines.Asked && !v.exited
		_ = Signal(v.group, syscall.SIGTERM) // ignore the error: the group may have ended
	}
	if kill {
		if v.killed.IsZero() {
			v.killed = now
		}
		_ = Signal(v.group, syscall.SIGKILL)
	}
}
