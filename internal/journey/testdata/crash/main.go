// Crash is electop with an additional goroutine. The goroutine panics when the file CRASH_FILE exists. The message of
// the panic contains the token.
package main

import (
	"os"
	"time"

	"electop/internal/cli"
	"electop/internal/ttyguard"
)

func main() {
	if ttyguard.Child() {
		go crash(os.Getenv("CRASH_FILE"))
	}
	os.Exit(cli.Main())
}

func crash(file string) {
	for range time.Tick(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			panic("simulated crash, \x1b[2Jtoken " + os.Getenv("CRASH_TOKEN"))
		}
	}
}
