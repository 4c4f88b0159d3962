package consultest

import "syscall"

// dieWithParent makes the kernel kill the agent when the test binary is killed. The agent has its own process group:
// otherwise a stopped agent could cause a SIGHUP to the group of the test when the shell ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
