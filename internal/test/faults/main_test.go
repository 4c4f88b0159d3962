// Package faults tests the output of electop while Consul, the network or electop itself fails. The built program
// observes a real Consul through a proxy that injects faults. The tests compare its events with a log of every write.
package faults

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"electop/internal/consultest"
)

// program is the path of the built binary. TestMain sets it.
var program string

// patience is the timeout of every wait. It is long, so that no test fails on a slow machine.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "electop-faults")
	if err == nil {
		program, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Most tests mainly wait, so many tests run in parallel. A flag on the command line takes precedence.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := consultest.Wrap(m).Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build compiles electop once for all tests.
func build(dir string) (string, error) {
	path := filepath.Join(dir, "electop")
	out, err := exec.Command("go", "build", "-o", path, "electop").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}
