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
	// The cases wait for clocks far more than they compute, so as many as possible wait together.
	if err := flag.Set("test.parallel", "64"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(consultest.Wrap(m))
}
