package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// beatCommand makes the test binary a program that appends the time to a file every
// 5 ms. It ends after beatLimit if nothing else ends it.
const (
	beatCommand = "beat"
	ignoreTerm  = "ignore-term"
	beatLimit   = 10 * time.Minute
)

func beat(args []string) {
	if len(args) > 1 && args[1] == ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	began := time.Now()
	for now := range time.Tick(5 * time.Millisecond) {
		if fmt.Fprintln(f, now.UnixNano()); now.Sub(began) > beatLimit {
			os.Exit(0)
		}
	}
}
