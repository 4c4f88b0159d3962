// Package faults tests the output of electop while Consul, the network or electop itself fails. The built program
// observes a real Consul through a proxy that injects faults. The tests compare its events with a log of every write.
package faults

import (
	"os"
	"testing"
	"time"

	_ "electop/internal/cli" // go test reuses a result until the program changes
	"electop/internal/consultest"
)

// program is the path of the built binary. TestMain sets it.
var program string

var must = consultest.Must

// patience is the timeout of every wait. It is long, so that no test fails on a slow machine.
const patience = 2 * time.Minute

func TestMain(m *testing.M) { os.Exit(consultest.RunBuilt(m, &program)) }
