package consultest

import "syscall"

// dieWithParent makes the kernel kill the agent if the test binary is killed. The agent has its own process group:
// otherwise, a stopped agent could cause a SIGHUP to the test's group when the shell ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
