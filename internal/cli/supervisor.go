package cli

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// tellLimit bounds the write of an order to a supervisor that is frozen.
	tellLimit = 100 * time.Millisecond
	// lingerLimit is how long pipes of a program that has ended are read.
	lingerLimit = 2 * time.Second
)

// supervisor is the process that runs the program of a campaign and stops it
// when no order extends its time. See supervise.
type supervisor struct {
	cmd    *exec.Cmd
	orders *os.File
	group  atomic.Int64 // the program's process group, 0 while it is not known
	done   chan struct{}
	err    error // how the supervisor ended, once done is closed
}

// startSupervisor starts the program under a supervisor, with a first order.
func startSupervisor(d deps, program, env []string, first order) (*supervisor, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	read, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	groups, group, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer group.Close()
	cmd := exec.Command(self, append([]string{superviseCommand}, program...)...) //nolint:noctx // it ends by order
	cmd.Args[0] = "electop"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.stdin, stream(d.stdout), stream(d.stderr)
	cmd.Env = append(os.Environ(), env...)
	cmd.ExtraFiles = []*os.File{read, group} // ordersFile, groupFile
	cmd.SysProcAttr = sessionOfItsOwn()
	cmd.WaitDelay = lingerLimit
	s := &supervisor{cmd: cmd, orders: orders, done: make(chan struct{})}
	s.tell(first)
	if err := cmd.Start(); err != nil {
		_, _ = orders.Close(), groups.Close()
		return nil, err
	}
	_ = group.Close() // the supervisor has the only copy
	go s.wait(groups)
	return s, nil
}

// executable is this program, also when its file was replaced since it started.
func executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

func (s *supervisor) wait(groups *os.File) {
	defer close(s.done)
	if text, err := io.ReadAll(groups); err == nil {
		group, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		s.group.Store(group)
	}
	_ = groups.Close()
	s.err = s.cmd.Wait()
	_ = s.orders.Close()
	if !s.cmd.ProcessState.Exited() { // killed, so its program may run on
		s.killGroup()
	}
}

// tell sends an order. That it cannot be delivered is no error: the supervisor
// then goes by the one before, or has ended.
func (s *supervisor) tell(o order) {
	_ = s.orders.SetWriteDeadline(time.Now().Add(tellLimit))
	_, _ = io.WriteString(s.orders, o.line())
}

// kill ends a supervisor that did not obey, and its program.
func (s *supervisor) kill() {
	s.killGroup()
	_ = s.cmd.Process.Kill()
}

func (s *supervisor) killGroup() {
	if group := int(s.group.Load()); group > 0 {
		_ = signalGroup(group, syscall.SIGKILL)
	}
}
