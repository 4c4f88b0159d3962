// Electop is "top" for leader elections in Consul: it shows the
// leader of each election and the causes of changes, and steps leaders down safely.
package main

import (
	"os"

	"electop/internal/cli"
)

func main() { os.Exit(cli.Main()) }
