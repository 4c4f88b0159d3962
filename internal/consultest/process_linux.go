package consultest

import "syscall"

// dieWithParent makes the kernel kill the agent when the test binary is killed. The agent runs in a new process group:
// otherwise, if an agent is suspended, the kernel could send SIGHUP to the group of the test when the shell ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
