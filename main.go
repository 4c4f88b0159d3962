// Electop is "top" for leader elections in Consul: it shows the leader of each election, how long it has led and why
// the previous leader was lost, and can make a leader step down safely.
package main

import (
	"os"

	"electop/internal/cli"
)

func main() { os.Exit(cli.Main()) }
