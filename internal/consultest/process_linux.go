package consultest

import "syscall"

// dieWithParent makes the kernel kill the agent if the test binary is killed. The agent gets its own process group:
// otherwise, if an agent is suspended, the kernel could send SIGHUP to the test's group when the shell ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
