// Crash is electop with an additional goroutine. The goroutine panics when the file CRASH_FILE exists. The message of
// the panic contains CRASH_TEXT.
package main

import (
	"os"
	"sync"
	"time"

	"electop/internal/cli"
	"electop/internal/crash"
)

func main() {
	var all sync.WaitGroup
	crash.Go(&all, wait)
	os.Exit(cli.Main())
}

func wait() {
	for range time.Tick(10 * time.Millisecond) {
		if _, err := os.Stat(os.Getenv("CRASH_FILE")); err == nil {
			crashNow()
		}
	}
}

func crashNow() { panic("simulated crash, \x1b[2J" + os.Getenv("CRASH_TEXT")) }
