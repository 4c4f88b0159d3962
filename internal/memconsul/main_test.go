package memconsul_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"electop/internal/consultest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// The cases mostly wait for timers, so many cases run in parallel.
	if err := flag.Set("test.parallel", "64"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(consultest.Wrap(m))
}
