//go:build unix

// Package holders tests the effects of electop's actions on software that holds a lock: Patroni, `consul lock`, Go's
// api.Lock and api.Semaphore, npm's consul package, and a candidate that follows Consul's leader election tutorial.
// docs/actions.md contains the results; `go test -v` prints the times. A test is skipped if its software is not
// installed; with CI=true it fails.
package holders

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"electop/internal/cli"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
)

// asElectop is the environment variable that makes this test binary run as electop. If electop were a separate
// binary, go test would not include it in its cache key.
const asElectop = "HOLDERS_AS_ELECTOP"

var must = consultest.Must

func TestMain(m *testing.M) {
	if os.Getenv(asElectop) != "" {
		os.Exit(cli.Main())
	}
	for env, hold := range map[string]func(string) error{asLock: holdLock, asEtcd: holdEtcd} {
		if how := os.Getenv(env); how != "" {
			fmt.Fprintln(os.Stderr, hold(how))
			os.Exit(1)
		}
	}
	flag.Parse()
	// Most tests mainly wait for other processes, so many tests run in parallel.
	if err := flag.Set("test.parallel", "32"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(etcdtest.Wrap(consultest.Wrap(m)))
}
