// Electop is "top" for leader elections in Consul: it shows who leads, since
// when and why, and steps leaders down without breaking anything.
package main

import (
	"os"

	"electop/internal/cli"
)

func main() { os.Exit(cli.Main()) }
