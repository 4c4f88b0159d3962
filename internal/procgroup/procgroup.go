// Package procgroup starts, signals and awaits process groups: a command with all processes that it started.
package procgroup

import "time"

// VanishTimeout is how long electop waits for a process group to end after SIGKILL. A process in an uninterruptible
// system call may take longer.
const VanishTimeout = time.Second
