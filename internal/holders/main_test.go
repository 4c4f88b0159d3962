//go:build unix

package holders

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"electop/internal/cli"
	"electop/internal/consultest"
)

// asElectop names the variable that makes this test binary the program electop.
// A `go build` here would hide from go test's cache on which code the tests depend.
const asElectop = "HOLDERS_AS_ELECTOP"

func TestMain(m *testing.M) {
	if os.Getenv(asElectop) != "" {
		os.Exit(cli.Main())
	}
	flag.Parse()
	// The tests wait for other processes far more than they compute.
	if err := flag.Set("test.parallel", "32"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(consultest.Wrap(m))
}
