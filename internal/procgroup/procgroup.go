// Package procgroup starts, signals and awaits process groups: a command with all
// processes that it started.
package procgroup

import "time"

// VanishTimeout is how long a process group may exist after SIGKILL: a process in
// an uninterruptible system call takes longer, and electop does not wait for it.
const VanishTimeout = time.Second
