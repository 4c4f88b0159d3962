package supervise

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// sendTimeout is the timeout of a write to the supervisor, which may be frozen.
	sendTimeout = 100 * time.Millisecond
	// overdueLimit is how long a supervisor may be overdue before the campaign kills the supervisor.
	overdueLimit = 2 * time.Second
	// outputTimeout is how long the client reads the program's output after the supervisor has ended.
	outputTimeout = 2 * time.Second
)

// Client starts a supervisor process and sends the deadlines of the program to it.
type Client struct {
	cmd       *exec.Cmd
	deadlines *os.File
	group     atomic.Int64 // process group of the program, or 0 while unknown
	done      chan error
}

// Start runs this executable again as the supervisor of a program, with the environment and the streams of cmd.
func Start(cmd *exec.Cmd, first Deadlines) (c *Client, err error) {
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"electop", Command}, cmd.Args...) // valid even if the file was replaced
	if runtime.GOOS != "linux" {
		if cmd.Path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	read, deadlines, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	groups, group, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer group.Close()                      // so that the pipe closes when the supervisor ends
	cmd.ExtraFiles = []*os.File{read, group} // deadlinesFile, groupFile
	cmd.SysProcAttr = newSession()           // ctrl-z must not stop the supervisor
	cmd.WaitDelay = outputTimeout
	c = &Client{cmd: cmd, deadlines: deadlines, done: make(chan error, 1)}
	c.send(first)
	if err := cmd.Start(); err != nil {
		_, _ = deadlines.Close(), groups.Close()
		return nil, err
	}
	go c.wait(groups)
	return c, nil
}

func (c *Client) wait(groups *os.File) {
	var group int64
	if _, err := fmt.Fscan(groups, &group); err != nil { // the supervisor did not start the program, or was killed before it told the group
		group = int64(groupIn(c.cmd.Process.Pid))
	}
	c.group.Store(group)
	_ = groups.Close()
	err := c.cmd.Wait()
	_ = c.deadlines.Close()
	if !c.cmd.ProcessState.Exited() { // if a signal killed the supervisor, the program may still run
		c.killGroup()
		err = fmt.Errorf("stopped the program: its supervisor ended (%s)", c.cmd.ProcessState)
	}
	c.done <- err
}

// Done returns a channel that receives the result of the program when the supervisor has ended.
func (c *Client) Done() <-chan error { return c.done }

// Extend sends new deadlines. If they have passed, Extend itself kills the program, because the supervisor may be
// frozen. If the supervisor is overdue, Extend kills the supervisor too.
func (c *Client) Extend(d Deadlines) {
	c.send(d)
	now := time.Now()
	if reached(now, d.end()) {
		c.killGroup()
	}
	if reached(now, d.end().Add(overdueLimit)) {
		_ = c.cmd.Process.Kill()
	}
}

// send ignores errors. After an error, the supervisor either uses its previous deadlines or has ended.
func (c *Client) send(d Deadlines) {
	_ = c.deadlines.SetWriteDeadline(time.Now().Add(sendTimeout))
	_ = json.NewEncoder(c.deadlines).Encode(d)
}

// killGroup does nothing while the group is unknown.
func (c *Client) killGroup() {
	if group := int(c.group.Load()); group > 0 {
		_ = Signal(group, syscall.SIGKILL)
	}
}
