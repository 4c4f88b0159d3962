// Electop is "top" for leader elections in Consul: it shows who leads each election, since when and why, and steps
// leaders down safely.
package main

import (
	"os"

	"electop/internal/cli"
)

func main() { os.Exit(cli.Main()) }
