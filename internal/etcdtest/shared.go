package etcdtest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"electop/internal/consultest"
)

type sharedCluster struct {
	mu      sync.Mutex
	owned   bool // set by Wrap; TestMain must call Wrap
	dir     string
	cluster *Cluster
	err     error
}

var shared sharedCluster //nolint:gochecknoglobals // one cluster for all tests of a binary

// Shared returns a cluster of one member for all tests of a binary, and starts it on the first call. Each test must use
// its own keys, and leave the cluster running and uncompacted. The package's TestMain must call [Wrap].
func Shared(tb testing.TB) *Cluster {
	tb.Helper()
	consultest.SkipIfShort(tb)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.owned {
		tb.Fatal("etcdtest.Shared requires a TestMain that calls etcdtest.Wrap(m), which ends the member")
	}
	if shared.cluster == nil && shared.err == nil {
		if shared.dir, shared.err = os.MkdirTemp("", "etcdtest-"); shared.err == nil {
			shared.cluster, shared.err = start(shared.dir, 1, nil)
		}
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.cluster
}

// Wrap returns a runner that runs the tests and ends the shared cluster. For example:
// goleak.VerifyTestMain(etcdtest.Wrap(m)).
func Wrap(m consultest.Runner) consultest.Runner {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.owned = true
	return wrapped{m}
}

type wrapped struct{ inner consultest.Runner }

// Run runs the tests and returns their exit code. If the tests passed but the cluster could not be ended, it returns 1.
func (w wrapped) Run() int {
	code := w.inner.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var err error
	if shared.cluster != nil {
		err = shared.cluster.end()
	}
	if err = errors.Join(err, os.RemoveAll(shared.dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
