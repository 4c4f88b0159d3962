package consultest

import "syscall"

// dieWithParent makes the kernel end an agent whose test binary was killed before it could clean up. The agent has a
// process group of its own: while a test has it stopped, the end of the shell would send SIGHUP to the whole group.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
