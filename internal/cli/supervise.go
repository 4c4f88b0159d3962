package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"electop/election/sanitize"
)

// superviseCommand is the hidden command by which `campaign` runs its program.
const superviseCommand = "supervise"

const (
	// superviseTick is how late a signal may be sent. A timer would not see
	// that the machine was suspended.
	superviseTick = 100 * time.Millisecond
	// vanishLimit is how long the supervisor waits for a group that was killed
	// to vanish.
	vanishLimit = time.Second
)

// File descriptors of the supervisor: it reads orders from the one and writes
// the process group of the program to the other.
const (
	ordersFile = 3
	groupFile  = 4
)

// newSuperviseCommand is the process between `campaign` and its program. It stops
// the program when electop itself cannot, because it is frozen or was killed.
func newSuperviseCommand(d deps) *cobra.Command {
	return &cobra.Command{
		Use: superviseCommand, Hidden: true, DisableFlagParsing: true,
		// Neither flags nor a config file: the program's arguments only.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE:              func(_ *cobra.Command, program []string) error { return supervise(d, program) },
	}
}

// supervise runs the program in a process group of its own until it ends or an
// order says so. The exit code is the program's.
func supervise(d deps, program []string) error {
	if !supervisable || len(program) == 0 {
		return usagef("%s is started by campaign", superviseCommand)
	}
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	orders, group := inherited(ordersFile, "orders"), inherited(groupFile, "group")
	lines := bufio.NewReader(orders)
	first, err := nextOrder(lines)
	if err != nil {
		return err
	}
	if reached(time.Now(), first.term) {
		return errLate
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	cmd := exec.Command(program[0], program[1:]...) //nolint:noctx // it ends by order
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.stdin, stream(d.stdout), stream(d.stderr)
	cmd.SysProcAttr = groupOfItsOwn()
	if err := cmd.Start(); err != nil {
		return cannotRun(d.stderr, program[0], err)
	}
	s := supervision{group: cmd.Process.Pid, order: first}
	fmt.Fprintln(group, s.group)
	_ = group.Close() // electop reads to the end of it
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	received := make(chan order)
	go receive(lines, received)
	err = s.run(received, ended)
	if s.alone {
		return errLate
	}
	return programError(err)
}

// errLate says that no order came in time.
var errLate = errors.New("stopped the program: electop did not confirm its leadership in time")

// inherited is a file descriptor that programs started from here do not get.
func inherited(fd int, name string) *os.File {
	closeOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

func nextOrder(lines *bufio.Reader) (order, error) {
	line, err := lines.ReadString('\n')
	if err != nil {
		return order{}, err
	}
	return readOrder(line, time.Now())
}

// receive sends every order on; the end of the channel means that electop ended.
func receive(lines *bufio.Reader, received chan<- order) {
	defer close(received)
	for {
		o, err := nextOrder(lines)
		if err != nil {
			return
		}
		received <- o
	}
}

// supervision is the state of one program that is supervised.
type supervision struct {
	group  int // its process group
	order  order
	ended  bool      // the program, though not all that it started
	termed bool      // SIGTERM was sent
	killAt time.Time // when SIGKILL follows SIGTERM
	killed time.Time // when SIGKILL was sent first
	alone  bool      // the signals were sent without an order to stop
}

// run sends the signals that are due until no process of the group is left, and
// returns how the program ended.
func (s *supervision) run(orders <-chan order, ended <-chan error) (result error) {
	tick := time.NewTicker(superviseTick)
	defer tick.Stop()
	for !s.over(time.Now()) {
		select {
		case o, ok := <-orders:
			if ok {
				s.order = o
				s.act(time.Now(), false)
				continue
			}
			orders, s.order.term = nil, time.Now()
			s.act(time.Now(), true)
		case result = <-ended:
			// What the program started and left running has to end too.
			ended, s.ended, s.order.term = nil, true, time.Now()
			s.act(time.Now(), false)
		case <-tick.C:
			s.act(time.Now(), true)
		}
	}
	return result
}

// over reports that the program has ended and nothing of its group is left.
func (s *supervision) over(now time.Time) bool {
	return s.ended && (groupGone(s.group) || !s.killed.IsZero() && now.Sub(s.killed) > vanishLimit)
}

// act sends the signals that are due. SIGKILL is repeated: a process that was
// being started may have missed the first one.
func (s *supervision) act(now time.Time, alone bool) {
	term, kill := reached(now, s.order.term), reached(now, s.order.kill)
	kill = kill || s.termed && reached(now, s.killAt)
	if !s.termed && (term || kill) {
		s.termed, s.killAt = true, now.Add(s.order.grace)
		s.alone = alone && !s.ended
		_ = signalGroup(s.group, syscall.SIGTERM) // it fails for a group that is gone
	}
	if kill {
		if s.killed.IsZero() {
			s.killed = now
		}
		_ = signalGroup(s.group, syscall.SIGKILL)
	}
}

// findProgram makes sure that the program can be run.
func findProgram(w io.Writer, name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return cannotRun(w, name, err)
	}
	return nil
}

// Exit codes for a program that cannot be run, as shells and env(1) have them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// cannotRun reports why the program cannot be run.
func cannotRun(w io.Writer, name string, err error) error {
	why := err
	if lookup := (*exec.Error)(nil); errors.As(err, &lookup) {
		why = lookup.Err
	}
	if path := (*os.PathError)(nil); errors.As(why, &path) {
		why = path.Err
	}
	fmt.Fprintf(w, "electop: cannot run %s: %s\n", sanitize.Line(name, 200), sanitize.Line(why.Error(), 200))
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitError(exitNotFound)
	}
	return exitError(exitCannotRun)
}

// programError carries the exit code of a program that has ended: its own, or
// 128 and the number of the signal that ended it.
func programError(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError(128 + int(status.Signal()))
	}
	return exitError(exit.ExitCode())
}
