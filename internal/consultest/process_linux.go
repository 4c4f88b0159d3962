package consultest

import "syscall"

// dieWithParent makes the kernel end an agent whose test binary was killed before it could clean up.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
